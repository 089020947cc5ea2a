import type { JobState } from '../../jobs/index.ts'
import { isActive } from '../../jobs/index.ts'
import type { Duty } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { SpoolFolders } from './spool-folders.ts'

/** Removes spools whose job has ended or moved on: a crash or another instance may have left them on this disk. */
export class SpoolSweeper implements Duty {
  readonly name = 'spool-sweeper'
  readonly #deps: { ledger: Ledger; folders: SpoolFolders }

  constructor(deps: { ledger: Ledger; folders: SpoolFolders }) {
    this.#deps = deps
  }

  async runOnce(): Promise<{ swept: number }> {
    let swept = 0
    for (const jobId of await this.#deps.folders.jobs()) {
      const job = await this.#deps.ledger.db
        .selectFrom('jobs')
        .select('state')
        .where('id', '=', jobId)
        .executeTakeFirst()
      if (job && isActive(job.state as JobState)) continue
      await this.#deps.folders.remove(jobId)
      swept++
    }
    return { swept }
  }
}
