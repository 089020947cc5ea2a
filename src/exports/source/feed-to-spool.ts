import { craft, type ThreadPool } from '../threads/index.ts'
import { type OnDuplicates, type RowChecks, refuseRepeats, warningsOf } from './duplicates.ts'
import type { FetchLimits, SpoolColumns } from './fetch-to-spool.ts'
import { findRepeats, type KeyCheck, type KeyCheckTask } from './key-check-work.ts'
import { PAGE_MARGIN, PageBody } from './page-body.ts'
import { PRINT_BYTES } from './print-log.ts'
import { type PageSink, RangeSpooler, type RangeSpoolerOptions, type RangeState } from './range-spooler.ts'
import type { FeedPage, RowFeed } from './row-feed.ts'
import { allSlices, SLICE_BYTES } from './segment-buffer.ts'
import { inFileOrder } from './segment-order.ts'
import type { Spool, SpoolSegment } from './spool.ts'
import { type FetchProgress, tooLarge } from './spool-fetch.ts'
import { SpoolFolder } from './spool-folder.ts'
import type { RangeMeta } from './spool-meta.ts'
import { ThreadedSpooler } from './threaded-spooler.ts'

export interface FeedOptions {
  directory: string
  columns: SpoolColumns
  limits?: FetchLimits
  signal: AbortSignal
  /** Columns that identify a row. */
  key?: readonly string[] | undefined
  onDuplicates?: OnDuplicates
  onProgress?(progress: FetchProgress): void
}

/** What stands for a total that nobody knows. */
const UNKNOWN = Number.MAX_SAFE_INTEGER
const CHECK = craft<KeyCheckTask, KeyCheck>(import.meta.url, 'key-check-work', 'checkKeys')
const FLUSH_BYTES = 1024 * 1024
/** Smaller feeds are read before a thread has started to. */
const PAGES_FOR_A_THREAD = 4

/**
 * Leaves the rows of a feed in `directory` as a spool. A feed cannot be taken up again, so there are no checkpoints and whatever an
 * earlier call left is cleared. While one page is made records of, the next one is read.
 */
export async function feedToSpool(
  { feed, threads }: { feed: RowFeed; threads?: ThreadPool },
  options: FeedOptions,
): Promise<Spool> {
  const { directory, columns, signal, key } = options
  const { fields, rowNames = null, csv = null, marked = false, masks = null } = columns
  const folder = new SpoolFolder(directory)
  await folder.clear()
  const range: RangeMeta = {
    first: 0,
    end: UNKNOWN,
    next: 0,
    segments: (rowNames ?? ['']).map(() => ({ bytes: 0, rows: 0, crc: 0, slices: [] })),
    widths: fields.map(() => 0),
    nulls: fields.map(() => 0),
    added: [],
    unwanted: [],
    pages: { bytes: 0, crc: 0 },
    keys: { bytes: 0, crc: 0 },
  }
  const spooling: RangeSpoolerOptions = {
    directory,
    fields,
    rowNames,
    growExcept: null,
    csv,
    marked,
    masks,
    key: key ?? null,
    wrapped: false,
    range: 0,
    firstSegment: 0,
    sliceBytes: SLICE_BYTES,
  }
  const writer = new FeedWriter(options, () => new RangeSpooler(spooling, range))
  const pages = feed.pages()[Symbol.asyncIterator]()
  try {
    for (let next = await pages.next(); !next.done; ) {
      signal.throwIfAborted()
      if (threads && writer.pages === PAGES_FOR_A_THREAD)
        await writer.move((start) => new ThreadedSpooler({ threads }, spooling, start))
      const ahead = pages.next()
      ahead.catch(() => undefined) // it is awaited below, or the writing has failed first
      await writer.write(next.value)
      next = await ahead
    }
    const written = { ...range, ...(await writer.end()) }
    const checks = await checksOf(folder, written, { threads, options })
    return await finished(folder, written, { fields, rowNames, feed, checks })
  } finally {
    writer.close()
    await pages.return?.()
  }
}

