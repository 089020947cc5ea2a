import { awaitedLater, type Clock, ERRORS, isAppError, type Log } from '../../../kernel/index.ts'
import type { ThreadPool } from '../../threads/index.ts'
import { type Warning, warn } from '../../warnings/index.ts'
import { MIN_BYTES_PER_SECOND, type StallOptions, whileNotStalled } from '../ask/index.ts'
import { CHECK_KEYS } from '../duplicates/check-keys.ts'
import { type RowChecks, refuseRepeats, warningsOf } from '../duplicates/duplicates.ts'
import { findRepeats } from '../duplicates/key-check-work.ts'
import { PRINT_BYTES } from '../duplicates/print-log.ts'
import type { FeedStart, OpenRows, RowFeed } from '../pages/index.ts'
import { allSlices, hashOfRecords, MARKED, noCounts, SLICE_BYTES } from '../rows/index.ts'
import {
  type ExpectedSpool,
  inFileOrder,
  type RangeMeta,
  type Resumed,
  resumeSpool,
  type Spool,
  SpoolFolder,
  type SpoolMeta,
  type SpoolSegment,
} from '../spool/index.ts'
import { FeedWriter, type FeedWriterOptions } from './feed-writer.ts'
import { hashOfMasks, type SpoolColumns } from './fetch-to-spool.ts'
import { RangeSpooler, type RangeSpoolerOptions } from './range-spooler.ts'
import { ThreadedSpooler } from './threaded-spooler.ts'

export interface FeedDeps {
  /** Called again if the place where an earlier reading was broken off is of no use. */
  open(from: FeedStart | undefined, signal: AbortSignal): Promise<OpenRows>
  /** Bytes that have come from it; without it, it is never too slow. */
  bytes?(): number
  threads?: ThreadPool
  clock: Clock
  log?: Log
}

export interface FeedOptions extends FeedWriterOptions {
  directory: string
  columnsOf(feed: RowFeed): SpoolColumns
  signal: AbortSignal
  /** Columns that identify a row. */
  key?: readonly string[] | undefined
  /** The place has more rows than these: what all of these lack is no fault. */
  partial?: boolean
  /** Rows of an earlier call are taken up. */
  onResumed?(rows: number): void
  /** When a slow source gives its place to others; without it, never. */
  stall?: StallOptions
}

/** The total in the notes when it is unknown. */
const UNKNOWN = -1
/** Smaller feeds are read before a thread has started to. */
const PAGES_FOR_A_THREAD = 4
/**
 * Leaves the rows of a feed in `directory` as a spool. Where the feed is resumable, what an earlier call left is taken up after its
 * last safe page; else it is cleared. While one page is made records of, the next one is read.
 */
export async function feedToSpool(deps: FeedDeps, options: FeedOptions): Promise<Spool> {
  const { stall, signal } = options
  if (!stall || !deps.bytes) return spoolFeed(deps, options)
  const watched = { ...stall, minBytesPerSecond: MIN_BYTES_PER_SECOND, signal }
  return whileNotStalled({ clock: deps.clock, bytes: deps.bytes }, watched, (signal) =>
    spoolFeed(deps, { ...options, signal }),
  )
}

async function spoolFeed(deps: FeedDeps, options: FeedOptions): Promise<Spool> {
  const folder = new SpoolFolder(options.directory)
  const found = await folder.readMeta()
  const left = typeof found === 'object' && found.feed?.place ? found.feed : undefined
  let reason: Warning | undefined
  if (left) {
    const feed = await deps.open(left, options.signal)
    try {
      const columns = options.columnsOf(feed)
      const resumed = await resumeSpool({ folder, clock: deps.clock }, expectedOf(columns, options))
      if ('meta' in resumed)
        return await readInto(deps, options, { feed, folder, columns, meta: resumed.meta, reason: null })
      reason = resumed.reason
    } finally {
      await feed.close()
    }
  }
  const feed = await deps.open(undefined, options.signal)
  try {
    reason ??= warn(feed.resumable ? 'STARTED_ANEW_ELSEWHERE' : 'STARTED_ANEW_ROWS_COME_ONCE', {})
    const columns = options.columnsOf(feed)
    await folder.clear()
    const meta = freshMeta(expectedOf(columns, options), feed, deps.clock)
    return await readInto(deps, options, { feed, folder, columns, meta, reason })
  } finally {
    await feed.close()
  }
}

interface Reading {
  feed: RowFeed
  folder: SpoolFolder
  columns: SpoolColumns
  meta: SpoolMeta
  /** Why it starts anew; null: it goes on. */
  reason: Warning | null
}

