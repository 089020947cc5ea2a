import { createHash } from 'node:crypto'
import { AppError, type Backoff, type Clock, counted, ERRORS, type Log } from '../../../kernel/index.ts'
import type { Masking } from '../../sheet/index.ts'
import type { ThreadPool } from '../../threads/index.ts'
import {
  MIN_BYTES_PER_SECOND,
  PAGE_RETRY,
  PageGetter,
  planFetch,
  type RetryOptions,
  retryPage,
  type StallOptions,
  type Trouble,
  whileNotStalled,
} from '../ask/index.ts'
import type { OnDuplicates } from '../duplicates/duplicates.ts'
import { PageBody, type PageSource, type Probe, readProbe } from '../pages/index.ts'
import { type CsvRecords, hashOfRecords, MARKED, noCounts, SLICE_BYTES } from '../rows/index.ts'
import {
  type ExpectedSpool,
  type RangeMeta,
  type Resumed,
  resumeSpool,
  type Spool,
  SpoolFolder,
  type SpoolMeta,
} from '../spool/index.ts'
import { type FetchProgress, SpoolFetch, tooLarge } from './spool-fetch.ts'

export interface FetchDeps {
  source: PageSource
  clock: Clock
  log?: Log
  /** Where the pages of a large source are read; without any, in this thread. */
  threads?: ThreadPool
}

export interface SpoolColumns {
  /** Keys of the rows, in the order of the spool's fields; null is a field that stays empty. */
  fields: (string | null)[]
  /** Names of the row headers' leaves, in order, when the template has them. */
  rowNames?: string[]
  /** The data decides on the fields: every key that turns up is one, but these. */
  growExcept?: readonly string[]
  /** Records as a CSV file has them, instead of typed ones. */
  csv?: CsvRecords
  /** Values that are hidden before they are spooled. */
  masks?: Masking
  /** Typed records with a mark before objects and arrays, see `SPOOL.md`. */
  marked?: boolean
}

export interface FetchLimits {
  maxRows?: number
  /** Of the spool, which is about what a CSV file takes. */
  maxBytes?: number
  /** Of one page as it comes, decoded. */
  maxPageBytes?: number
}

export interface FetchOptions {
  /** One folder per job; made when missing. */
  directory: string
  columnsOf(probe: Probe): SpoolColumns
  pageSize: number
  signal: AbortSignal
  limits?: FetchLimits
  /** Columns that identify a row: rows are compared by them. */
  key?: readonly string[] | undefined
  onDuplicates?: OnDuplicates
  onProgress?(progress: FetchProgress): void
  /** Rows of an earlier call are taken up. */
  onResumed?(rows: number): void
  onTrouble?(trouble: Trouble): void
  /** When a slow source gives its place to others; without it, never. */
  stall?: StallOptions
  /** Tries after the first one, for each page. */
  retries?: number
  backoff?: Backoff
  pageTimeoutMs?: number
  maxRetryAfterMs?: number
  checkpointEveryMs?: number
  /** Slices end with the record that reaches this size. */
  sliceBytes?: number
}

export const FETCH_DEFAULTS = {
  ...PAGE_RETRY,
  pageTimeoutMs: 120_000,
  checkpointEveryMs: 500,
  sliceBytes: SLICE_BYTES,
}
export const MAX_PAGE_BYTES = 64 * 1024 * 1024

/**
 * Asks the source for everything it has and leaves it in `directory` as a spool. What an earlier, broken-off call left
 * there is taken up where that is safe. A call that fails leaves the folder so that the next one can go on;
 * `removeSpool` clears it for good.
 */
export async function fetchToSpool(deps: FetchDeps, options: FetchOptions): Promise<Spool> {
  const { limits = {}, stall, signal } = options
  const settings = { ...FETCH_DEFAULTS, ...options, maxPageBytes: limits.maxPageBytes ?? MAX_PAGE_BYTES }
  const getter = new PageGetter(deps, settings)
  if (!stall) return fetchWith(deps, getter, settings)
  const watched = { ...stall, minBytesPerSecond: MIN_BYTES_PER_SECOND, signal }
  return whileNotStalled({ clock: deps.clock, bytes: () => getter.bytes }, watched, (signal) =>
    fetchWith(deps, getter, { ...settings, signal }),
  )
}

