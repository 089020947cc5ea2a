import { AppError, type Clock, ERRORS, follow, type Log } from '../../kernel/index.ts'
import type { ThreadPool } from '../threads/index.ts'
import { Checkpointer } from './checkpointer.ts'
import type { CsvRecords } from './csv-records.ts'
import type { PageGetter } from './page-getter.ts'
import type { RetryOptions } from './page-retry.ts'
import type { Probe } from './probe.ts'
import { RangeFetcher, type RangeWatcher } from './range-fetcher.ts'
import { type PageSink, RangeSpooler } from './range-spooler.ts'
import type { Resumed } from './resume.ts'
import { allSlices } from './segment-buffer.ts'
import { inFileOrder } from './segment-order.ts'
import type { Spool, SpoolSegment } from './spool.ts'
import type { SpoolFolder } from './spool-folder.ts'
import type { RangeMeta, SpoolMeta } from './spool-meta.ts'
import { ThreadedSpooler } from './threaded-spooler.ts'

/** Fewer pages than this are read before a thread has started to. */
const PAGES_FOR_A_THREAD = 32

export interface FetchProgress {
  fetched: number
  total: number
  /** Of the spool. */
  bytes: number
}

export interface SpoolFetchDeps {
  getter: PageGetter
  folder: SpoolFolder
  clock: Clock
  log?: Log
  /** Where pages are read; without any, in this thread. */
  threads?: ThreadPool
}

export interface SpoolFetchOptions extends RetryOptions {
  probe: Probe
  /** Where to start: a fresh plan, or what an earlier fetch left. */
  meta: SpoolMeta
  csv: CsvRecords | null
  marked: boolean
  checkpointEveryMs: number
  sliceBytes: number
  limits?: { maxBytes?: number }
  onProgress?(progress: FetchProgress): void
}

/** All fetchers of one job, and what they share: checkpoints, limits, warnings, progress. */
export class SpoolFetch implements RangeWatcher {
  readonly #deps: SpoolFetchDeps
  readonly #options: SpoolFetchOptions
  readonly #sinks: PageSink[]
  readonly #fetchers: RangeFetcher[]
  readonly #checkpointer: Checkpointer
  readonly #warnings: string[]

  constructor(deps: SpoolFetchDeps, options: SpoolFetchOptions) {
    this.#deps = deps
    this.#options = options
    const { meta, checkpointEveryMs } = options
    this.#warnings = [...meta.warnings]
    this.#sinks = meta.ranges.map((range, index) => this.#sink(range, index))
    this.#fetchers = meta.ranges.map(
      (range, index) =>
        new RangeFetcher(
          { ...deps, sink: this.#sinks[index]! },
          { ...meta, flushEveryMs: checkpointEveryMs, retry: options },
          range,
        ),
    )
    this.#checkpointer = new Checkpointer(
      { ...deps, snapshot: () => this.#snapshot() },
      { everyMs: checkpointEveryMs },
    )
  }

