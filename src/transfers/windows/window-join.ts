import type { Engine } from '../../jobs/index.ts'
import { AppError, ERRORS, metrics, newId } from '../../kernel/index.ts'
import { type Ledger, now, type Tx } from '../../ledger/index.ts'
import type { Permissions } from '../repository/permissions.ts'
import { hashOf, jobKey, TRANSFER_KIND, taskPrefix } from '../transfer-keys.ts'
import type { JoinRequest } from '../transfer-request.ts'
import { windowAt, windowOf } from './collect-window.ts'
import { type Joined, type JoinedTask, writeJoins } from './write-joins.ts'

export interface WindowJoinDeps {
  engine: Engine
  ledger: Ledger
  permissions: Permissions
  /** Called after the commit. */
  onJoined?(tasks: JoinedTask[]): void
}

interface Candidate {
  request: JoinRequest
  bucket: number
  /** True once another signature was found under the plain id. */
  second: boolean
}

interface OpenWindow {
  id: string
  publicId: string
}

/** Some of the requests want a place that another user owns in the same window. Nothing may be committed then. */
export class PlacesTaken extends AppError {
  readonly requests: ReadonlySet<JoinRequest>

  constructor(requests: JoinRequest[]) {
    super(
      ERRORS.TRANSFER_PLACE_TAKEN,
      'this file goes to the same directory of the same target for another user already; one place has one owner',
      { retryable: false },
    )
    this.requests = new Set(requests)
  }
}

/** A clock that runs back may send a request through windows that have closed, but not for ever. */
const MOST_WINDOWS = 20

/**
 * Takes requests into the window that is open. A join holds its window's row against the close, which changes that
 * row: so a target is either in before the close reads the targets, or finds the window closed and goes to the next.
 */
export class WindowJoin {
  readonly #deps: WindowJoinDeps
  readonly #seconds: number

  constructor(deps: WindowJoinDeps, { windowSeconds }: { windowSeconds: number }) {
    this.#deps = deps
    this.#seconds = windowSeconds
  }

  /** For each request what it became, or why it was refused. The statements do not grow with their number. */
  async join(tx: Tx, requests: JoinRequest[]): Promise<(Joined | AppError)[]> {
    const { refusals, now: at } = await this.#deps.permissions.check(tx, requests)
    const wanted = requests.filter((_, index) => !refusals[index])
    const windows = await this.#open(tx, wanted, at)
    const tasks: JoinedTask[] = []
    const outcomes = requests.map((request, index) => {
      const window = refusals[index] ?? windows.get(fileKey(request))
      if (window instanceof AppError || !window) return window ?? notOpened(request)
      const taskId = taskPrefix(request) + newId()
      tasks.push({ taskId, jobId: window.publicId, windowId: window.id, request, createdAt: at })
      request.onJoined?.(tx, window.publicId)
      return { taskId, jobId: window.publicId }
    })
    if (tasks.length > 0) await this.#write(tx, tasks)
    return outcomes
  }

  /** The open window of each distinct file. */
  async #open(tx: Tx, requests: JoinRequest[], at: number): Promise<Map<string, OpenWindow | AppError>> {
    const { bucket } = windowAt(at, this.#seconds)
    const found = new Map<string, OpenWindow | AppError>()
    let open = new Map<string, Candidate>()
    for (const request of requests) open.set(fileKey(request), { request, bucket, second: false })
    for (let round = 0; open.size > 0 && round < MOST_WINDOWS; round++) {
      const known = await this.#hold(tx, [...open.values()].map(idOf))
      const next = new Map<string, Candidate>()
      // In one order everywhere: two transactions that make the same windows do not wait for each other in a circle.
      const inOrder = [...open].sort(([, a], [, b]) => (idOf(a) < idOf(b) ? -1 : 1))
      for (const [key, candidate] of inOrder) {
        const step = await this.#step(tx, candidate, known.get(idOf(candidate)))
        if (step instanceof AppError || 'id' in step) found.set(key, step)
        else next.set(key, step)
      }
      open = next
    }
    return found
  }

  async #step(
    tx: Tx,
    candidate: Candidate,
    known: { status: string; signature: string } | undefined,
  ): Promise<OpenWindow | Candidate | AppError> {
    const { request, second, bucket } = candidate
    const mine = { id: idOf(candidate), publicId: publicIdOf(candidate) }
    // Made here or by somebody faster: in the latter case the next round finds it.
    if (!known) return (await this.#make(tx, candidate)) ? mine : candidate
    if (known.status !== 'Pending') return { request, bucket: bucket + 1, second: false }
    if (known.signature === request.signature) return mine
    if (!second) return { ...candidate, second: true }
    return new AppError(
      ERRORS.TRANSFER_SIGNATURE_CLASH,
      'two files with the same path and the same eight first digits cannot share a window; ask again in the next',
      { retryAfter: this.#seconds },
    )
  }

  async #hold(tx: Tx, ids: string[]): Promise<Map<string, { status: string; signature: string }>> {
    let query = tx.db
      .selectFrom('transfer_windows')
      .select(['id', 'status', 'signature'])
      .where('id', 'in', ids)
      .orderBy('id')
    // Joins let each other pass; the close has to wait for them.
    if (this.#deps.ledger.dialect === 'postgres') query = query.forShare()
    return new Map((await query.execute()).map((row) => [row.id, row]))
  }

  /** The window and the job that is due at its end. */
  async #make(tx: Tx, candidate: Candidate): Promise<boolean> {
    const { request, bucket } = candidate
    const { endsAt } = windowOf(bucket, this.#seconds)
    const id = idOf(candidate)
    const made = await tx.db
      .insertInto('transfer_windows')
      .values({
        id,
        public_id: publicIdOf(candidate),
        project_id: request.projectId,
        biz_id: request.bizId,
        app_id: request.appId,
        full_path: request.fullPath,
        file_name: request.fileName,
        signature: request.signature,
        artifact_key: request.artifactKey,
        bucket,
        ends_at: endsAt,
        status: 'Pending',
        created_at: now,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!made) return false
    const { jobId } = await this.#deps.engine.enqueue(tx, {
      kind: TRANSFER_KIND,
      payload: { windowId: id },
      owner: request.projectId,
      dueAt: endsAt,
    })
    await tx.db.updateTable('transfer_windows').set({ job_id: jobId }).where('id', '=', id).execute()
    return true
  }

  async #write(tx: Tx, tasks: JoinedTask[]): Promise<void> {
    const taken = await writeJoins(tx, this.#deps, tasks)
    if (taken.length > 0) throw new PlacesTaken(taken.map(({ request }) => request))
    tx.afterCommit(() => {
      metrics.tasksAccepted.inc({ domain: 'transfers', kind: TRANSFER_KIND }, tasks.length)
      this.#deps.onJoined?.(tasks)
    })
  }
}

function fileKey({ bizId, appId, fullPath, signature }: JoinRequest): string {
  return `${bizId}:${appId}:${signature}:${fullPath}`
}

function publicIdOf({ request, bucket, second }: Candidate): string {
  return jobKey(request, bucket, second ? request.signature : undefined)
}

function idOf(candidate: Candidate): string {
  return hashOf(publicIdOf(candidate))
}

function notOpened(request: JoinRequest): AppError {
  return new AppError(ERRORS.INTERNAL, `no window is open for ${request.fullPath}`)
}
