import { type CompiledQuery, type Selectable, sql } from 'kysely'
import { type Attention, type Engine, Gather, waitingFor } from '../../jobs/index.ts'
import { ERRORS, outageOf, statPlain } from '../../kernel/index.ts'
import { type Ledger, type ListCursor, now, type Schema, type Tx } from '../../ledger/index.ts'
import { countAccepted, countChange, countResult } from '../processing-meter.ts'
import {
  type NewTask,
  type OneTry,
  readReport,
  type TaskDetails,
  type TaskRecord,
  type TaskStatus,
  taskError,
} from '../task.ts'
import { InsertTasks } from './insert-tasks.ts'

export type TaskRow = Selectable<Schema['processing_tasks']>
type Row = TaskRow & { status: TaskStatus }
type RowWithJob = Awaited<ReturnType<ReturnType<typeof withJob>['execute']>>[number]

export interface TaskRowsDeps {
  ledger: Ledger
  emitter: Engine['emitter']
  /** Makes the jobs of new tasks in the transaction that inserts them; without it, tasks are no jobs of the engine. */
  enqueue?(tx: Tx, tasks: readonly Pick<NewTask, 'id' | 'trace'>[]): Promise<void>
  /** Counts bytes on disk towards a project. */
  count?(tx: Tx, projectId: string, bytes: number): void
  /** Called after a commit that leaves the duties something to do: new tasks, or one that is to be taken back. */
  toFollow?(): void
}

/** In the words of the partial indexes: SQLite uses one only where a statement repeats its condition. */
export const UNFINISHED = sql<boolean>`status in ('PENDING', 'PROCESSING')`
const REVOKED = sql<boolean>`status = 'REVOKED'`
const FAILED = sql<boolean>`status = 'FAILED'`
const MOST_NOTICED = 5

const EVENT_NAMES = { PENDING: 'pending', PROCESSING: 'processing', COMPLETED: 'succeeded', FAILED: 'failed' }

/** The rows of tasks in the ledger, and the events of their changes; the event of a new row comes from a trigger. */
export class TaskRows {
  readonly ledger: Ledger
  readonly #deps: TaskRowsDeps
  readonly #ttlMs: number
  readonly #leaseMs: number
  readonly #insert: InsertTasks
  readonly #inserts: Gather<NewTask, number | undefined>
  /** Built once: this is asked for with every call, and building it costs more than running it. */
  readonly #get: CompiledQuery

  /** `leaseMs` is that of the engine's jobs. */
  constructor(deps: TaskRowsDeps, { ttlMs, leaseMs }: { ttlMs: number; leaseMs: number }) {
    this.#deps = deps
    this.ledger = deps.ledger
    this.#ttlMs = ttlMs
    this.#leaseMs = leaseMs
    this.#get = withJob(this.ledger, this.#leaseMs).where('processing_tasks.id', '=', '').compile()
    this.#insert = new InsertTasks(this.ledger, { ttlMs })
    this.#inserts = new Gather((tasks) => this.#insertAll(tasks), { batches: 1, maxBatch: 200 })
  }

  /** Answers when it was made, by the ledger's clock; undefined when the id is taken. */
  async insert(task: NewTask): Promise<number | undefined> {
    try {
      return await this.#inserts.add(task)
    } catch (cause) {
      if (!outageOf(cause)) throw cause
      throw taskError(ERRORS.TASK_STORE_UNAVAILABLE, 'storeUnavailable', { cause, retryAfter: 2 })
    }
  }

