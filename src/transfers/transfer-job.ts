import type { Ended, Engine, JobKind } from '../jobs/index.ts'
import { AppError, ERRORS } from '../kernel/index.ts'
import type { Tx } from '../ledger/index.ts'
import { ended } from './apply-result.ts'
import { Delivery, type DeliveryDeps } from './delivery.ts'
import { GIVEN_UP, TERMINATED } from './target-codes.ts'
import { TERMINATE_KIND } from './terminate-job.ts'
import { TRANSFER_KIND } from './transfer-keys.ts'
import { hasEnded, type TransferWindow } from './windows/index.ts'

export interface TransferPayload {
  windowId: string
}

export interface TransferJobDeps extends DeliveryDeps {
  engine: Engine
}

export interface TransferJobOptions {
  timeoutMs: number
  /** How long an ended transfer can be asked about. */
  ttlMs: number
}

/** What fails here is Wharf's own trouble, and the deadline ends it anyway. */
const MAX_ATTEMPTS = 50
/** A transfer mostly waits for its carrier; the next window must not wait for a slot. */
const SLOTS = 512

/** The job that is due at a window's end: it closes the window, has the file delivered, and writes down how it went. */
export function transferKind(
  deps: TransferJobDeps,
  { timeoutMs, ttlMs }: TransferJobOptions,
): JobKind<TransferPayload, { status: string }> {
  return {
    name: TRANSFER_KIND,
    domain: 'transfers',
    pool: TRANSFER_KIND,
    slots: SLOTS,
    maxAttempts: MAX_ATTEMPTS,
    keepMs: ttlMs,
    backoff: { base: 1_000, factor: 2, max: 15_000, jitter: 0.2 },
    // The deadline of a delivery goes on during an outage, so its end must be noticed soon.
    outageBackoff: { base: 1_000, factor: 2, max: 15_000, jitter: 0.5 },
    async run(context) {
      const { windowId } = context.job.payload
      const window = await context.transaction((tx) => deps.windows.close(tx, windowId, timeoutMs))
      if (!window) throw new AppError(ERRORS.TASK_NOT_FOUND, 'the window is gone', { retryable: false })
      const status = hasEnded(window.status) ? window.status : await new Delivery(deps, context, window).run()
      if (status === 'Timeout') await terminateRest(deps, context.transaction.bind(context), windowId)
      if (status === 'Success') return { status }
      const kind = status === 'Timeout' ? ERRORS.TRANSFER_TIMED_OUT : ERRORS.TRANSFER_FAILED
      throw new AppError(kind, `${window.publicId} ended as ${status}`, { retryable: false })
    },
    onEnded: (tx, end) => giveUp(deps, tx, end),
    onDelete: (job) => deps.windows.delete(job.payload.windowId),
  }
}

/** A delivery that was cancelled, or that no worker could finish, ends for its open targets. */
async function giveUp(deps: TransferJobDeps, tx: Tx, { jobId, change }: Ended): Promise<void> {
  if (change.what === 'succeeded') return
  const window = await deps.windows.ofJob(tx, jobId)
  if (!window || hasEnded(window.status)) return
  const open = (await deps.windows.targets(window.id, tx.db)).filter(({ status }) => !hasEnded(status))
  const [code, message] =
    change.what === 'cancelled' ? [TERMINATED, 'cancelled'] : [GIVEN_UP, change.error?.message ?? 'given up']
  await deps.windows.record(
    tx,
    window,
    open.map((target) => ended(target, code, message)),
  )
  await deps.windows.end(tx, window.id, 'Failed')
  if (open.length > 0) await enqueueTermination(deps.engine, tx, window)
}

async function terminateRest(
  deps: TransferJobDeps,
  transaction: (work: (tx: Tx) => Promise<void>) => Promise<void>,
  windowId: string,
): Promise<void> {
  await transaction(async (tx) => {
    const window = await deps.windows.find(windowId)
    if (window) await enqueueTermination(deps.engine, tx, window)
  })
}

/** As a job of its own, so that it is not forgotten when the engine or this instance is away. Safe to repeat. */
async function enqueueTermination(engine: Engine, tx: Tx, window: TransferWindow): Promise<void> {
  if (window.engineTaskId === null) return
  await engine.enqueue(tx, {
    kind: TERMINATE_KIND,
    payload: { windowId: window.id, engineTaskId: window.engineTaskId },
    owner: window.projectId,
    shareKey: `${TERMINATE_KIND}:${window.id}`,
  })
}