class FeedWriter {
  pages = 0
  readonly #options: FeedOptions
  #sink: PageSink
  #rows = 0

  constructor(options: FeedOptions, open: () => PageSink) {
    this.#options = options
    this.#sink = open()
  }

  /** Goes on in another sink, which begins with what the files hold. */
  async move(open: (start: RangeState) => PageSink): Promise<void> {
    const start = await this.#sink.flush()
    this.#sink.close()
    this.#sink = open(start)
  }

  async write({ text, rows }: FeedPage): Promise<void> {
    const { limits = {}, onProgress } = this.#options
    const { maxRows, maxBytes } = limits
    this.#rows += rows
    if (maxRows !== undefined && this.#rows > maxRows)
      throw tooLarge(`the source has more than ${maxRows} rows, the most an export may have`, {
        rows: this.#rows,
      })
    const expected = { page: this.pages, rows, pageSize: rows, total: UNKNOWN }
    const taken = await this.#sink.take(bodyOf(text), expected)
    this.pages++
    if (maxBytes !== undefined && taken.bytes > maxBytes)
      throw tooLarge(`the source's rows take more than ${maxBytes} bytes, the most an export may have`, {
        bytes: taken.bytes,
      })
    if (taken.waiting >= FLUSH_BYTES) await this.#sink.flush()
    onProgress?.({ fetched: this.#rows, total: this.#rows, bytes: taken.bytes })
  }

  end() {
    return this.#sink.flush()
  }

  close(): void {
    this.#sink.close()
  }
}

function bodyOf(text: string): PageBody {
  const body = new PageBody()
  const length = Buffer.byteLength(text)
  body.bytes = Buffer.allocUnsafeSlow(length + PAGE_MARGIN)
  body.bytes.write(text)
  body.bytes[length] = 0
  body.length = length
  return body
}

/** Compares the keys of all rows, where they have one. Throws if rows that repeat are to fail the export. */
async function checksOf(
  folder: SpoolFolder,
  { keys, segments }: RangeMeta,
  { threads, options }: { threads: ThreadPool | undefined; options: FeedOptions },
): Promise<RowChecks> {
  const { key, onDuplicates, signal } = options
  const nothing: RowChecks = { samePages: 0, key: null, keys: null, drift: null }
  if (!key) return nothing
  const logs = [{ path: folder.growing('keys-0'), rows: keys.bytes / PRINT_BYTES, firstRow: 0 }]
  const task = { logs, pageSize: UNKNOWN }
  const found = threads ? await threads.run(CHECK, task, { signal }) : findRepeats(task)
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0)
  if (onDuplicates === 'fail') refuseRepeats(key, found, rows)
  return { ...nothing, key: [...key], keys: found }
}

async function finished(
  folder: SpoolFolder,
  range: RangeMeta,
  {
    fields,
    rowNames,
    feed,
    checks,
  }: Pick<Spool, 'fields' | 'checks'> & { rowNames: string[] | null; feed: RowFeed },
): Promise<Spool> {
  const { segments, widths, nulls, unwanted } = range
  for (const [number, state] of segments.entries()) await folder.finish(number, state)
  const rows = segments.reduce((sum, segment) => sum + segment.rows, 0)
  return {
    directory: folder.directory,
    segments: inFileOrder({ ranges: [range], rowNames }).map(({ number, state, group }): SpoolSegment => {
      const { rows, bytes } = state
      const segment = { path: folder.whole(number), rows, bytes, slices: allSlices(state) }
      return group === undefined ? segment : { ...segment, group }
    }),
    fields,
    unwanted,
    widths,
    nulls,
    rows,
    bytes: segments.reduce((sum, { bytes }) => sum + bytes, 0),
    probe: { total: rows, keys: feed.columns.map(({ name }) => name), wrapped: false, rows },
    checks,
    warnings: warningsOf(checks, rows, rows),
    resumed: { resumed: false, reason: 'rows that come once cannot be taken up where they broke off' },
  }
}