  /** With what its job says of it, where it has one. */
  async get(id: string): Promise<RowWithJob | undefined> {
    const { rows } = await this.ledger.db.executeQuery<RowWithJob>({ ...this.#get, parameters: [id] })
    return rows[0]
  }

  /** True while what Redis may have of it is still to be taken back. */
  async isRevoked(id: string): Promise<boolean> {
    const query = this.ledger.db
      .selectFrom('processing_tasks')
      .select('id')
      .where('id', '=', id)
      .where(REVOKED)
    return (await query.executeTakeFirst()) !== undefined
  }

  /** The rows of unfinished tasks that have no job, in the order of their ids. */
  async withoutJob(after: string, limit: number): Promise<TaskRow[]> {
    return this.ledger.db
      .selectFrom('processing_tasks')
      .leftJoin('jobs', 'jobs.id', 'processing_tasks.id')
      .selectAll('processing_tasks')
      .where(UNFINISHED)
      .where('processing_tasks.id', '>', after)
      .where('jobs.id', 'is', null)
      .orderBy('processing_tasks.id')
      .limit(limit)
      .execute()
  }

  /** Rows in the order of their ids, `limit` at a time. */
  async page(after: string, statuses: TaskRow['status'][], limit = 500): Promise<Row[]> {
    let query = this.ledger.db
      .selectFrom('processing_tasks')
      .selectAll()
      .where('id', '>', after)
      .where('status', 'in', statuses)
      .orderBy('id')
      .limit(limit)
    if (statuses.every(isUnfinished)) query = query.where(UNFINISHED)
    if (statuses.every((status) => status === 'REVOKED')) query = query.where(REVOKED)
    return (await query.execute()) as Row[]
  }

  /** Newest first; `before` is the last task of the page before. */
  async newest({ projectId, status, limit, before }: TaskListOptions): Promise<RowWithJob[]> {
    let query = withJob(this.ledger, this.#leaseMs)
      .orderBy('processing_tasks.created_at', 'desc')
      .orderBy('processing_tasks.id', 'desc')
      .limit(limit)
    if (projectId !== undefined) query = query.where('project_id', '=', projectId)
    if (status !== undefined) query = query.where('status', '=', status)
    if (status !== undefined && isUnfinished(status)) query = query.where(UNFINISHED)
    if (before !== undefined)
      query = query.where(
        sql<boolean>`(processing_tasks.created_at, processing_tasks.id) < (${before.at}, ${before.id})`,
      )
    return query.execute()
  }

  async depth(): Promise<{ queued: number; running: number }> {
    const { rows } = await sql<{ status: TaskStatus; count: number }>`
      select status, count(*) as count from processing_tasks where ${UNFINISHED} group by status`.execute(
      this.ledger.db,
    )
    const of = (status: TaskStatus) => Number(rows.find((row) => row.status === status)?.count ?? 0)
    return { queued: of('PENDING'), running: of('PROCESSING') }
  }

  /** Tasks that failed last and that wait longest. Also where tasks are jobs: those of ended tasks are gone. */
  async attention(): Promise<Attention> {
    const { db } = this.ledger
    const columns = ['id', 'file_name', 'project_id'] as const
    const failed = await db
      .selectFrom('processing_tasks')
      .select([...columns, 'error_message', 'updated_at'])
      .where(FAILED)
      .orderBy('updated_at', 'desc')
      .limit(MOST_NOTICED)
      .execute()
    const waiting = await withJob(this.ledger, this.#leaseMs)
      .where(UNFINISHED)
      .where('status', '=', 'PENDING')
      .orderBy('processing_tasks.created_at')
      .orderBy('processing_tasks.id')
      .limit(MOST_NOTICED)
      .execute()
    const noticed = (row: { id: string; file_name: string; project_id: string | null }, at: number) => ({
      ...{ id: row.id, name: row.file_name, project_id: row.project_id },
      at: new Date(at).toISOString(),
    })
    return {
      failures: failed.map((row) => ({
        ...noticed(row, row.updated_at),
        error: { code: ERRORS.PROCESSOR_FAILED.code, message: row.error_message },
      })),
      waiting: waiting.map((row) => ({
        ...noticed(row, row.created_at),
        waiting_for: toDetails(row).waitingFor ?? null,
      })),
    }
  }

  async expired(limit: number): Promise<TaskRow[]> {
    return this.ledger.db
      .selectFrom('processing_tasks')
      .selectAll()
      .where('expires_at', '<=', await this.ledger.now())
      .orderBy('expires_at')
      .limit(limit)
      .execute()
  }

  /** Whether it is still this try that has expired: the reader may have been stopped since. */
  async hasExpired({ id, createdAt }: OneTry): Promise<boolean> {
    const query = this.ledger.db
      .selectFrom('processing_tasks')
      .select('id')
      .where('id', '=', id)
      .where('created_at', '=', createdAt)
      .where('expires_at', '<=', now)
    return (await query.executeTakeFirst()) !== undefined
  }

  async delete({ id, createdAt }: OneTry, { db }: Pick<Tx, 'db'> | Ledger = this.ledger): Promise<boolean> {
    const gone = await db
      .deleteFrom('processing_tasks')
      .where('id', '=', id)
      .where('created_at', '=', createdAt)
      .executeTakeFirst()
    return gone.numDeletedRows > 0n
  }

  /** Which of these have a row, whatever it says. */
  async known(ids: string[]): Promise<Set<string>> {
    if (ids.length === 0) return new Set()
    const rows = await this.ledger.db
      .selectFrom('processing_tasks')
      .select('id')
      .where('id', 'in', ids)
      .execute()
    return new Set(rows.map(({ id }) => id))
  }

  /** How often a task was put back. */
  async returns(id: string): Promise<number> {
    const query = this.ledger.db.selectFrom('processing_tasks').select('returns').where('id', '=', id)
    return (await query.executeTakeFirst())?.returns ?? 0
  }

  async countReturn(id: string): Promise<void> {
    await this.ledger.db
      .updateTable('processing_tasks')
      .set({ returns: sql<number>`returns + 1` })
      .where('id', '=', id)
      .execute()
  }

  /** Follows a change of status, if there is one, in a transaction of its own. */
  async change(id: string, set: RowChange): Promise<boolean> {
    const changed = await this.ledger.transaction((tx) => this.changeIn(tx, id, set))
    if (changed && set.status === 'REVOKED') this.#deps.toFollow?.()
    return changed
  }

  /** Only of a row that has one of the `from` statuses. */
  async changeIn(
    tx: Tx,
    id: string,
    set: RowChange,
    from: TaskStatus[] = ['PENDING', 'PROCESSING'],
  ): Promise<boolean> {
    const ended = set.status === 'COMPLETED' || set.status === 'FAILED'
    const resultSize = set.status === 'COMPLETED' ? await sizeOf(set.result_path) : 0
    const row = await tx.db
      .updateTable('processing_tasks')
      .set({
        ...set,
        updated_at: now,
        seen_at: now,
        ...(ended && {
          result_size: resultSize,
          expires_at: sql<number>`${now} + ${this.#ttlMs}`,
        }),
      })
      .where('id', '=', id)
      .where('status', 'in', from)
      .returning(['project_id', 'error_message', 'created_at', 'queued_at', 'updated_at', 'returns'])
      .executeTakeFirst()
    if (!row) return false
    tx.afterCommit(() => {
      if (!this.#deps.enqueue) countChange(set.status, row)
      countResult(resultSize)
    })
    if (row.project_id !== null && resultSize > 0) this.#deps.count?.(tx, row.project_id, resultSize)
    if (set.status && set.status !== 'REVOKED') {
      await this.#deps.emitter.emit(tx, taskEvent(id, row.project_id, set.status, row.error_message))
    }
    return true
  }

  async #insertAll(tasks: NewTask[]): Promise<(number | undefined)[]> {
    const { emitter, enqueue } = this.#deps
    const inserted = await emitter.alone(() =>
      enqueue
        ? this.ledger.transaction(async (tx) => {
            const made = await this.#insert.run(tx, tasks)
            const added = tasks.filter(({ id }) => made.has(id))
            if (added.length > 0) await enqueue(tx, added)
            return made
          })
        : this.#insert.run(this.ledger, tasks),
    )
    this.#deps.toFollow?.()
    for (const { id, size } of tasks) if (inserted.has(id)) countAccepted(size, enqueue !== undefined)
    return tasks.map(({ id }) => inserted.get(id))
  }
}

export interface TaskListOptions {
  /** Left out: of every project, and of none. */
  projectId?: string
  status?: TaskStatus
  limit: number
  before?: ListCursor
}

export interface RowChange {
  status?: TaskRow['status']
  result_path?: string
  error_message?: string
  seen?: string
  slot?: string
}

/** Tasks that callers may see, with their jobs. */
function withJob({ db }: Ledger, leaseMs: number) {
  return db
    .selectFrom('processing_tasks')
    .leftJoin('jobs', 'jobs.id', 'processing_tasks.id')
    .selectAll('processing_tasks')
    .select((eb) => eb.ref('status').$castTo<TaskStatus>().as('status'))
    .select(['state', 'outage', 'outage_since', 'error_code', 'due_at'])
    .select(['jobs.progress as job_progress', 'jobs.error_message as job_error'])
    .select(sql<number | null>`lease_until - ${sql.lit(leaseMs)}`.as('renewed_at'))
    .where(sql<boolean>`status <> 'REVOKED'`)
    .where('expires_at', '>', now)
}

/** Of a file that a processor named; 0 where there is none. */
async function sizeOf(path: string | undefined): Promise<number> {
  return path === undefined ? 0 : ((await statPlain(path).catch(() => undefined))?.size ?? 0)
}

function isUnfinished(status: TaskRow['status']): boolean {
  return status === 'PENDING' || status === 'PROCESSING'
}

function taskEvent(id: string, projectId: string | null, status: TaskStatus, error: string) {
  return {
    type: `processing.${EVENT_NAMES[status]}`,
    kind: 'processing',
    projectId,
    taskId: id,
    jobId: null,
    data: { status, ...(error !== '' && { error_message: error }) },
  }
}

export function tryOf(row: Pick<TaskRow, 'id' | 'original_file_path' | 'created_at'>): OneTry {
  return { id: row.id, originalFilePath: row.original_file_path, createdAt: row.created_at }
}

export function toRecord(row: Row & Partial<Pick<RowWithJob, 'renewed_at'>>): TaskRecord {
  return {
    taskId: row.id,
    status: row.status,
    originalFilePath: row.original_file_path,
    resultPath: row.result_path,
    errorMessage: row.error_message,
    createdAt: Math.floor(row.created_at / 1000),
    // While its job runs, the time of the last renewed lease: callers see that somebody works on it.
    updatedAt: Math.floor(Math.max(row.updated_at, row.renewed_at ?? 0) / 1000),
  }
}

export function toDetails(row: RowWithJob): TaskDetails {
  return {
    ...toRecord(row),
    projectId: row.project_id,
    fileName: row.file_name,
    size: Number(row.size),
    progress: null,
    expiresAt: row.expires_at,
    ...(isUnfinished(row.status) && saidByJob(row)),
  }
}

/** While it runs, and while it pauses before it is tried again. */
function saidByJob(row: RowWithJob): Pick<TaskDetails, 'progress' | 'waitingFor'> {
  const { state, outage, due_at } = row
  if (state === null || due_at === null || outage === null) return readReport(row.job_progress)
  const waiting = waitingFor({ ...row, state, outage, due_at, error_message: row.job_error })
  return { progress: null, ...(waiting && { waitingFor: waiting }) }
}
