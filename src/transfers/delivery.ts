import type { Carrier, TransferOrder, TransferResult } from '../carriers/index.ts'
import type { JobContext } from '../jobs/index.ts'
import {
  AppError,
  type Backoff,
  backoffDelay,
  type Clock,
  ERRORS,
  isAppError,
  metrics,
  orAborted,
  outageOf,
  startDeadline,
  withRetry,
} from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import { changesBy, ended } from './apply-result.ts'
import { ENGINE_REFUSED, SIGNATURE_MISMATCH, SOURCE_MISSING, TIMED_OUT } from './target-codes.ts'
import {
  endOf,
  hasEnded,
  type TargetChange,
  type TransferWindow,
  type WindowFiles,
  type WindowStore,
  type WindowTarget,
} from './windows/index.ts'

export interface DeliveryDeps {
  ledger: Ledger
  clock: Clock
  windows: WindowStore
  files: Pick<WindowFiles, 'get'>
  carrier: Carrier
}

const ASK_AGAIN: Backoff = { base: 500, factor: 1.6, max: 5_000, jitter: 0.1 }
const START_AGAIN: Backoff = { base: 1_000, factor: 2, max: 15_000, jitter: 0.2 }
const OVERDUE = new AppError(ERRORS.TRANSFER_TIMED_OUT, 'the delivery took longer than it may', {
  retryable: false,
})

/** One run of a closed window: the file fetched, the engine's task started or found again, and followed to its end. */
export class Delivery {
  readonly #deps: DeliveryDeps
  readonly #context: JobContext
  readonly #window: TransferWindow
  #targets: WindowTarget[] = []
  /** When it first met an outage. */
  #since: number | undefined

  constructor(deps: DeliveryDeps, context: JobContext, window: TransferWindow) {
    this.#deps = deps
    this.#context = context
    this.#window = window
  }

