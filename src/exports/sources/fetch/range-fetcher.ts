import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Log } from '../../../kernel/index.ts'
import { type PageGetter, type RetryOptions, retryPage, rowsOfPage } from '../ask/index.ts'
import { PageBody } from '../pages/index.ts'
import type { RangeMeta, SpoolFolder } from '../spool/index.ts'
import type { PageSink, Taken } from './range-spooler.ts'

/** So much may wait in memory before it goes to disk, for each fetcher. */
const FLUSH_BYTES = 1024 * 1024

export interface RangeFetcherDeps {
  getter: PageGetter
  folder: SpoolFolder
  sink: PageSink
  clock: Clock
  log?: Log | undefined
}

export interface RangeFetcherOptions {
  total: number
  pageSize: number
  flushEveryMs: number
  retry: RetryOptions
}

/** Hears what a fetcher does, and may throw to stop it. */
export interface RangeWatcher {
  pageDone(page: number, taken: Pick<Taken, 'total' | 'print'>): void
  flushed(): void
}

/** Fetches a contiguous range of pages, in order, into segments of its own. */
export class RangeFetcher {
  readonly #deps: RangeFetcherDeps
  readonly #options: RangeFetcherOptions
  /** Even pages and odd pages: one is read while the next one arrives. */
  readonly #bodies = [new PageBody(), new PageBody()] as const
  #next: number
  #lastFlush: number
  #written: RangeMeta
  #rows: number
  #bytes: number
  /** Bytes that are not yet in the files. */
  #waiting = 0

  constructor(deps: RangeFetcherDeps, options: RangeFetcherOptions, start: RangeMeta) {
    this.#deps = deps
    this.#options = options
    this.#next = start.next
    this.#lastFlush = deps.clock.now()
    this.#written = start
    this.#rows = start.segments.reduce((sum, { rows }) => sum + rows, 0)
    this.#bytes = start.segments.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** As far as the files hold it. */
  get written(): RangeMeta {
    return this.#written
  }

  get rows(): number {
    return this.#rows
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Runs to the end of the range; then everything is in the files. */
  async run(signal: AbortSignal, watcher: RangeWatcher): Promise<void> {
    const { end } = this.#written
    let ahead: Promise<Arrival> | undefined
    while (this.#next < end) {
      const page = this.#next
      let arriving = ahead
      ahead = undefined
      const taken = await retryPage(this.#deps, this.#options.retry, { page, signal }, async () => {
        const arrival = await (arriving ?? this.#request(page, signal))
        arriving = undefined // another try asks anew
        if (arrival) throw arrival.error
        if (page + 1 < end) ahead ??= this.#request(page + 1, signal)
        // The next request leaves before this page takes the processor: network and transcoder overlap.
        await nextTurn()
        return await this.#take(page)
      })
      this.#next++
      watcher.pageDone(page, taken)
      if (!this.#flushDue()) continue
      await this.flush()
      watcher.flushed()
    }
    await this.flush()
  }

  /** Writes what is in memory, up to the last whole page. */
  async flush(): Promise<void> {
    const { folder, sink, clock } = this.#deps
    this.#lastFlush = clock.now()
    const { written, ...state } = await sink.flush()
    folder.wrote(written)
    this.#waiting = 0
    this.#written = { ...this.#written, next: this.#next, ...state }
  }

  #flushDue(): boolean {
    if (this.#deps.clock.now() - this.#lastFlush >= this.#options.flushEveryMs) return true
    return this.#waiting >= FLUSH_BYTES
  }

  /** Never rejects: nobody may be waiting yet when it fails. */
  #request(page: number, signal: AbortSignal): Promise<Arrival> {
    return this.#deps.getter.get(page, this.#options.pageSize, this.#bodies[page & 1]!, signal).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
  }

  async #take(page: number): Promise<Taken> {
    const { total, pageSize } = this.#options
    const expected = { page, pageSize, total, rows: rowsOfPage(page, pageSize, total) }
    const taken = await this.#deps.sink.take(this.#bodies[page & 1]!, expected)
    this.#rows = taken.rows
    this.#bytes = taken.bytes
    this.#waiting = taken.waiting
    return taken
  }
}

/** Nothing when the page is there. */
type Arrival = { error: unknown } | undefined
