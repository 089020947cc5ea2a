import { createReadStream } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError, type Clock, copyFile, ERRORS, type Log, makeFolder } from '../../kernel/index.ts'
import type { HttpClient } from '../../net/index.ts'
import {
  type CsvDialect,
  type CsvLayout,
  csvRecord,
  DEFAULT_DIALECT,
  layOutCsv,
  writeCsv,
} from '../csv/index.ts'
import { jsonLines } from '../jsonl/index.ts'
import { writeParquet } from '../parquet/index.ts'
import { COMPRESSED, writeCompressed } from '../records/index.ts'
import {
  type ColumnFacts,
  type ManifestSigner,
  manifestText,
  type PartReport,
  type TableFacts,
} from '../report/index.ts'
import {
  type ExportRequest,
  type ExportType,
  type KeptRows,
  queryTemplate,
  type Table,
  type Watermark,
  watermarkText,
} from '../request/index.ts'
import type { ColumnCounts, SheetPlan } from '../sheet/index.ts'
import {
  alignSegments,
  type FeedDeps,
  type FetchLimits,
  type FetchProgress,
  feedToSpool,
  fetchToSpool,
  HttpPageSource,
  type HttpPlan,
  isPlain,
  joinSegments,
  type OpenRows,
  openCredentials,
  openHttpRows,
  type Probe,
  pageError,
  type RowFeed,
  type Spool,
  type SpoolColumns,
  type SpoolSegment,
  type SqlRows,
  type SqlSource,
  type StallOptions,
  type TextPage,
  type Trouble,
} from '../sources/index.ts'
import {
  chooseContent,
  type MaskRules,
  maskingOf,
  parseTemplate,
  ROW_HEAD_NAMES,
  rowDepth,
  rowLeaves,
  type SheetContent,
  type Template,
  templateFromKeys,
  templateOverruled,
} from '../template/index.ts'
import type { ThreadPool } from '../threads/index.ts'
import { type SheetInput, writeWorkbook, type ZippedFile, zipFiles } from '../xlsx/index.ts'
import { readKeptRows } from './kept-rows.ts'
import { missingColumns } from './missing-columns.ts'
import { numericFields } from './numeric-fields.ts'
import { planTable, sheetName } from './plan-table.ts'

export type Stage = 'fetching' | 'building' | 'uploading'

export interface ProduceDeps {
  http: HttpClient
  pool: ThreadPool
  clock: Clock
  log: Log
  /** Signs the manifest inside an archive; without one it is not signed. */
  signer?: ManifestSigner
}

export interface ProduceOptions {
  request: ExportRequest
  sourceHeaders: Record<string, string>
  /** Opens rows that an earlier export has kept. */
  openKept?(kept: KeptRows, signal: AbortSignal): Promise<OpenRows>
  /** Runs a query on one of the caller's connections. */
  openSql?(source: SqlSource, signal: AbortSignal): Promise<SqlRows>
  /** To sign pulls with. */
  secrets: readonly string[]
  /** Holds the spool, and the file until it is taken away. */
  directory: string
  limits: FetchLimits
  excel: { maxRows: number; maxBytes: number }
  signal: AbortSignal
  /** What a project demands to be hidden. */
  masks: MaskRules
  /** An earlier worker died over it: whether its work could be taken up is worth telling. */
  brokenOff?: boolean
  /** The total is null while nobody knows it. */
  onProgress(progress: { stage: Stage; fetched: number; total: number | null; bytes: number }): void
  /** A page failed and is asked for again later. The next progress says that it is over. */
  onTrouble?(trouble: Trouble): void
  /** When a slow source gives its place to others. */
  stall?: StallOptions
  /** Rows that are at hand already: no source is asked. */
  samples?: ReadonlyMap<Table, Sample>
}

/** The first rows of a table, with what was found out about it. */
export interface Sample {
  page: TextPage
  template: Template
  content: Required<SheetContent>
  /** Of all rows; null: nobody knows. */
  total: number | null
  /** Columns of a source that is read one row after the other. */
  keys?: string[]
  /** The first answer of a source that pages. */
  probe?: Probe
}