async function readInto(
  { threads, clock, log }: FeedDeps,
  options: FeedOptions,
  { feed, folder, columns, meta, reason }: Reading,
): Promise<Spool> {
  const { signal } = options
  const [range] = meta.ranges as [RangeMeta]
  const fetched = range.segments.reduce((sum, { rows }) => sum + rows, 0)
  const resumed: Resumed = reason === null ? { resumed: true, fetched } : { resumed: false, reason }
  log?.info({ total: feed.total ?? null, ...resumed }, 'fetching pages')
  if (resumed.resumed) options.onResumed?.(resumed.fetched)
  const spooling = spoolingOf(columns, options, meta)
  const writer = new FeedWriter({ folder, clock, feed, meta }, options, new RangeSpooler(spooling, range))
  await writer.takeUp()
  const pages = feed.pages()[Symbol.asyncIterator]()
  try {
    for (let next = await pages.next(); !next.done; ) {
      signal.throwIfAborted()
      if (threads && writer.pages === PAGES_FOR_A_THREAD)
        await writer.move((start) => new ThreadedSpooler({ threads }, spooling, start))
      const ahead = awaitedLater(pages.next())
      await writer.write(next.value)
      next = await ahead
      if (threads && !next.done && writer.pages === 1) ThreadedSpooler.warmUp(threads)
    }
    const written = await writer.end()
    const checks = { ...writer.checks, ...(await checkKeys(folder, written, { threads, options })) }
    return await finished(folder, written, {
      fields: meta.fields,
      rowNames: meta.rowNames,
      feed,
      checks,
      resumed,
    })
  } catch (error) {
    // The page that came again is still in memory, and must not be what the next attempt begins with.
    if (!isAppError(error, ERRORS.SOURCE_PAGE_REPEATED))
      await writer
        .keep()
        .catch((lost: unknown) => log?.warn({ err: lost }, 'could not keep the fetched pages'))
    throw error
  } finally {
    await writer.close()
    await pages.return?.()
  }
}

function expectedOf(columns: SpoolColumns, { key }: FeedOptions): ExpectedSpool {
  const { fields, rowNames = null, growExcept = null, csv = null, marked = false, masks = null } = columns
  return {
    total: UNKNOWN,
    pageSize: UNKNOWN,
    fields,
    rowNames,
    growExcept: growExcept && [...growExcept],
    csv: csv ? hashOfRecords(csv) : marked ? MARKED : null,
    key: key ? [...key] : null,
    masks: masks && hashOfMasks(masks),
  }
}

function freshMeta(expected: ExpectedSpool, { columns }: RowFeed, clock: Clock): SpoolMeta {
  const { fields, rowNames } = expected
  const range: RangeMeta = {
    first: 0,
    end: Number.MAX_SAFE_INTEGER,
    next: 0,
    segments: (rowNames ?? ['']).map(() => ({ bytes: 0, rows: 0, crc: 0, slices: [] })),
    widths: fields.map(() => 0),
    digits: [],
    ...noCounts(fields.length),
    added: [],
    unwanted: [],
    pages: { bytes: 0, crc: 0 },
    keys: { bytes: 0, crc: 0 },
  }
  const feed = { keys: columns.map(({ name }) => name), place: null }
  return { version: 3, ...expected, ranges: [range], drift: null, feed, updated: clock.now() }
}

function spoolingOf(
  columns: SpoolColumns,
  { directory, key }: FeedOptions,
  meta: SpoolMeta,
): RangeSpoolerOptions {
  const { csv = null, marked = false, masks = null } = columns
  const { fields, rowNames, growExcept } = meta
  const records = { fields, rowNames, growExcept, csv, marked, masks, key: key ?? null }
  return { directory, ...records, wrapped: false, range: 0, firstSegment: 0, sliceBytes: SLICE_BYTES }
}

/** Compares the keys of all rows, where they have one. Throws if rows that repeat are to fail the export. */
async function checkKeys(
  folder: SpoolFolder,
  { keys, segments }: RangeMeta,
  { threads, options }: { threads: ThreadPool | undefined; options: FeedOptions },
): Promise<Pick<RowChecks, 'key' | 'keys'>> {
  const { key, onDuplicates, partial = false, signal } = options
  if (!key) return { key: null, keys: null }
  const logs = [{ path: folder.growing('keys-0'), rows: keys.bytes / PRINT_BYTES, firstRow: 0 }]
  const task = { logs, pageSize: Number.MAX_SAFE_INTEGER }
  const found = threads ? await threads.run(CHECK_KEYS, task, { signal }) : findRepeats(task)
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0)
  if (onDuplicates === 'fail') refuseRepeats(key, found, partial ? null : rows)
  return { key: [...key], keys: found }
}

async function finished(
  folder: SpoolFolder,
  range: RangeMeta,
  { fields, rowNames, feed, checks, resumed }: Finished,
): Promise<Spool> {
  const { segments, widths, digits, nulls, misfits, escaped, replaced, unwanted, added } = range
  for (const [number, state] of segments.entries()) await folder.finish(number, state)
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0)
  const keys = feed.columns.map(({ name }) => name)
  const total = feed.total ?? rows
  return {
    directory: folder.directory,
    segments: inFileOrder({ ranges: [range], rowNames }).map(({ number, state, group }): SpoolSegment => {
      const { rows, bytes } = state
      const segment = { path: folder.whole(number), rows, bytes, slices: allSlices(state) }
      return group === undefined ? segment : { ...segment, group }
    }),
    fields: [...fields, ...added],
    unwanted,
    widths,
    digits,
    counts: { nulls, misfits, escaped, replaced },
    rows,
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    probe: { total, keys, wrapped: false, rows },
    checks,
    warnings: [...warningsOf(checks, total, rows), ...(feed.warnings?.(rows) ?? [])],
    resumed,
  }
}

interface Finished extends Pick<Spool, 'fields' | 'checks'> {
  rowNames: string[] | null
  feed: RowFeed
  resumed: Resumed
}
