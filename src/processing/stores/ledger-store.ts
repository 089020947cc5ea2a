import type { Engine } from '../../jobs/index.ts'
import { ERRORS, isAppError } from '../../kernel/index.ts'
import type { Tx } from '../../ledger/index.ts'
import { hasEnded, type NewTask, type OneTry, type TaskDetails, type TaskRecord, TEXT } from '../task.ts'
import { type TaskRows, toDetails, toRecord } from './task-rows.ts'
import type { TaskStore } from './task-store.ts'

/**
 * Tasks in the ledger alone, for a Wharf without Redis. The row is the record; the work is a job of the engine with the
 * same id. A transaction that changes both locks the job first, as its worker does.
 */
export class LedgerTaskStore implements TaskStore {
  readonly #deps: { rows: TaskRows; engine: Pick<Engine, 'cancelJob'> }

  constructor(deps: { rows: TaskRows; engine: Pick<Engine, 'cancelJob'> }) {
    this.#deps = deps
  }

  async create(task: NewTask): Promise<boolean> {
    return (await this.#deps.rows.insert(task)) !== undefined
  }

  async isMade(id: string): Promise<boolean> {
    return (await this.#deps.rows.get(id)) !== undefined
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const row = await this.#deps.rows.get(id)
    return row && toRecord(row)
  }

  async details(id: string): Promise<TaskDetails | undefined> {
    const row = await this.#deps.rows.get(id)
    return row && toDetails(row)
  }

  /** Each task says it for itself. */
  away(): undefined {
    return undefined
  }

  /** The record has its end at once; a job that runs ends as soon as its command has. */
  async cancel(id: string): Promise<'cancelled' | 'ended' | 'unknown'> {
    const { rows } = this.#deps
    const cancelled = await rows.ledger.transaction(async (tx) => {
      await this.#cancelJob(tx, id)
      return rows.changeIn(tx, id, { status: 'FAILED', error_message: TEXT.cancelled })
    })
    if (cancelled) return 'cancelled'
    const row = await rows.get(id)
    return row && hasEnded(row.status) ? 'ended' : 'unknown'
  }

  async remove(task: OneTry): Promise<void> {
    const { rows } = this.#deps
    const otherTry = new Error('the task was made anew')
    const removed = rows.ledger.transaction(async (tx) => {
      await this.#cancelJob(tx, task.id)
      if (!(await rows.delete(task, tx))) throw otherTry
    })
    await removed.catch((error: unknown) => {
      if (error !== otherTry) throw error
    })
  }

  async ping(): Promise<boolean> {
    return (await this.#deps.rows.ledger.ping()) === true
  }

  /** If it has not ended. */
  async #cancelJob(tx: Tx, id: string): Promise<void> {
    await this.#deps.engine.cancelJob(tx, id).catch((error: unknown) => {
      if (!isAppError(error, ERRORS.TASK_FINISHED) && !isAppError(error, ERRORS.TASK_NOT_FOUND)) throw error
    })
  }
}
