import {
  AppError,
  type Clock,
  counted,
  ERRORS,
  follow,
  isAppError,
  type Log,
  orAborted,
} from '../../../kernel/index.ts'
import { type Masking, mostDigits, NO_DIGITS } from '../../sheet/index.ts'
import type { ThreadPool } from '../../threads/index.ts'
import type { PageGetter, RetryOptions } from '../ask/index.ts'
import { CHECK_KEYS } from '../duplicates/check-keys.ts'
import {
  type Drift,
  type OnDuplicates,
  refuseRepeats,
  samePage,
  warningsOf,
} from '../duplicates/duplicates.ts'
import { findRepeats, type KeyCheck, type KeyCheckTask } from '../duplicates/key-check-work.ts'
import { PagePrints } from '../duplicates/page-prints.ts'
import { PRINT_BYTES } from '../duplicates/print-log.ts'
import type { Probe } from '../pages/index.ts'
import { allSlices, type CsvRecords, type RecordCounts } from '../rows/index.ts'
import {
  inFileOrder,
  type RangeMeta,
  type Resumed,
  type Spool,
  type SpoolFolder,
  type SpoolMeta,
  type SpoolSegment,
} from '../spool/index.ts'
import { Checkpointer } from './checkpointer.ts'
import { RangeFetcher, type RangeWatcher } from './range-fetcher.ts'
import { type PageSink, RangeSpooler, type Taken } from './range-spooler.ts'
import { ThreadedSpooler } from './threaded-spooler.ts'

/** Fewer rows than this are compared before a thread would have been asked to. */
const ROWS_FOR_A_THREAD = 20_000

/** Fewer pages than this are read before a thread has started to. */
const PAGES_FOR_A_THREAD = 32

export interface FetchProgress {
  fetched: number
  /** Null: unknown. */
  total: number | null
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
  masks: Masking | null
  marked: boolean
  checkpointEveryMs: number
  sliceBytes: number
  onDuplicates?: OnDuplicates
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
  readonly #prints: PagePrints
  #samePages = 0
  #drift: Drift | null

  constructor(deps: SpoolFetchDeps, options: SpoolFetchOptions) {
    this.#deps = deps
    this.#options = options
    const { meta, checkpointEveryMs } = options
    this.#drift = meta.drift
    this.#prints = new PagePrints(Math.ceil(meta.total / meta.pageSize))
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
    // Pages that an earlier fetch has, so that none of them comes again.
    for (const [index, { first, pages }] of this.#options.meta.ranges.entries())
      this.#samePages += this.#prints.addAll(first, await this.#deps.folder.readLog(`pages-${index}`, pages))
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
      await this.#checkpointer.idle()
    }
  }

  /** Compares the keys of all rows; null where no key was given. Throws if rows that repeat are to fail the fetch. */
  async checkKeys(signal: AbortSignal): Promise<KeyCheck | null> {
    const { folder, threads } = this.#deps
    const { meta, onDuplicates } = this.#options
    if (!meta.key) return null
    const logs = this.#fetchers.map(({ written: { first, keys } }, index) => {
      const rows = keys.bytes / PRINT_BYTES
      return { path: folder.growing(`keys-${index}`), rows, firstRow: first * meta.pageSize }
    })
    const task = { logs, pageSize: meta.pageSize }
    const found =
      threads && this.#rows > ROWS_FOR_A_THREAD ? await inThread(threads, task, signal) : findRepeats(task)
    if (onDuplicates === 'fail') refuseRepeats(meta.key, found, this.#rows)
    return found
  }

  spool(resumed: Resumed, keys: KeyCheck | null): Spool {
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
    const digits = fields.map((_, field) =>
      mostDigits(
        ranges.map(
          ({ digits }, index) => digits[placesOf[index] ? placesOf[index][field]! : field] ?? NO_DIGITS,
        ),
      ),
    )
    const checks = { samePages: this.#samePages, key: meta.key, keys, drift: this.#drift }
    const counted = (fact: keyof RecordCounts, missing: (range: RangeMeta) => number) =>
      fields.map((_, field) =>
        ranges.reduce((sum, range, index) => {
          const place = placesOf[index] ? placesOf[index][field]! : field
          return sum + (range[fact][place] ?? missing(range))
        }, 0),
      )
    const counts = {
      // Rows of a range that never met a key lack it, all of them.
      nulls: counted('nulls', ({ segments }) => segments.reduce((rows, segment) => rows + segment.rows, 0)),
      misfits: counted('misfits', () => 0),
      escaped: counted('escaped', () => 0),
      replaced: counted('replaced', () => 0),
    }
    return {
      directory: folder.directory,
      segments,
      fields,
      unwanted: [...new Set(ranges.flatMap(({ unwanted }) => unwanted))],
      widths,
      digits,
      counts,
      rows: this.#rows,
      bytes: this.#bytes,
      probe,
      checks,
      warnings: warningsOf(checks, meta.total, this.#rows),
      resumed,
    }
  }

  pageDone(page: number, { total, print }: Pick<Taken, 'total' | 'print'>): void {
    const { probe, limits, onDuplicates } = this.#options
    if (total !== undefined && total !== probe.total) this.#drift ??= { page, total }
    const twin = this.#prints.add(page, print)
    if (twin !== undefined) {
      if (onDuplicates !== 'warn') throw samePage(page, twin)
      this.#samePages++
    }
    if (limits?.maxBytes !== undefined && this.#bytes > limits.maxBytes)
      throw tooLarge(
        `the source's rows take more than ${counted(limits.maxBytes, 'byte')}, the most an export may have`,
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
      // The page that came again is still in memory, and must not be what the next attempt begins with.
      if (isAppError(error, ERRORS.SOURCE_PAGE_REPEATED)) return
      await fetcher.flush().then(
        () => this.#checkpointer.save(),
        (lost: unknown) => this.#deps.log?.warn({ err: lost }, 'could not keep the fetched pages'),
      )
    }
  }

  #sink(range: RangeMeta, index: number): PageSink {
    const { folder, threads } = this.#deps
    const { meta, probe, csv, marked, masks, sliceBytes } = this.#options
    const { fields, rowNames, growExcept, key } = meta
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
      key,
      range: index,
      masks,
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
    return { ...this.#options.meta, ranges, drift: this.#drift, updated: this.#deps.clock.now() }
  }
}

/** In one of the threads that have read the pages: others would have to be started. */
async function inThread(threads: ThreadPool, task: KeyCheckTask, signal: AbortSignal): Promise<KeyCheck> {
  const thread = threads.pin()
  try {
    return await orAborted(thread.run(CHECK_KEYS, task), signal)
  } finally {
    thread.release()
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
