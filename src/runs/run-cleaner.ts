import type { Duty } from '../kernel/index.ts'
import type { FileRecords } from './accounts/file-records.ts'
import { AccountFolder, markOf, partName } from './files/index.ts'
import type { RunStore, UncleanRun } from './run-store.ts'

/** How soon to look again while a cancelled run has not ended. */
const CANCELLING_MS = 1_000

/**
 * Puts the disk in order after a cancel: parts of the run go away, and its finished files too where that was asked for.
 * Safe to repeat: files go before their records, and the mark that something is left goes last.
 *
 * Usually the worker that ran the run does this before the run counts as ended. As a duty it picks up what a worker
 * did not live to do.
 */
export class RunCleaner implements Duty {
  readonly name = 'clean-cancelled-runs'
  readonly #deps: { runs: RunStore; records: FileRecords }
  readonly #root: string

  constructor(deps: { runs: RunStore; records: FileRecords }, { folder }: { folder: string }) {
    this.#deps = deps
    this.#root = folder
  }

  async runOnce(signal: AbortSignal): Promise<{ cleaned: number; nextInMs?: number }> {
    const unclean = await this.#deps.runs.unclean()
    const left = unclean.filter(({ ended }) => ended)
    for (const run of left) {
      if (signal.aborted) break
      await this.clean(run)
    }
    // After a crash, the engine ends a run a moment after the first look.
    return { cleaned: left.length, ...(left.length < unclean.length && { nextInMs: CANCELLING_MS }) }
  }

  async clean(run: UncleanRun): Promise<void> {
    const folder = new AccountFolder(this.#root, run.handle)
    await this.removeParts(folder, markOf(run.id))
    if (run.cleanup === 'delete') await this.#deleteFiles(folder, run)
    await this.#deps.runs.cleaned(run)
  }

  /** All parts in the folder, or those with the mark of one run. */
  async removeParts(folder: AccountFolder, mark?: string): Promise<void> {
    const parts = (await folder.parts()).filter((part) => mark === undefined || part.mark === mark)
    for (const part of parts) await folder.remove(partName(part))
  }

  async #deleteFiles(folder: AccountFolder, run: UncleanRun): Promise<void> {
    for (;;) {
      const files = await this.#deps.records.ofRun(run.id)
      if (files.length === 0) return
      await Promise.all(files.map(({ name }) => folder.remove(name)))
      await this.#deps.records.forget(
        run.handle,
        files.map(({ itemId }) => itemId),
      )
    }
  }
}