export interface Produced {
  path: string
  fileName: string
  contentType: string
  rows: number
  parts: number
  warnings: string[]
  /** By table. */
  facts: TableFacts[]
  /** The files of an archive; null: there is but one. */
  archived: PartReport[] | null
  /** By table, where the rows are to be kept. */
  kept: KeptFile[] | null
  watermark: Watermark | null
  /** Of a workbook: its sheets, and by sheet the first row below data and totals. */
  sheets: { plan: SheetPlan; endRow: number }[]
}

/** Rows that are to be kept, still on this disk. */
export interface KeptFile {
  path: string
  table: Table
  rows: Pick<KeptRows, 'rows' | 'columns' | 'masked'>
}

type Built = Omit<Produced, 'facts' | 'watermark' | 'sheets' | 'kept'> & { sheets?: Produced['sheets'] } & {
  counts: ColumnCounts[][]
}

interface FetchedTable {
  table: Table
  kept?: KeptFile
  spool: Spool
  template: Template
  content: Required<SheetContent>
  /** Rows have brought columns that the first one lacked: records may be shorter, or in another order. */
  grown: boolean
  /** What the spooled file begins with. */
  spooledHead: string
  /** Of a CSV file. */
  csv: CsvLayout | null
}

const CONTENT_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

/** The whole way from a request to its file. Called again with the same directory, it goes on where it was broken off. */
export async function produce(deps: ProduceDeps, options: ProduceOptions): Promise<Produced> {
  const tables: FetchedTable[] = []
  const keepsRows = options.request.keepRowsHours !== undefined
  const totals = { fetched: 0, total: 0 as number | null, bytes: 0 }
  for (const [index, table] of options.request.tables.entries()) {
    const before = { ...totals }
    const directory = join(options.directory, `table-${index}`)
    const fetched = await (keepsRows ? fetchAndKeep : fetchTable)(
      deps,
      { ...options, limits: rest(options.limits, totals) },
      table,
      directory,
      (progress) => {
        totals.fetched = before.fetched + progress.fetched
        const known = before.total !== null && progress.total !== null
        totals.total = known ? before.total! + progress.total! : null
        totals.bytes = before.bytes + progress.bytes
        options.onProgress({ stage: 'fetching', ...totals })
      },
    )
    tables.push(await withWarnings(fetched, options.masks, directory))
  }
  options.onProgress({ stage: 'building', ...totals, total: totals.total ?? totals.fetched })
  const out = join(options.directory, 'out')
  await rm(out, { recursive: true, force: true })
  await makeFolder(out)
  const built = await BUILDERS[options.request.type](deps, options, tables, out)
  const warnings = tables.flatMap(({ spool, table }) =>
    [...overruled(table, spool, options.request), ...spool.warnings].map((text) =>
      prefixed(text, table, tables.length),
    ),
  )
  const { counts, ...file } = built
  return {
    ...file,
    watermark: options.request.watermark ?? null,
    sheets: built.sheets ?? [],
    kept: keepsRows ? tables.flatMap(({ kept }) => kept ?? []) : null,
    warnings: [...startedAnew(options, tables), ...warnings, ...built.warnings],
    facts: tables.map((table, index) => factsOf(table, options.request, counts[index] ?? [])),
  }
}

