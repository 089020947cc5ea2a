import type { Engine, JobContext } from '../../jobs/index.ts'
import {
  awaitedLater,
  type Clock,
  codeOf,
  ERRORS,
  type FileScanner,
  isAppError,
  messageOf,
  outageOf,
} from '../../kernel/index.ts'
import type { HttpClient } from '../../net/index.ts'
import { openUrl, type Sealer, sealUrl } from '../../tenancy/index.ts'
import type { FileRecord, FileRecords } from '../accounts/file-records.ts'
import { Connections } from '../connections.ts'
import type { FeedReader } from '../feed/feed-reader.ts'
import { ItemFilter } from '../feed/item-filter.ts'
import { type AccountFolder, FileDownloader, type FileDownloaderOptions, LeftParts } from '../files/index.ts'
import { Journal } from '../journal.ts'
import { NO_COUNTS, type RunProgress } from '../run-progress.ts'
import type { Checkpoint, RunOrder, RunStore } from '../run-store.ts'
import { PageBook, PageTally } from './page-book.ts'
import { PagePlanner, type Target } from './page-planner.ts'
import { RateMeter } from './rate-meter.ts'

export interface RunWalkDeps {
  context: JobContext<RunOrder>
  engine: Engine
  net: HttpClient
  sealer: Sealer
  feed: FeedReader
  records: FileRecords
  runs: RunStore
  folder: AccountFolder
  clock: Clock
  scanner?: FileScanner | null
}

export interface RunWalkOptions {
  connections: number
  alone: boolean
  journalMs: number
  files: FileDownloaderOptions
}

const WRITE_AGAIN_MS = 500
/** What is known of a page before its files are fetched. */
interface Plan {
  targets: Target[]
  tally: PageTally
}

/** Of the reason why a file failed. */
const MOST_CHARACTERS = 2_000

/** One way through a feed: pages are read ahead, files of several pages are fetched at once, and all is counted. */
export class RunWalk {
  readonly #deps: RunWalkDeps
  readonly #options: RunWalkOptions
  readonly #order: RunOrder
  readonly #filter: ItemFilter
  readonly #planner: PagePlanner
  readonly #downloader: FileDownloader
  readonly #journal: Journal
  readonly #book: PageBook
  readonly #rate: RateMeter
  readonly #connections: Connections
  readonly #parts: LeftParts
  /** Aborts with what ends the run from within: a disk that is full, a lease that is lost. */
  readonly #broken = new AbortController()
  readonly #signal: AbortSignal
  #reported = ''

