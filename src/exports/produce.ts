import { link, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, copyFile, type Log, makeFolder } from '../kernel/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { ColumnCounts } from './column-facts.ts'
import { type CsvDialect, type CsvLayout, DEFAULT_DIALECT, layOutCsv, writeCsv } from './csv/index.ts'
import type { ExportRequest, Table } from './export-request.ts'
import { HttpPageSource } from './http-page-source.ts'
import {
  type FetchLimits,
  type FetchProgress,
  fetchToSpool,
  joinSegments,
  type Spool,
  type SpoolColumns,
  type StallOptions,
  type Trouble,
} from './source/index.ts'
import type { ColumnFacts, TableFacts } from './table-facts.ts'
import {
  chooseContent,
  parseTemplate,
  planSheet,
  rowDepth,
  rowLeaves,
  type SheetContent,
  type Template,
  templateFromKeys,
} from './template/index.ts'
import type { ThreadPool } from './threads/index.ts'
import { type SheetInput, writeWorkbook, zipFiles } from './xlsx/index.ts'

export type Stage = 'fetching' | 'building' | 'uploading'

export interface ProduceDeps {
  http: HttpClient
  pool: ThreadPool
  clock: Clock
  log: Log
}

export interface ProduceOptions {
  request: ExportRequest
  sourceHeaders: Record<string, string>
  /** To sign pulls with. */
  secrets: readonly string[]
  /** Holds the spool, and the file until it is taken away. */
  directory: string
  limits: FetchLimits
  excel: { maxRows: number; maxBytes: number }
  signal: AbortSignal
  /** An earlier worker died over it: whether its work could be taken up is worth telling. */
  brokenOff?: boolean
  onProgress(progress: { stage: Stage; fetched: number; total: number; bytes: number }): void
  /** A page failed and is asked for again later. The next progress says that it is over. */
  onTrouble?(trouble: Trouble): void
  /** When a slow source gives its place to others. */
  stall?: StallOptions
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
}

interface FetchedTable {
  table: Table
  spool: Spool
  template: Template
  content: Required<SheetContent>
  /** Of a CSV file. */
  csv: CsvLayout | null
}

const CONTENT_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
}

/** The whole way from a request to its file. Called again with the same directory, it goes on where it was broken off. */
export async function produce(deps: ProduceDeps, options: ProduceOptions): Promise<Produced> {
  const tables: FetchedTable[] = []
  const totals = { fetched: 0, total: 0, bytes: 0 }
  for (const [index, table] of options.request.tables.entries()) {
    const before = { ...totals }
    const fetched = await fetchTable(
      deps,
      { ...options, limits: rest(options.limits, totals) },
      table,
      join(options.directory, `table-${index}`),
      (progress) => {
        totals.fetched = before.fetched + progress.fetched
        totals.total = before.total + progress.total
        totals.bytes = before.bytes + progress.bytes
        options.onProgress({ stage: 'fetching', ...totals })
      },
    )
    tables.push(fetched)
  }
  options.onProgress({ stage: 'building', ...totals })
  const out = join(options.directory, 'out')
  await rm(out, { recursive: true, force: true })
  await makeFolder(out)
  const built =
    options.request.type === 'csv'
      ? await buildCsv(deps, options, tables, out)
      : await buildExcel(deps, options, tables, out)
  const warnings = tables.flatMap(({ spool, table }) =>
    spool.warnings.map((text) => prefixed(text, table, tables.length)),
  )
  const { counts, ...file } = built
  return {
    ...file,
    warnings: [...startedAnew(options, tables), ...warnings, ...built.warnings],
    facts: tables.map((table, index) => factsOf(table, counts[index] ?? [])),
  }
}