/** Rows whose mask is misspelt must not stay on disk as they came. */
async function withWarnings(
  fetched: FetchedTable,
  masks: MaskRules,
  directory: string,
): Promise<FetchedTable> {
  const { spool, template, csv } = fetched
  const counted = csv !== null && csv.recipe === null
  try {
    const warnings = [...spool.warnings, ...missingColumns(spool, { template, counted }, masks)]
    return { ...fetched, spool: { ...spool, warnings } }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

function overruled(table: Table, { probe }: Spool, { templateFrom }: ExportRequest): string[] {
  if (!templateOverruled(table, probe, templateFrom)) return []
  return [
    'the source sent a template, which was used in place of the one in the request; template_from: "request" turns that round',
  ]
}

function factsOf(
  { table, spool, template, content, csv }: FetchedTable,
  request: ExportRequest,
  counts: ColumnCounts[],
): TableFacts {
  // The leaf of the row headers takes a column for each of their levels; in a CSV file only the others are counted.
  const leaves = template.leaves.flatMap((leaf) =>
    leaf.rowHead ? Array<typeof leaf>(csv ? 0 : rowDepth(template.rows)).fill(leaf) : [leaf],
  )
  const columns = counts.flatMap((count, index): ColumnFacts[] => {
    const { title, name, type } = leaves[index]!
    return name === null ? [] : [{ title, name, type, ...count }]
  })
  return {
    name: sheetName(request, table, content),
    asked: spool.probe.total,
    written: spool.rows,
    columns,
    leftOut: spool.unwanted,
    checks: spool.checks,
  }
}

/** The limits are those of all tables together. */
function rest(limits: FetchLimits, { fetched, bytes }: { fetched: number; bytes: number }): FetchLimits {
  const { maxRows, maxBytes } = limits
  return {
    ...limits,
    ...(maxRows !== undefined && { maxRows: Math.max(0, maxRows - fetched) }),
    ...(maxBytes !== undefined && { maxBytes: Math.max(0, maxBytes - bytes) }),
  }
}

function startedAnew({ brokenOff }: ProduceOptions, [first]: FetchedTable[]): string[] {
  if (!brokenOff || !first || first.spool.resumed.resumed) return []
  return [`the export was broken off and started anew: ${first.spool.resumed.reason}`]
}

async function fetchTable(
  deps: ProduceDeps,
  options: ProduceOptions,
  table: Table,
  directory: string,
  onProgress: (progress: FetchProgress) => void,
): Promise<FetchedTable> {
  const sample = options.samples?.get(table)
  if (sample) return spoolSample(deps, options, { table, sample, directory })
  const opened = openerOf(deps, options, table)
  if (opened) return feedTable(deps, options, { table, directory, ...opened }, onProgress)
  const { request, limits, signal } = options
  const source = pageSourceOf(deps, options, table)
  let content: Required<SheetContent> | undefined
  let template: Template | undefined
  let csv: CsvLayout | null = null
  const spool = await fetchToSpool(
    { source, clock: deps.clock, log: deps.log, threads: deps.pool },
    {
      directory,
      columnsOf(probe) {
        content = chooseContent(table, probe, request.templateFrom)
        template = parseTemplate(content.template, { keys: probe.keys }) ?? templateFromKeys(probe.keys)
        const except = template.rows.length > 0 ? [...ROW_HEAD_NAMES] : []
        const growExcept = template.fromKeys && { growExcept: except }
        const marked = request.type !== 'excel' && { marked: true }
        const masking = maskingOf(template, options.masks)
        const more = { ...growExcept, ...(masking && { masks: masking }) }
        if (request.type !== 'csv') return { ...typedColumns(template), ...more, ...marked }
        csv = layoutOf(template, request)
        return { ...csv.spool, ...more }
      },
      pageSize: table.http?.size ?? request.pageSize,
      ...(request.key && { key: request.key }),
      ...(request.onDuplicates && { onDuplicates: request.onDuplicates }),
      limits,
      signal,
      onProgress,
      ...(options.onTrouble && { onTrouble: options.onTrouble }),
      ...(options.stall && { stall: options.stall }),
    },
  )
  const fetched = {
    table,
    spool,
    template: template as Template,
    content: content as Required<SheetContent>,
    csv,
    grown: false,
    spooledHead: (csv as CsvLayout | null)?.spool.csv?.head ?? '',
  }
  return withAllColumns(fetched, request)
}

/** Rows that are at hand take the way of all others from here on. */
async function spoolSample(
  { clock }: ProduceDeps,
  { request, masks, signal }: ProduceOptions,
  { table, sample, directory }: { table: Table; sample: Sample; directory: string },
): Promise<FetchedTable> {
  const { page, template, content, total, keys, probe } = sample
  const csv = request.type === 'csv' ? layoutOf(template, request) : null
  const masking = maskingOf(template, masks)
  const marked = request.type !== 'excel' && { marked: true }
  const columns = {
    ...(csv?.spool ?? { ...typedColumns(template), ...marked }),
    ...(masking && { masks: masking }),
  }
  const { key, onDuplicates } = request
  const spool = await feedToSpool(
    { clock, open: async () => oneFeed(page, template) },
    {
      directory,
      columnsOf: () => columns,
      signal,
      ...(key && { key }),
      ...(onDuplicates && { onDuplicates }),
    },
  ).catch((error: unknown) => {
    throw pageError(error, 0)
  })
  const asked = { ...spool.probe, ...(keys && { keys }), ...probe, total: total ?? spool.rows }
  const spooledHead = csv?.spool.csv?.head ?? ''
  return { table, spool: { ...spool, probe: asked }, template, content, csv, grown: false, spooledHead }
}

function oneFeed(page: TextPage, { fields }: Template): OpenRows {
  return {
    columns: fields.map((name) => ({ name, type: null })),
    async *pages() {
      yield page
    },
    close: async () => undefined,
  }
}

/** Pages of the seed's protocol. */
function pageSourceOf(
  deps: ProduceDeps,
  { sourceHeaders, secrets }: ProduceOptions,
  { sourceUrl, http }: Table,
): HttpPageSource {
  if (!http) return new HttpPageSource(deps, { url: sourceUrl, headers: sourceHeaders, secrets })
  const { url, headers } = http
  const credentials = openCredentials(deps, http)
  return new HttpPageSource(deps, { url, headers: { ...headers }, secrets, credentials })
}

/** How the rows of a source are opened that are read one after the other; nothing for pages of the seed's protocol. */
function openerOf(
  deps: ProduceDeps,
  options: ProduceOptions,
  { sql, http, kept }: Table,
): Pick<FeedDeps, 'open' | 'bytes'> | undefined {
  const { openKept } = options
  if (kept && openKept) return { open: (_, signal) => openKept(kept, signal) }
  if (sql) {
    const { openSql } = options
    if (!openSql)
      throw new AppError(ERRORS.CONNECTION_NOT_FOUND, 'there are no connections to databases here')
    return { open: (_, signal) => openSql(sql, signal) }
  }
  return http && !isPlain(http) ? httpOpener(deps, options, http) : undefined
}

function httpOpener(
  { http, clock, log }: ProduceDeps,
  { secrets, request, onTrouble }: ProduceOptions,
  plan: HttpPlan,
): Pick<FeedDeps, 'open' | 'bytes'> {
  let bytes = 0
  const onBytes = (count: number) => {
    bytes += count
  }
  const settings = { size: request.pageSize, onBytes, ...(onTrouble && { onTrouble }) }
  return {
    open: (from, signal) => openHttpRows({ http, clock, log, secrets }, plan, { ...settings, signal }, from),
    bytes: () => bytes,
  }
}

/** Rows that are read one after the other. Types that the template leaves open are the source's, where it has any. */
async function feedTable(
  { pool, clock, log }: ProduceDeps,
  { request, limits, signal, masks, stall }: ProduceOptions,
  { table, directory, ...opener }: { table: Table; directory: string } & Pick<FeedDeps, 'open' | 'bytes'>,
  onProgress: (progress: FetchProgress) => void,
): Promise<FetchedTable> {
  let template: Template | undefined
  let csv: CsvLayout | null = null
  const columnsOf = (feed: RowFeed): SpoolColumns => {
    template = queryTemplate(table.template, feed, request)
    const except = template.rows.length > 0 ? [...ROW_HEAD_NAMES] : []
    const masking = maskingOf(template, masks, table.kept?.masked)
    const more = {
      ...(feed.grows && template.fromKeys && { growExcept: except }),
      ...(masking && { masks: masking }),
    }
    csv = request.type === 'csv' ? layoutOf(template, request) : null
    if (csv) return { ...csv.spool, ...more }
    return { ...typedColumns(template), ...more, ...(request.type !== 'excel' && { marked: true }) }
  }
  const { key, onDuplicates } = request
  const checked = { ...(key && { key }), ...(onDuplicates && { onDuplicates }) }
  const spool = await feedToSpool(
    { ...opener, threads: pool, clock, log },
    { directory, columnsOf, limits, signal, onProgress, ...checked, ...(stall && { stall }) },
  )
  const fetched = {
    table,
    spool,
    template: template as unknown as Template,
    content: chooseContent(table, {}),
    csv,
    grown: false,
    spooledHead: (csv as CsvLayout | null)?.spool.csv?.head ?? '',
  }
  return withAllColumns(fetched, request)
}

/**
 * Reads the rows and keeps them as JSON lines, then reads these for the file: the file is made the way in which any other one of the
 * same rows is.
 */
async function fetchAndKeep(
  deps: ProduceDeps,
  options: ProduceOptions,
  table: Table,
  directory: string,
  onProgress: (progress: FetchProgress) => void,
): Promise<FetchedTable> {
  const { key: _, onDuplicates: __, ...request } = options.request
  const lines: ExportRequest = { ...options.request, type: 'jsonl' }
  const read = await fetchTable(
    deps,
    { ...options, request: lines },
    table,
    join(directory, 'read'),
    onProgress,
  )
  const { content, template, spool } = read
  const path = join(directory, 'rows.jsonl.zst')
  const segments = await inOneOrder(deps, spool, directory, options.signal)
  const { fields } = template
  const texts = jsonLines(deps, { segments, fields, signal: options.signal })
  await writeCompressed(texts, { path, compress: 'zstd', signal: options.signal })
  const columns = fields.map((name) => {
    const type = template.leaves.find((leaf) => leaf.name === name)?.type ?? 'auto'
    return { name, type: type === 'auto' ? null : type }
  })
  const masked = Object.keys(maskingOf(template, options.masks)?.byName ?? {})
  const rows = { rows: spool.rows, columns, masked: [...new Set([...masked, ...(table.kept?.masked ?? [])])] }
  const laidOut = { ...table, ...content } as Table
  const { stall: ___, ...others } = options
  const made = await feedTable(
    deps,
    { ...others, request, limits: {} },
    {
      table: { ...laidOut, kept: { jobId: '', key: '', ...rows } },
      directory: join(directory, 'made'),
      open: async () => readKeptRows(async () => createReadStream(path), rows),
    },
    () => undefined,
  )
  const { probe, checks, unwanted, warnings, resumed } = spool
  const { sourceUrl: ____, sql: _____, http: ______, ...shown } = laidOut
  return {
    ...made,
    table,
    content,
    spool: { ...made.spool, probe, checks, unwanted, warnings, resumed },
    kept: { path, table: { ...shown, sourceUrl: '' }, rows },
  }
}

/** Where the data decides on the columns, all of it does, not only the first row. */
function withAllColumns(fetched: FetchedTable, request: ExportRequest): FetchedTable {
  const { spool, content, csv } = fetched
  const keys = spool.fields.filter((name) => name !== null)
  if (!fetched.template.fromKeys || keys.length === fetched.template.fields.length) return fetched
  const template = parseTemplate(content.template, { keys }) ?? templateFromKeys(keys)
  return { ...fetched, template, csv: csv && layoutOf(template, request), grown: true }
}

function typedColumns({ fields, rows }: Template): SpoolColumns {
  const rowNames = rowLeaves(rows).map(({ name }) => name ?? '')
  return { fields, ...(rowNames.length > 0 && { rowNames }) }
}

function layoutOf(template: Template, request: ExportRequest): CsvLayout {
  return layOutCsv(template, { dialect: dialectOf(request), timezone: request.timezone })
}

/** A job that was accepted by an earlier version has no dialect. */
function dialectOf({ csv }: Partial<Pick<ExportRequest, 'csv'>>): CsvDialect {
  return csv ?? DEFAULT_DIALECT
}

async function buildCsv(deps: ProduceDeps, options: ProduceOptions, tables: FetchedTable[], out: string) {
  const { spool } = tables[0] as FetchedTable
  const { request, signal } = options
  const { compress } = request
  const path = join(out, 'file.csv')
  const mark = csvMark(tables[0] as FetchedTable, request)
  const isLast = !compress && mark === null
  const { plain, warnings, counts } = await plainCsv(
    deps,
    options,
    tables[0] as FetchedTable,
    isLast ? path : `${path}.plain`,
  )
  if (!isLast) {
    const bytes = endingWith(createReadStream(plain), mark)
    await writeCompressed(bytes, { path, compress: compress ?? null, signal })
    if (plain.startsWith(out)) await rm(plain)
  } else if (plain !== path) await shareFile(plain, path)
  return { ...builtFile(path, options, spool, compressedAs(request, 'csv'), warnings), counts: [counts] }
}

/** The last record of a file that is marked: the watermark in its first field. */
function csvMark({ csv }: FetchedTable, request: ExportRequest): Uint8Array | null {
  if (!request.watermark) return null
  const dialect = dialectOf(request)
  return csvRecord([watermarkText(request.watermark)], { dialect, fields: csv?.titles ?? 1 })
}

async function* endingWith(
  bytes: AsyncIterable<Uint8Array>,
  last: Uint8Array | null,
): AsyncGenerator<Uint8Array> {
  yield* bytes
  if (last) yield last
}

/** The uncompressed file: the spool itself where it has all columns and the dialect's form, else written to `path`. */
async function plainCsv(
  { pool }: ProduceDeps,
  { signal }: ProduceOptions,
  { spool, csv, grown, spooledHead }: FetchedTable,
  path: string,
): Promise<{ plain: string; warnings: string[]; counts: ColumnCounts[] }> {
  // Records that were spooled as they are in the file were counted there.
  const counts = spool.widths.map((longest, field) => {
    return { nulls: spool.nulls[field]!, misfits: 0, cuts: 0, longest }
  })

  if (csv?.recipe) {
    const layout = { ...csv, recipe: csv.recipe }
    const segments = await inOneOrder({ pool }, spool, dirname(path), signal)
    return { plain: path, ...(await writeCsv({ pool }, { path, segments, layout, signal })) }
  }
  if (!csv || !grown) return { plain: await joinSegments(spool.segments, signal), warnings: [], counts }
  const [labels = []] = csv.labels.values()
  const { length: skip } = Buffer.from(spooledHead)
  const layout = { head: csv.head, skip, fields: spool.fields.length, labels: labels.length }
  await alignSegments({ pool }, spool.segments, { path, ...layout, signal })
  return { plain: path, warnings: [], counts }
}

async function buildJsonLines(
  deps: ProduceDeps,
  options: ProduceOptions,
  tables: FetchedTable[],
  out: string,
) {
  const { spool, template } = tables[0] as FetchedTable
  const { signal, request } = options
  const path = join(out, 'file.jsonl')
  const segments = await inOneOrder(deps, spool, out, signal)
  const lines = jsonLines(deps, { segments, fields: template.fields, signal })
  const mark = request.watermark && { _watermark: watermarkText(request.watermark) }
  const marked = endingWith(lines, mark ? Buffer.from(`${JSON.stringify(mark)}\n`) : null)
  await writeCompressed(marked, { path, compress: request.compress ?? null, signal })
  return builtFile(path, options, spool, compressedAs(request, 'jsonl'))
}

async function buildParquet(deps: ProduceDeps, options: ProduceOptions, tables: FetchedTable[], out: string) {
  const { spool, template } = tables[0] as FetchedTable
  const path = join(out, 'file.parquet')
  const fields = template.fields.map((name) => ({
    name,
    type: template.leaves.find((leaf) => leaf.name === name)?.type ?? 'auto',
  }))
  const grouped = template.rows.length > 0
  const segments = await inOneOrder(deps, spool, out, options.signal)
  const { signal, request } = options
  const metadata = request.watermark ? { watermark: watermarkText(request.watermark) } : {}
  const warnings = await writeParquet(deps, { segments, fields, grouped, path, metadata, signal })
  return builtFile(path, options, spool, { ending: '.parquet', contentType: CONTENT_TYPES.parquet }, warnings)
}

function compressedAs(
  request: ExportRequest,
  type: 'csv' | 'jsonl',
): { ending: string; contentType: string } {
  const plain = type === 'csv' ? `text/csv; charset=${dialectOf(request).encoding}` : CONTENT_TYPES.jsonl
  if (!request.compress) return { ending: `.${type}`, contentType: plain }
  const { ending, contentType } = COMPRESSED[request.compress]
  return { ending: `.${type}${ending}`, contentType }
}

function builtFile(
  path: string,
  { request }: ProduceOptions,
  { rows }: Spool,
  { ending, contentType }: { ending: string; contentType: string },
  warnings: string[] = [],
): Built {
  const fileName = `${request.fileName}${ending}`
  return { path, fileName, contentType, rows, parts: 1, warnings, archived: null, counts: [] }
}

/** Typed segments with their fields in the spool's order; most have them so. */
async function inOneOrder(
  deps: Pick<ProduceDeps, 'pool'>,
  { segments, fields }: Spool,
  out: string,
  signal: AbortSignal,
): Promise<SpoolSegment[]> {
  const layout = { head: '', skip: 0, fields: fields.length, labels: 0, signal }
  return Promise.all(
    segments.map(async (segment, index) => {
      if (!segment.places) return segment
      const path = join(out, `${basename(segment.path)}-${index}`)
      const aligned = await alignSegments(deps, [segment], { ...layout, path })
      return segment.group === undefined ? aligned : { ...aligned, group: segment.group }
    }),
  )
}

/** The spool keeps the file too: should this worker die before the file is safe, another goes on from there. */
async function shareFile(spooled: string, path: string): Promise<void> {
  await link(spooled, path).catch(() => copyFile(spooled, path)) // not every disk has hard links
}

async function buildExcel(
  { pool, signer }: ProduceDeps,
  options: ProduceOptions,
  tables: FetchedTable[],
  out: string,
) {
  const { request, excel, signal } = options
  const sheets: SheetInput[] = []
  for (const [index, table] of tables.entries()) {
    const folder = join(out, `table-${index}`)
    await makeFolder(folder)
    sheets.push(await sheetInput(table, request, await inOneOrder({ pool }, table.spool, folder, signal)))
  }
  const { watermark, timezone } = request
  const properties = watermark && {
    creator: watermark.by,
    description: watermarkText(watermark),
    identifier: watermark.id,
    created: watermark.at,
  }
  const { files, warnings, counts, endRows } = await writeWorkbook(
    { pool },
    { sheets, directory: out, baseName: request.fileName, ...excel, timezone, properties, signal },
  )
  const written = sheets.map(({ plan }, index) => ({ plan, endRow: endRows[index]! }))
  const rows = tables.reduce((sum, { spool }) => sum + spool.rows, 0)
  const [first] = files
  if (first && files.length === 1) {
    return {
      path: first.path,
      fileName: `${request.fileName}.xlsx`,
      contentType: CONTENT_TYPES.xlsx,
      rows,
      parts: 1,
      warnings,
      archived: null,
      counts,
      sheets: written,
    }
  }
  const path = join(out, 'parts.zip')
  const paths = files.map((file) => file.path)
  const partsOf = (zipped: readonly ZippedFile[]) =>
    zipped.map((part, index) => ({ ...part, rows: files[index]!.rows }))
  const told = watermark ? { watermark: watermarkText(watermark) } : {}
  const zipped = await zipFiles(paths, path, signal, {
    last: (zipped) => ({
      name: 'manifest.json',
      text: manifestText({ parts: partsOf(zipped), ...told }, signer),
    }),
  })
  return {
    path,
    fileName: `${request.fileName}.zip`,
    contentType: CONTENT_TYPES.zip,
    rows,
    parts: files.length,
    warnings,
    archived: partsOf(zipped.files),
    counts,
    sheets: written,
  }
}

const BUILDERS: Record<
  ExportType,
  (deps: ProduceDeps, options: ProduceOptions, tables: FetchedTable[], out: string) => Promise<Built>
> = { csv: buildCsv, excel: buildExcel, jsonl: buildJsonLines, parquet: buildParquet }

async function sheetInput(
  { table, spool, template, content }: FetchedTable,
  request: ExportRequest,
  segments: SpoolSegment[],
): Promise<SheetInput> {
  const numeric = await numericFields(segments)
  const plan = planTable(request, table, { content, template, numeric })
  return { plan, segments, widths: spool.widths }
}

function prefixed(text: string, { name }: Table, tables: number): string {
  return tables > 1 && name !== undefined ? `${name}: ${text}` : text
}
