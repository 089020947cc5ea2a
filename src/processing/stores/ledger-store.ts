import { hasEnded, type NewTask, type TaskDetails, type TaskRecord, TEXT } from '../task.ts'
import { type TaskRows, toDetails, toRecord } from './task-rows.ts'
import type { TaskStore } from './task-store.ts'

/** Tasks in the ledger alone, for a Wharf without Redis. The row is the record and the place in the queue. */
export class LedgerTaskStore implements TaskStore {
  readonly #rows: TaskRows
  readonly #wake: () => void

  /** `wake` tells the processor in this process that there is something to claim. */
  constructor({ rows, wake }: { rows: TaskRows; wake: () => void }) {
    this.#rows = rows
    this.#wake = wake
  }

  async create(task: NewTask): Promise<boolean> {
    const made = (await this.#rows.insert(task)) !== undefined
    if (made) this.#wake()
    return made
  }

  async get(id: string): Promise<TaskRecord | undefined> {
    const row = await this.#rows.get(id)
    return row && toRecord(row)
  }

  async details(id: string): Promise<TaskDetails | undefined> {
    const row = await this.#rows.get(id)
    return row && toDetails(row)
  }

  async cancel(id: string): Promise<'cancelled' | 'ended' | 'unknown'> {
    if (await this.#rows.change(id, { status: 'FAILED', error_message: TEXT.cancelled })) return 'cancelled'
    const row = await this.#rows.get(id)
    return row && hasEnded(row.status) ? 'ended' : 'unknown'
  }

  async remove({ id }: { id: string }): Promise<void> {
    await this.#rows.delete(id)
  }

  async ping(): Promise<boolean> {
    return (await this.#rows.ledger.ping()) === true
  }
}