function factsOf({ table, spool, template }: FetchedTable, counts: ColumnCounts[]): TableFacts {
  // The leaf of the row headers takes a column for each of their levels.
  const leaves = template.leaves.flatMap((leaf) =>
    leaf.rowHead ? Array<typeof leaf>(rowDepth(template.rows)).fill(leaf) : [leaf],
  )
  const columns = counts.flatMap((count, index): ColumnFacts[] => {
    const { title, name, type } = leaves[index]!
    return name === null ? [] : [{ title, name, type, ...count }]
  })
  return { name: table.name, asked: spool.probe.total, written: spool.rows, columns }
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
  const { sourceHeaders: headers, secrets, request, limits, signal } = options
  const source = new HttpPageSource(deps, { url: table.sourceUrl, headers, secrets })
  let content: Required<SheetContent> | undefined
  let template: Template | undefined
  let csv: CsvLayout | null = null
  const spool = await fetchToSpool(
    { source, clock: deps.clock, log: deps.log, threads: deps.pool },
    {
      directory,
      columnsOf(probe) {
        content = chooseContent(table, probe)
        template = parseTemplate(content.template, { keys: probe.keys }) ?? templateFromKeys(probe.keys)
        if (request.type !== 'csv') return typedColumns(template)
        csv = layOutCsv(template, { dialect: dialectOf(request), timezone: request.timezone })
        return csv.spool
      },
      pageSize: request.pageSize,
      limits,
      signal,
      onProgress,
      ...(options.onTrouble && { onTrouble: options.onTrouble }),
      ...(options.stall && { stall: options.stall }),
    },
  )
  return { table, spool, template: template as Template, content: content as Required<SheetContent>, csv }
}

function typedColumns({ fields, rows }: Template): SpoolColumns {
  const rowNames = rowLeaves(rows).map(({ name }) => name ?? '')
  return { fields, ...(rowNames.length > 0 && { rowNames }) }
}

/** A job that was accepted by an earlier version has no dialect. */
function dialectOf({ csv }: Partial<Pick<ExportRequest, 'csv'>>): CsvDialect {
  return csv ?? DEFAULT_DIALECT
}

async function buildCsv(
  { pool }: ProduceDeps,
  { request, signal }: ProduceOptions,
  tables: FetchedTable[],
  out: string,
) {
  const { spool, csv } = tables[0] as FetchedTable
  const path = join(out, 'file.csv')
  const warnings: string[] = []
  if (csv?.recipe) {
    const layout = { ...csv, recipe: csv.recipe }
    warnings.push(...(await writeCsv({ pool }, { path, segments: spool.segments, layout, signal })))
  } else await shareFile(await joinSegments(spool.segments, signal), path)
  return {
    path,
    fileName: `${request.fileName}.csv`,
    contentType: `text/csv; charset=${dialectOf(request).encoding}`,
    rows: spool.rows,
    parts: 1,
    warnings,
    counts: [] as ColumnCounts[][],
  }
}

/** The spool keeps the file too: should this worker die before the file is safe, another goes on from there. */
async function shareFile(spooled: string, path: string): Promise<void> {
  await link(spooled, path).catch(() => copyFile(spooled, path)) // not every disk has hard links
}

async function buildExcel(
  { pool }: ProduceDeps,
  options: ProduceOptions,
  tables: FetchedTable[],
  out: string,
) {
  const { request, excel, signal } = options
  const sheets = tables.map(sheetInput)
  const { files, warnings, counts } = await writeWorkbook(
    { pool },
    { sheets, directory: out, baseName: request.fileName, ...excel, timezone: request.timezone, signal },
  )
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
      counts,
    }
  }
  const path = join(out, 'parts.zip')
  const paths = files.map((file) => file.path)
  await zipFiles(paths, path, signal)
  return {
    path,
    fileName: `${request.fileName}.zip`,
    contentType: CONTENT_TYPES.zip,
    rows,
    parts: files.length,
    warnings,
    counts,
  }
}

function sheetInput({ table, spool, template, content }: FetchedTable): SheetInput {
  const plan = planSheet({
    name: table.name,
    template,
    title: textOf(content.title),
    summary: textOf(content.summary),
    header: content.header,
    footer: content.footer,
  })
  return { plan, segments: spool.segments, widths: spool.widths }
}

function textOf(value: unknown): string | null {
  return value === undefined || value === null ? null : String(value)
}

function prefixed(text: string, { name }: Table, tables: number): string {
  return tables > 1 ? `${name}: ${text}` : text
}