  /** Resolves with how the window ended, which is written down by then. Rejects to be tried again. */
  async run(): Promise<'Success' | 'Failed' | 'Timeout'> {
    const { clock, ledger, windows } = this.#deps
    this.#targets = await windows.targets(this.#window.id)
    const left = (this.#window.deadlineAt ?? 0) - (await ledger.now())
    const deadline = startDeadline(clock, left, () => OVERDUE, this.#context.signal)
    const { signal } = deadline
    try {
      const engineTaskId = this.#window.engineTaskId ?? (await this.#start(signal))
      await this.#follow(engineTaskId, signal)
    } catch (error) {
      if (this.#context.signal.aborted) throw this.#context.signal.reason
      await this.#write(this.#open().map((target) => lastWord(target, signal.reason === OVERDUE, error)))
    } finally {
      deadline.clear()
    }
    return endOf(this.#targets)
  }

  /** A crash between the engine's answer and its being written down starts a second task: the same file, twice. */
  async #start(signal: AbortSignal): Promise<string> {
    const { clock, carrier } = this.#deps
    const { engineTaskId, size } = await withRetry(
      async () => {
        const order = await this.#order(signal)
        return { ...(await orAborted(carrier.start(order, signal), signal)), size: order.size }
      },
      {
        ...{ clock, signal, backoff: START_AGAIN },
        onRetry: ({ error, waitMs }) => this.#waits(error, waitMs),
      },
    )
    this.#goesOn()
    await this.#context.transaction((tx) =>
      this.#deps.windows.started(tx, this.#window.id, engineTaskId, size),
    )
    this.#window.fileSize = size
    return engineTaskId
  }

  /** An outage is shown in the view of the delivery for as long as it lasts. */
  #waits(error: unknown, waitMs: number): void {
    const outage = outageOf(error)
    if (!outage) return
    const now = this.#deps.clock.now()
    this.#since ??= now
    const { code, message, kind } = outage
    const [since, next_try_at] = [this.#since, now + waitMs].map((at) => new Date(at).toISOString())
    this.#context.progress({ waitingFor: { what: kind.outage, since, code, message, next_try_at } })
  }

  #goesOn(): void {
    if (this.#since === undefined) return
    this.#since = undefined
    this.#context.progress({ waitingFor: null })
  }

  async #order(signal: AbortSignal): Promise<TransferOrder> {
    const { files, ledger } = this.#deps
    const { fileName, signature, deadlineAt } = this.#window
    const { path, size } = await files.get(this.#window, signal)
    const left = (deadlineAt ?? 0) - (await ledger.now())
    const targets = this.#open().map(({ agentId, containerId, user, directory }) => ({
      agentId,
      containerId,
      user,
      directory,
    }))
    return {
      projectId: this.#window.projectId,
      localPath: path,
      fileName,
      size,
      signature,
      targets,
      timeoutSeconds: Math.max(1, Math.ceil(left / 1000)),
    }
  }

  async #follow(engineTaskId: string, signal: AbortSignal): Promise<void> {
    for (let quiet = 1; this.#open().length > 0; quiet++) {
      const again = backoffDelay(quiet, ASK_AGAIN)
      const result = await this.#ask(engineTaskId, signal, again)
      const changes = result ? changesBy(this.#targets, result) : []
      const news = changes.some(({ status }) => status !== 'Running')
      if (news) quiet = 1
      if (changes.length > 0) await this.#write(changes, result?.egress)
      const pause = news ? backoffDelay(quiet, ASK_AGAIN) : again
      if (this.#open().length > 0) await this.#deps.clock.sleep(pause, signal)
    }
    // Taken over after the last target's end was written, and before the window's.
    if (!hasEnded(this.#window.status)) await this.#write([])
  }

  /** An engine that cannot be asked now may be asked again; only the deadline ends that. */
  async #ask(
    engineTaskId: string,
    signal: AbortSignal,
    againMs: number,
  ): Promise<TransferResult | undefined> {
    try {
      const result = await orAborted(this.#deps.carrier.result(engineTaskId, signal), signal)
      this.#goesOn()
      return result
    } catch (error) {
      if (signal.aborted) throw signal.reason
      this.#waits(error, againMs)
      this.#context.log.warn(
        { err: error, engineTaskId },
        'the carrier did not report the state of a transfer',
      )
      return undefined
    }
  }

  /** Changes, and with the last of them the window's end, in one transaction. */
  async #write(changes: TargetChange[], egress?: number): Promise<void> {
    const byId = new Map(changes.map((change) => [change.id, change]))
    const targets = this.#targets.map((target) => ({ ...target, ...byId.get(target.id) }))
    const status = targets.every((target) => hasEnded(target.status)) ? endOf(targets) : undefined
    await this.#context.transaction(async (tx) => {
      await this.#deps.windows.record(tx, this.#window, changes, egress)
      if (status) await this.#deps.windows.end(tx, this.#window.id, status)
    })
    const arrived = changes.filter((change) => change.status === 'Success').length
    metrics.delivered.inc(arrived * (this.#window.fileSize ?? 0))
    this.#targets = targets
    if (status) this.#window.status = status
  }

  #open(): WindowTarget[] {
    return this.#targets.filter(({ status }) => !hasEnded(status))
  }
}

/** What is said of a target whose delivery could not go on. */
function lastWord(target: WindowTarget, overdue: boolean, error: unknown): TargetChange {
  if (overdue) return { ...ended(target, TIMED_OUT, 'not delivered in time'), status: 'Timeout' }
  if (isAppError(error, ERRORS.TRANSFER_SOURCE_MISSING) || isAppError(error, ERRORS.ARTIFACT_NOT_FOUND))
    return ended(target, SOURCE_MISSING, error.message)
  if (isAppError(error, ERRORS.TRANSFER_SIGNATURE_MISMATCH))
    return ended(target, SIGNATURE_MISMATCH, error.message)
  // Anything that may pass is tried again until the deadline, so this will not.
  if (isAppError(error) && !error.retryable) {
    const { errorCode } = error.details
    return ended(target, typeof errorCode === 'number' ? errorCode : ENGINE_REFUSED, error.message)
  }
  throw error
}