  /** The first failure stops all fetchers; what they have by then is kept for the next attempt. */
  async run(signal: AbortSignal): Promise<void> {
    this.#report()
    const stop = new AbortController()
    const unfollow = follow(signal, stop)
    try {
      const ends = this.#fetchers.map((fetcher, index) => this.#runOne(fetcher, index, stop))
      const failed = (await Promise.allSettled(ends)).find((end) => end.status === 'rejected')
      if (stop.signal.aborted) throw stop.signal.reason
      if (failed) throw failed.reason
    } finally {
      unfollow()
      stop.abort()
      for (const sink of this.#sinks) sink.close()
    }
  }

  spool(resumed: Resumed): Spool {
    const { meta, probe } = this.#options
    const { folder } = this.#deps
    const ranges = this.#fetchers.map((fetcher) => fetcher.written)
    const fields = [...meta.fields, ...new Set(ranges.flatMap(({ added }) => added))]
    const placesOf = ranges.map((range) => placesIn(fields, [...meta.fields, ...range.added]))
    const segments = inFileOrder({ ranges, rowNames: meta.rowNames }).map(
      ({ number, range, state, group }): SpoolSegment => {
        const { rows, bytes } = state
        const places = placesOf[range]
        return {
          path: folder.whole(number),
          rows,
          bytes,
          slices: allSlices(state),
          ...(group !== undefined && { group }),
          ...(places && { places }),
        }
      },
    )
    const widths = fields.map((_, field) =>
      Math.max(
        ...ranges.map(({ widths }, index) => widths[placesOf[index] ? placesOf[index][field]! : field] ?? 0),
      ),
    )
    return {
      directory: folder.directory,
      segments,
      fields,
      unwanted: [...new Set(ranges.flatMap(({ unwanted }) => unwanted))],
      widths,
      rows: this.#rows,
      bytes: this.#bytes,
      probe,
      warnings: [...this.#warnings],
      resumed,
    }
  }

  pageDone(page: number, total: number | undefined): void {
    const { probe, limits } = this.#options
    if (total !== undefined && total !== probe.total && this.#warnings.length === 0)
      this.#warnings.push(
        `the source's total changed from ${probe.total} to ${total} while it was read (page ${page}), the first one counts`,
      )
    if (limits?.maxBytes !== undefined && this.#bytes > limits.maxBytes)
      throw tooLarge(
        `the source's rows take more than ${limits.maxBytes} bytes, the most an export may have`,
        { bytes: this.#bytes },
      )
    this.#report()
  }

  flushed(): void {
    if (this.#checkpointer.due) this.#checkpointer.begin()
  }

  async #runOne(fetcher: RangeFetcher, index: number, stop: AbortController): Promise<void> {
    try {
      await fetcher.run(stop.signal, this)
      await this.#checkpointer.save()
      const { segments } = fetcher.written
      for (const [place, state] of segments.entries())
        await this.#deps.folder.finish(index * segments.length + place, state)
    } catch (error) {
      // Others stop at their next step and land here too; each keeps its own pages.
      stop.abort(error)
      await fetcher.flush().then(
        () => this.#checkpointer.save(),
        (lost: unknown) => this.#deps.log?.warn({ err: lost }, 'could not keep the fetched pages'),
      )
    }
  }

  #sink(range: RangeMeta, index: number): PageSink {
    const { folder, threads } = this.#deps
    const { meta, probe, csv, marked, sliceBytes } = this.#options
    const { fields, rowNames, growExcept } = meta
    const { directory } = folder
    const firstSegment = index * range.segments.length
    const { wrapped } = probe
    const options = {
      directory,
      fields,
      rowNames,
      growExcept,
      csv,
      marked,
      wrapped,
      firstSegment,
      sliceBytes,
    }
    return threads && range.end - range.next >= PAGES_FOR_A_THREAD
      ? new ThreadedSpooler({ threads }, options, range)
      : new RangeSpooler(options, range)
  }

  get #rows(): number {
    return this.#fetchers.reduce((sum, fetcher) => sum + fetcher.rows, 0)
  }

  get #bytes(): number {
    return this.#fetchers.reduce((sum, fetcher) => sum + fetcher.bytes, 0)
  }

  #report(): void {
    this.#options.onProgress?.({ fetched: this.#rows, total: this.#options.probe.total, bytes: this.#bytes })
  }

  #snapshot(): SpoolMeta {
    const ranges = this.#fetchers.map((fetcher) => fetcher.written)
    return { ...this.#options.meta, ranges, warnings: [...this.#warnings], updated: this.#deps.clock.now() }
  }
}

/** Where each of `fields` is in records that have `own`; nothing if these are the first of `fields`, in their order. */
function placesIn(fields: (string | null)[], own: (string | null)[]): number[] | undefined {
  if (own.every((name, place) => fields[place] === name)) return undefined
  const placeOf = new Map(own.map((name, place) => [name, place]))
  return fields.map((name) => placeOf.get(name) ?? -1)
}

export function tooLarge(message: string, details: { rows: number } | { bytes: number }): AppError {
  return new AppError(ERRORS.SOURCE_TOO_LARGE, message, { retryable: false, details })
}
