import { Completed, type Engine, type JobContext } from '../jobs/index.ts'
import { type Clock, ERRORS, type FileScanner, isAppError, messageOf } from '../kernel/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { Sealer } from '../tenancy/index.ts'
import type { FileRecords } from './accounts/file-records.ts'
import { FeedReader, type FeedReaderOptions } from './feed/feed-reader.ts'
import { AccountFolder, type FileDownloaderOptions } from './files/index.ts'
import type { RunCleaner } from './run-cleaner.ts'
import { progressAfterDelete, type RunProgress } from './run-progress.ts'
import type { Checkpoint, RunOrder, RunStore } from './run-store.ts'
import { RunWalk } from './walk/run-walk.ts'

export interface RunnerDeps {
  engine: Engine
  net: HttpClient
  sealer: Sealer
  records: FileRecords
  runs: RunStore
  cleaner: RunCleaner
  clock: Clock
  /** Looks at files before they are kept. */
  scanner?: FileScanner | null
}

export interface RunnerOptions {
  /** Where the folders of the accounts are. */
  folder: string
  /** Files of one run at once. */
  connections?: number
  /** True if no other process can be writing to the folder. */
  alone: boolean
  /** How often what happened is written down and reported. */
  journalMs?: number
  feed?: FeedReaderOptions
  files?: FileDownloaderOptions
}

/** Carries out runs: what to do when one begins, ends, or is stopped. The walk through the feed is in `RunWalk`. */
export class Runner {
  readonly #deps: RunnerDeps
  readonly #options: Required<RunnerOptions>
  readonly #feed: FeedReader

  constructor(deps: RunnerDeps, options: RunnerOptions) {
    this.#deps = deps
    this.#options = { connections: 8, journalMs: 250, feed: {}, files: {}, ...options }
    this.#feed = new FeedReader(deps, this.#options.feed)
  }

  async run(context: JobContext<RunOrder>): Promise<Completed<RunProgress>> {
    const { runs, records, cleaner } = this.#deps
    const order = context.job.payload
    const folder = new AccountFolder(this.#options.folder, order.handle)
    // An earlier run may have ended in the middle of being cancelled.
    for (const left of await runs.unclean({ handle: order.handle })) if (left.ended) await cleaner.clean(left)
    await folder.make()
    const from = await this.#begin(order)
    const walk = new RunWalk({ ...this.#deps, context, folder, feed: this.#feed }, this.#options, from)
    try {
      const progress = await walk.toTheEnd()
      await cleaner.removeParts(folder)
      const { cursor } = progress
      return new Completed(progress, async (tx) => {
        await runs.moveCursor(tx, order, cursor)
        if (order.kind === 'start' && cursor === null)
          await records.forgetFailuresBefore(tx, order.run_id, order.handle)
      })
    } catch (error) {
      await this.#stopped(context, error)
      throw error
    }
  }

  /** Where it goes on. A retry has no pages to go by: what it has done so far is told by its files. */
  async #begin({ run_id, kind, cursor }: RunOrder): Promise<Checkpoint | undefined> {
    const { runs, records } = this.#deps
    if (kind !== 'retry') return runs.checkpoint(run_id)
    return { cursor, page: 0, counts: await records.countsOf(run_id), finished: false }
  }

  /** Only a cancel puts the disk in order: a run that goes on after a crash or a shutdown uses what is there. */
  async #stopped(context: JobContext<RunOrder>, error: unknown): Promise<void> {
    if (!isAppError(context.signal.reason, ERRORS.JOB_CANCELLED)) return
    const { runs, cleaner } = this.#deps
    try {
      for (const left of await runs.unclean({ id: context.job.payload.run_id })) {
        await cleaner.clean(left)
        // Otherwise the end of the job would bring back the last numbers of the walk.
        if (left.cleanup === 'delete') context.progress(progressAfterDelete(left.cursor))
      }
    } catch (failure) {
      // The leader's duty tries again.
      context.log.warn({ err: failure, after: messageOf(error) }, 'a cancelled run was not cleaned up')
    }
  }
}