async function fetchWith(
  deps: FetchDeps,
  getter: PageGetter,
  settings: FetchOptions & typeof FETCH_DEFAULTS,
): Promise<Spool> {
  const { pageSize, signal, limits = {} } = settings
  const probe = await askProbe(deps, getter, settings, signal)
  const {
    fields,
    rowNames = null,
    growExcept = null,
    csv = null,
    marked = false,
    masks = null,
  } = settings.columnsOf(probe)
  if (limits.maxRows !== undefined && probe.total > limits.maxRows)
    throw tooLarge(`the source has ${counted(probe.total, 'row')}, an export may have ${limits.maxRows}`, {
      rows: probe.total,
    })

  const folder = new SpoolFolder(settings.directory)
  const expected: ExpectedSpool = {
    total: probe.total,
    pageSize,
    fields,
    rowNames,
    growExcept: growExcept && [...growExcept],
    csv: csv ? hashOfRecords(csv) : marked ? MARKED : null,
    key: settings.key ? [...settings.key] : null,
    masks: masks && hashOfMasks(masks),
  }
  const { meta, resumed } = await openFolder({ folder, clock: deps.clock }, expected)
  deps.log?.info({ total: probe.total, fetchers: meta.ranges.length, ...resumed }, 'fetching pages')
  if (resumed.resumed) settings.onResumed?.(resumed.fetched)
  const fetch = new SpoolFetch({ ...deps, getter, folder }, { ...settings, probe, meta, csv, marked, masks })
  await fetch.run(signal)
  return fetch.spool(resumed, await fetch.checkKeys(signal))
}

/** Spooled values that were hidden in another way are of no use. */
export function hashOfMasks(masks: Masking): string {
  return createHash('sha256').update(JSON.stringify(masks)).digest('hex')
}

/** The first answer, asked for with one row: it rules what the rest must look like. */
export async function askProbe(
  deps: FetchDeps,
  getter: PageGetter,
  retry: RetryOptions,
  signal: AbortSignal,
): Promise<Probe> {
  const body = new PageBody()
  return await retryPage(deps, retry, { page: 0, signal }, async () => {
    await getter.get(0, 1, body, signal)
    const probe = readProbe(body.bytes, body.length)
    if (probe.total > 0 && probe.rows === 0)
      throw new AppError(
        ERRORS.SOURCE_SHORT_PAGE,
        `page 0 has no rows, though the total is ${probe.total}; the first page has the number 0`,
      )
    return probe
  })
}

async function openFolder(
  deps: { folder: SpoolFolder; clock: Clock },
  expected: ExpectedSpool,
): Promise<{ meta: SpoolMeta; resumed: Resumed }> {
  const found = await resumeSpool(deps, expected)
  if ('meta' in found) {
    const segments = found.meta.ranges.flatMap((range) => range.segments)
    const fetched = segments.reduce((sum, segment) => sum + segment.rows, 0)
    return { meta: found.meta, resumed: { resumed: true, fetched } }
  }
  await deps.folder.clear()
  const ranges = planFetch(expected.total, expected.pageSize).map(
    ({ first, end }): RangeMeta => ({
      first,
      end,
      next: first,
      segments: (expected.rowNames ?? ['']).map(() => ({ bytes: 0, rows: 0, crc: 0, slices: [] })),
      widths: expected.fields.map(() => 0),
      digits: [],
      added: [],
      unwanted: [],
      pages: { bytes: 0, crc: 0 },
      keys: { bytes: 0, crc: 0 },
      ...noCounts(expected.fields.length),
    }),
  )
  const meta: SpoolMeta = { version: 3, ...expected, ranges, drift: null, updated: deps.clock.now() }
  await deps.folder.checkpoint(meta)
  return { meta, resumed: { resumed: false, reason: found.reason } }
}
