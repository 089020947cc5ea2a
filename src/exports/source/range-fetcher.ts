import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, Log } from '../../kernel/index.ts'
import { rowsOfPage } from './fetch-plan.ts'
import { PageBody } from './page-body.ts'
import type { PageGetter } from './page-getter.ts'
import { PageReader } from './page-reader.ts'
import { type RetryOptions, retryPage } from './page-retry.ts'
import { RowTranscoder } from './row-transcoder.ts'
import { SegmentBuffer } from './segment-buffer.ts'
import type { SpoolFolder } from './spool-folder.ts'
import type { RangeMeta } from './spool-meta.ts'

/** So much may wait in memory before it goes to disk. */
const FLUSH_BYTES = 4 * 1024 * 1024

export interface RangeFetcherDeps {
  getter: PageGetter
  folder: SpoolFolder
  clock: Clock
  log?: Log | undefined
}

export interface RangeFetcherOptions {
  total: number
  pageSize: number
  fields: readonly string[]
  rowNames: readonly string[] | null
  wrapped: boolean
  /** Number of this fetcher's first segment. */
  firstSegment: number
  flushEveryMs: number
  sliceBytes: number
  retry: RetryOptions
}

/** Hears what a fetcher does, and may throw to stop it. */
export interface RangeWatcher {
  /** `total` is what the page itself stated. */
  pageDone(page: number, total: number | undefined): void
  flushed(): void
}

/** Fetches a contiguous range of pages, in order, into segments of its own. */
export class RangeFetcher {
  readonly #deps: RangeFetcherDeps
  readonly #options: RangeFetcherOptions
  readonly #sinks: SegmentBuffer[]
  readonly #transcoder: RowTranscoder
  readonly #reader: PageReader
  /** Even pages and odd pages: one is read while the next one arrives. */
  readonly #bodies = [new PageBody(), new PageBody()] as const
  #next: number
  #lastFlush: number
  #written: RangeMeta

  constructor(deps: RangeFetcherDeps, options: RangeFetcherOptions, start: RangeMeta) {
    this.#deps = deps
    this.#options = options
    this.#sinks = start.segments.map((state) => new SegmentBuffer(state, options))
    const rowNames = options.rowNames ? { rowNames: options.rowNames } : {}
    this.#transcoder = new RowTranscoder({ fields: options.fields, ...rowNames }, this.#sinks, start.widths)
    this.#reader = new PageReader(this.#transcoder, { wrapped: options.wrapped, ...rowNames })
    this.#next = start.next
    this.#lastFlush = deps.clock.now()
    this.#written = start
  }

  /** As far as the files hold it. */
  get written(): RangeMeta {
    return this.#written
  }

  get segments(): readonly SegmentBuffer[] {
    return this.#sinks
  }

  get rows(): number {
    return this.#sinks.reduce((sum, sink) => sum + sink.rows, 0)
  }

  get bytes(): number {
    return this.#sinks.reduce((sum, sink) => sum + sink.size, 0)
  }

  /** Runs to the end of the range; then everything is in the files. */
  async run(signal: AbortSignal, watcher: RangeWatcher): Promise<void> {
    const { end } = this.#written
    let ahead: Promise<Arrival> | undefined
    while (this.#next < end) {
      const page = this.#next
      let arriving = ahead
      ahead = undefined
      const total = await retryPage(this.#deps, this.#options.retry, { page, signal }, async () => {
        const arrival = await (arriving ?? this.#request(page, signal))
        arriving = undefined // another try asks anew
        if (arrival) throw arrival.error
        if (page + 1 < end) ahead ??= this.#request(page + 1, signal)
        // The next request leaves before this page takes the processor: network and transcoder overlap.
        await nextTurn()
        return this.#read(page)
      })
      this.#next++
      watcher.pageDone(page, total)
      if (!this.#flushDue()) continue
      await this.flush()
      watcher.flushed()
    }
    await this.flush()
  }

  /** Writes what is in memory, up to the last whole page. */
  async flush(): Promise<void> {
    const { folder, clock } = this.#deps
    this.#lastFlush = clock.now()
    for (const [group, sink] of this.#sinks.entries()) {
      if (sink.length === 0) continue
      const { bytes, offset } = sink.pending()
      await folder.write(this.#options.firstSegment + group, bytes, offset)
      sink.written()
    }
    this.#written = {
      ...this.#written,
      next: this.#next,
      segments: this.#sinks.map((sink) => sink.state()),
      widths: [...this.#transcoder.widths],
    }
  }

  #flushDue(): boolean {
    if (this.#deps.clock.now() - this.#lastFlush >= this.#options.flushEveryMs) return true
    return this.#sinks.reduce((sum, sink) => sum + sink.length, 0) >= FLUSH_BYTES
  }

  /** Never rejects: nobody may be waiting yet when it fails. */
  #request(page: number, signal: AbortSignal): Promise<Arrival> {
    return this.#deps.getter.get(page, this.#options.pageSize, this.#bodies[page & 1]!, signal).then(
      () => undefined,
      (error: unknown) => ({ error }),
    )
  }

  #read(page: number): number | undefined {
    const { total, pageSize } = this.#options
    const { bytes, length } = this.#bodies[page & 1]!
    const marks = this.#sinks.map((sink) => sink.mark())
    try {
      return this.#reader.read(bytes, length, {
        page,
        pageSize,
        total,
        rows: rowsOfPage(page, pageSize, total),
      })
    } catch (error) {
      for (const [index, mark] of marks.entries()) this.#sinks[index]!.rollback(mark)
      throw error
    }
  }
}

/** Nothing when the page is there. */
type Arrival = { error: unknown } | undefined
