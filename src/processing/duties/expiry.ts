import { type Duty, type Log, removeTree } from '../../kernel/index.ts'
import type { HandOff } from '../files/index.ts'
import { type TaskRows, type TaskStore, tryOf } from '../stores/index.ts'

const BATCH = 200

/** Removes tasks past their time: the folder first, then the record, so that a crash between the two is made good. */
export class TaskExpiryDuty implements Duty {
  readonly name = 'task-expiry'
  readonly #deps: { rows: TaskRows; store: TaskStore; handOff: HandOff; log: Log }

  constructor(deps: { rows: TaskRows; store: TaskStore; handOff: HandOff; log: Log }) {
    this.#deps = deps
  }

  async runOnce(signal: AbortSignal): Promise<{ removed: number }> {
    const { rows, store, handOff, log } = this.#deps
    let removed = 0
    while (!signal.aborted) {
      const expired = await rows.expired(BATCH)
      for (const task of expired.map(tryOf)) {
        if (!(await rows.hasExpired(task))) continue
        await removeTree(handOff.folderOf(task.id))
        await store.remove(task)
      }
      removed += expired.length
      if (expired.length < BATCH) break
    }
    if (removed > 0) log.info({ removed }, 'old tasks were removed')
    return { removed }
  }
}