  constructor(deps: RunWalkDeps, options: RunWalkOptions, from: Checkpoint | undefined) {
    this.#deps = deps
    this.#options = options
    this.#order = deps.context.job.payload
    this.#filter = new ItemFilter(this.#order.params)
    this.#planner = new PagePlanner({ ...deps, filter: this.#filter })
    this.#downloader = new FileDownloader(deps, options.files)
    this.#journal = new Journal(deps)
    const beginning = { cursor: this.#order.cursor, page: 0, counts: { ...NO_COUNTS }, finished: false }
    this.#book = new PageBook(from ?? beginning)
    this.#rate = new RateMeter(deps.clock)
    this.#connections = new Connections(options.connections)
    this.#parts = new LeftParts(deps.folder, {
      runId: this.#order.run_id,
      claim: deps.context.job.fence,
      alone: options.alone,
    })
    this.#signal = AbortSignal.any([deps.context.signal, this.#broken.signal])
  }

  async toTheEnd(): Promise<RunProgress> {
    const over = new AbortController()
    const journal = this.#keepJournal(AbortSignal.any([this.#signal, over.signal]))
    try {
      await this.#parts.find()
      // Without a cursor of its own a retry is never finished: what is left to do is in the ledger.
      if (this.#order.kind === 'retry' || !this.#book.checkpoint.finished) await this.#walk()
      await this.#connections.idle()
      this.#signal.throwIfAborted()
    } catch (error) {
      // A feed that fails takes nothing back of what it has listed: files under way may end.
      if (isFeedError(error)) await this.#connections.idle()
      if (!this.#signal.aborted) this.#broken.abort(error)
      await this.#connections.idle()
      throw this.#signal.reason
    } finally {
      over.abort()
      await journal
      await this.#writeDownAll().catch((error) => this.#onLateFailure(error))
      this.#deps.context.progress({ ...this.#progress(), rate: 0 })
    }
    this.#signal.throwIfAborted()
    return { ...this.#progress(), rate: 0 }
  }

  async #walk(): Promise<void> {
    const plans = readAhead(this.#plans())
    for await (const { targets, tally } of plans) {
      this.#book.add(tally)
      for (const target of targets) {
        if (await this.#limitReached()) return
        await this.#connections.room()
        this.#signal.throwIfAborted()
        tally.begin()
        this.#connections.begin(() => this.#fetch(target, tally))
      }
      tally.allBegun()
    }
  }

  #plans(): AsyncGenerator<Plan> {
    return this.#order.kind === 'retry' ? this.#failedFiles() : this.#feedPages()
  }

  /** Files that failed before, from where they were. The feed is not asked, and its cursor stays where it is. */
  async *#failedFiles(): AsyncGenerator<Plan> {
    const { records, sealer } = this.#deps
    const { run_id, handle, cursor } = this.#order
    let after = ''
    for (let number = 1; ; number++) {
      const failed = await records.failedBefore(run_id, handle, after)
      if (failed.length === 0) return
      const tally = new PageTally({ number, cursor, nextCursor: cursor })
      const targets: Target[] = []
      for (const { failure, ...known } of failed) {
        const record = { ...known, runId: run_id, page: number, failure: null }
        const { itemId: id, name, size } = known
        const item = { id, name, url: openUrl(sealer, failure?.url ?? ''), size: size ?? undefined }
        if (await this.#isFree({ ...record, failure }, tally))
          targets.push({ item: { ...item, type: undefined, createdAt: undefined }, record })
        after = name
      }
      yield { targets, tally }
    }
  }

  /** Whether nothing is under the name of a file that failed. What is there may have come just before a crash. */
  async #isFree(record: FileRecord, tally: PageTally): Promise<boolean> {
    const there = await this.#deps.folder.look(record.name)
    if (there === undefined) return true
    if (there !== 'other' && (record.size === null || record.size === there)) {
      tally.skipped++
      this.#journal.record({ ...record, done: true, size: there, failure: null })
      return false
    }
    tally.failed++
    this.#journal.record(record)
    this.#journal.log('warn', `${record.name}: something else is in the folder under this name`)
    return false
  }

  async *#feedPages(): AsyncGenerator<Plan> {
    const { cursor, page } = this.#book.checkpoint
    const warn = (message: string, code?: string) => this.#journal.log('warn', message, code)
    for await (const found of this.#deps.feed.pages(
      openUrl(this.#deps.sealer, this.#order.url),
      { cursor, page },
      this.#signal,
      warn,
    )) {
      const tally = new PageTally(found)
      for (const sentence of found.broken) warn(sentence)
      yield { targets: await this.#planner.plan(found, tally), tally }
    }
  }

  /** A file under way may still fail and leave its place to another, so it is waited for. */
  async #limitReached(): Promise<boolean> {
    const { limit } = this.#order.params
    if (limit === undefined) return false
    while (this.#book.counts.downloaded + this.#connections.busy >= limit) {
      if (this.#connections.busy === 0) return true
      await this.#connections.oneLess()
    }
    return false
  }

  async #fetch({ item, record }: Target, tally: PageTally): Promise<void> {
    let current = record
    try {
      const left = await this.#parts.of(record.name)
      const wanted = {
        ...left,
        name: record.name,
        url: item.url,
        size: item.size,
        validator: record.validator,
      }
      const size = await this.#downloader.fetch(wanted, {
        signal: this.#signal,
        onBytes: (count) => {
          tally.bytes += count
          if (count > 0) this.#rate.add(count)
        },
        onValidator: (validator) => {
          current = { ...current, validator }
          this.#journal.record(current)
        },
        wantsSize: (size) => this.#filter.wantsSize(size),
      })
      if (size === null) tally.filtered++
      else {
        tally.downloaded++
        this.#journal.record({ ...current, done: true, size, validator: null, failure: null })
      }
      tally.end()
    } catch (error) {
      this.#onFailure(error, { item, record: current }, tally)
    }
  }

  #onFailure(error: unknown, { item, record }: Target, tally: PageTally): void {
    // Stopped: the file has not failed, and its page stays unfinished.
    if (this.#signal.aborted) return
    // What the disk refuses to one file it refuses to all.
    if (outageOf(error) || isAppError(error, ERRORS.STORAGE_DENIED)) this.#broken.abort(error)
    else {
      tally.failed++
      tally.end()
      const { clock, sealer } = this.#deps
      const code = codeOf(error)
      const message = messageOf(error).slice(0, MOST_CHARACTERS)
      const failure = { code, message, at: clock.now(), url: sealUrl(sealer, item.url) }
      this.#journal.record({ ...record, done: false, failure })
      this.#journal.log('warn', `${item.name}: ${message}`, code)
    }
  }

  async #keepJournal(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#writeDown()
        this.#report()
      } catch (error) {
        this.#broken.abort(error)
      }
      await this.#deps.clock.sleep(this.#options.journalMs, signal).catch(() => undefined)
    }
  }

  /** Only news: a run that waits for a slow server must not fill the event log. */
  #report(): void {
    const progress = this.#progress()
    const text = JSON.stringify(progress)
    if (text !== this.#reported) this.#deps.context.progress(progress)
    this.#reported = text
  }

  async #writeDown(): Promise<boolean> {
    this.#journal.checkpoint(this.#book.checkpoint)
    return this.#journal.flush()
  }

  /** The end of a run waits for a ledger that is away, as long as the run is its own. */
  async #writeDownAll(): Promise<void> {
    while (!(await this.#writeDown()) && !this.#signal.aborted)
      await this.#deps.clock.sleep(WRITE_AGAIN_MS, this.#signal).catch(() => undefined)
  }

  /** Once the run is over for other reasons, what cannot be written down any more is found on the disk. */
  #onLateFailure(error: unknown): void {
    if (!this.#signal.aborted) this.#broken.abort(error)
    if (!isAppError(error, ERRORS.JOB_LEASE_LOST))
      this.#deps.context.log.warn({ err: error }, 'the end of a run was not written down')
  }

  #progress(): RunProgress {
    const { cursor } = this.#book.checkpoint
    return { ...this.#book.counts, rate: this.#rate.rate(), page: this.#book.page, cursor }
  }
}

function isFeedError(error: unknown): boolean {
  return isAppError(error, ERRORS.FEED_FAILED) || isAppError(error, ERRORS.FEED_INVALID)
}

/** Yields what `source` yields, and already asks for the next value while one is being used. */
async function* readAhead<T>(source: AsyncGenerator<T>): AsyncGenerator<T> {
  let next = ask(source)
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = ask(source)
      yield value
    }
  } finally {
    await next.catch(() => undefined)
    await source.return(undefined)
  }
}

function ask<T>(source: AsyncGenerator<T>): Promise<IteratorResult<T>> {
  return awaitedLater(source.next())
}
