import { stat } from 'node:fs/promises'
import { type CompiledQuery, type Selectable, sql } from 'kysely'
import { type Engine, Gather } from '../../jobs/index.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type Ledger, now, type Schema, type Tx } from '../../ledger/index.ts'
import { countAccepted, countChange } from '../processing-meter.ts'
import {
  type NewTask,
  readReport,
  type TaskDetails,
  type TaskRecord,
  type TaskStatus,
  TEXT,
} from '../task.ts'
import { InsertTasks } from './insert-tasks.ts'

export type TaskRow = Selectable<Schema['processing_tasks']>
type Row = TaskRow & { status: TaskStatus }

export interface TaskRowsDeps {
  ledger: Ledger
  emitter: Engine['emitter']
  /** Counts bytes on disk towards a project. */
  count?(tx: Tx, projectId: string, bytes: number): void
  /** Called after a commit that leaves the duties something to do: new tasks, or one that is to be taken back. */
  toFollow?(): void
}

/** In the words of the partial indexes: SQLite uses one only where a statement repeats its condition. */
const UNFINISHED = sql<boolean>`status in ('PENDING', 'PROCESSING')`
const REVOKED = sql<boolean>`status = 'REVOKED'`

const EVENT_NAMES = { PENDING: 'pending', PROCESSING: 'processing', COMPLETED: 'succeeded', FAILED: 'failed' }

/** The rows of tasks in the ledger, and the events of their changes; the event of a new row comes from a trigger. */
export class TaskRows {
  readonly ledger: Ledger
  readonly #deps: TaskRowsDeps
  readonly #ttlMs: number
  readonly #insert: InsertTasks
  readonly #inserts: Gather<NewTask, number | undefined>
  /** Built once: this is asked for with every call, and building it costs more than running it. */
  readonly #get: CompiledQuery

  constructor(deps: TaskRowsDeps, { ttlMs }: { ttlMs: number }) {
    this.#deps = deps
    this.ledger = deps.ledger
    this.#ttlMs = ttlMs
    this.#get = this.ledger.db
      .selectFrom('processing_tasks')
      .selectAll()
      .where('id', '=', '')
      .where(sql<boolean>`status <> 'REVOKED'`)
      .where('expires_at', '>', now)
      .compile()
    this.#insert = new InsertTasks(this.ledger, { ttlMs })
    this.#inserts = new Gather((tasks) => this.#insertAll(tasks), { batches: 1, maxBatch: 200 })
  }

  /** Answers when it was made, by the ledger's clock; undefined when the id is taken. */
  async insert(task: NewTask): Promise<number | undefined> {
    try {
      return await this.#inserts.add(task)
    } catch (cause) {
      throw new AppError(ERRORS.TASK_STORE_UNAVAILABLE, TEXT.storeUnavailable, { cause, retryAfter: 2 })
    }
  }

  async get(id: string): Promise<Row | undefined> {
    const { rows } = await this.ledger.db.executeQuery<Row>({ ...this.#get, parameters: [id] })
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

  /** Newest first; `before` is the last id of the page before. */
  async newest({ projectId, status, limit, before }: TaskListOptions): Promise<Row[]> {
    let query = this.ledger.db
      .selectFrom('processing_tasks')
      .selectAll()
      .where(sql<boolean>`status <> 'REVOKED'`)
      .where('expires_at', '>', now)
      .orderBy('id', 'desc')
      .limit(limit)
    if (projectId !== undefined) query = query.where('project_id', '=', projectId)
    if (status !== undefined) query = query.where('status', '=', status)
    if (status !== undefined && isUnfinished(status)) query = query.where(UNFINISHED)
    if (before !== undefined) query = query.where('id', '<', before)
    return (await query.execute()) as Row[]
  }

  async depth(): Promise<{ queued: number; running: number }> {
    const { rows } = await sql<{ status: TaskStatus; count: number }>`
      select status, count(*) as count from processing_tasks where ${UNFINISHED} group by status`.execute(
      this.ledger.db,
    )
    const of = (status: TaskStatus) => Number(rows.find((row) => row.status === status)?.count ?? 0)
    return { queued: of('PENDING'), running: of('PROCESSING') }
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

  async delete(id: string): Promise<void> {
    await this.ledger.db.deleteFrom('processing_tasks').where('id', '=', id).execute()
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

  /** `guard` is what must still be true of the row, and whatever it adds to the change. */
  async changeIn(tx: Tx, id: string, set: RowChange, guard: RowGuard = {}): Promise<boolean> {
    const ended = set.status === 'COMPLETED' || set.status === 'FAILED'
    const resultSize = set.status === 'COMPLETED' ? await sizeOf(set.result_path) : 0
    let query = tx.db
      .updateTable('processing_tasks')
      .set({
        ...set,
        updated_at: now,
        seen_at: now,
        ...(ended && {
          progress: null,
          result_size: resultSize,
          expires_at: sql<number>`${now} + ${this.#ttlMs}`,
        }),
      })
      .where('id', '=', id)
      .where('status', 'in', guard.statuses ?? ['PENDING', 'PROCESSING'])
    if (guard.fence !== undefined) query = query.where('fence', '=', guard.fence)
    const row = await query
      .returning(['project_id', 'error_message', 'created_at', 'queued_at', 'updated_at', 'returns'])
      .executeTakeFirst()
    if (!row) return false
    tx.afterCommit(() => countChange(set.status, { ...row, resultSize }))
    if (row.project_id !== null && resultSize > 0) this.#deps.count?.(tx, row.project_id, resultSize)
    if (set.status && set.status !== 'REVOKED') {
      await this.#deps.emitter.emit(tx, taskEvent(id, row.project_id, set.status, row.error_message))
    }
    return true
  }

  async #insertAll(tasks: NewTask[]): Promise<(number | undefined)[]> {
    const inserted = await this.#deps.emitter.alone(() => this.#insert.run(tasks))
    this.#deps.toFollow?.()
    for (const { id, size } of tasks) if (inserted.has(id)) countAccepted(size)
    return tasks.map(({ id }) => inserted.get(id))
  }
}

export interface TaskListOptions {
  /** Left out: of every project, and of none. */
  projectId?: string
  status?: TaskStatus
  limit: number
  before?: string
}

export interface RowChange {
  status?: TaskRow['status']
  result_path?: string
  error_message?: string
  seen?: string
  slot?: string
  progress?: string | null
}

export interface RowGuard {
  statuses?: TaskRow['status'][]
  fence?: number
}

/** Of a file that a processor named; 0 where there is none. */
async function sizeOf(path: string | undefined): Promise<number> {
  return path === undefined ? 0 : ((await stat(path).catch(() => undefined))?.size ?? 0)
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

export function toRecord(row: Row): TaskRecord {
  return {
    taskId: row.id,
    status: row.status,
    originalFilePath: row.original_file_path,
    resultPath: row.result_path,
    errorMessage: row.error_message,
    createdAt: Math.floor(row.created_at / 1000),
    updatedAt: Math.floor(row.updated_at / 1000),
  }
}

export function toDetails(row: Row): TaskDetails {
  return {
    ...toRecord(row),
    projectId: row.project_id,
    fileName: row.file_name,
    size: Number(row.size),
    ...readReport(row.progress),
    expiresAt: row.expires_at,
  }
}
