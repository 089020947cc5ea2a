import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobState } from '../../jobs/index.ts'
import { isActive } from '../../jobs/index.ts'
import { type Clock, clearAway, type Duty } from '../../kernel/index.ts'
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

/** No request that is answered at once takes this long. */
const REQUEST_MS = 24 * 3_600_000

/** Removes what previews and files made at once left on this disk when their process was killed. */
export class RequestFolderSweeper implements Duty {
  readonly name = 'request-folder-sweeper'
  readonly #root: string
  readonly #clock: Clock

  constructor({ clock }: { clock: Clock }, { root }: { root: string }) {
    this.#clock = clock
    this.#root = root
  }

  async runOnce(): Promise<{ swept: number }> {
    let swept = 0
    for (const name of existsSync(this.#root) ? await readdir(this.#root) : []) {
      const folder = join(this.#root, name)
      const touched = (await stat(folder).catch(() => undefined))?.mtimeMs ?? Number.POSITIVE_INFINITY
      if (touched > this.#clock.now() - REQUEST_MS) continue
      await clearAway(folder)
      swept++
    }
    return { swept }
  }
}
