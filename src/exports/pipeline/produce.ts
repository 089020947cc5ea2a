import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { clearAway, makeFolder, removeTree } from '../../kernel/index.ts'
import { DEFAULT_DIALECT } from '../csv/index.ts'
import type { ColumnFacts, TableFacts } from '../report/index.ts'
import type { ExportRequest, ExportType, Table } from '../request/index.ts'
import { type ColumnCounts, misfitWarnings } from '../sheet/index.ts'
import type { FetchLimits, Spool } from '../sources/index.ts'
import { csvHeader, rowDepth, templateOverruled } from '../template/index.ts'
import { ofTable, type Warning, warn } from '../warnings/index.ts'
import { buildCsv } from './build/build-csv.ts'
import { buildExcel } from './build/build-excel.ts'
import { buildJsonLines } from './build/build-json-lines.ts'
import { buildParquet } from './build/build-parquet.ts'
import type { Built, Produced } from './built-file.ts'
import { fetchAndKeep } from './fetch/fetch-and-keep.ts'
import { fetchTable } from './fetch/fetch-table.ts'
import type { FetchedTable } from './fetch/fetched-table.ts'
import { missingColumns, ofFirstRows } from './fetch/missing-columns.ts'
import { lostTotals, maskedNames, namingMasks } from './masked-columns.ts'
import { maskingSecrets } from './masking-secrets.ts'
import { sheetName } from './plan-table.ts'
import type { ProduceDeps, ProduceOptions } from './produce-options.ts'
import { sourceError } from './source-error.ts'

/** The whole way from a request to its file. Called again with the same directory, it goes on where it was broken off. */
export function produce(deps: ProduceDeps, options: ProduceOptions): Promise<Produced> {
  return maskingSecrets(deps, options, async (masked, mask) => {
    const { onTrouble } = options
    const produced = await produceFile(masked, {
      ...options,
      ...(onTrouble && { onTrouble: (trouble) => onTrouble(mask.value(trouble)) }),
    })
    return { ...produced, warnings: mask.value(produced.warnings) }
  })
}

async function produceFile(deps: ProduceDeps, options: ProduceOptions): Promise<Produced> {
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
    ).catch((error: unknown) => {
      throw sourceError(error, table)
    })
    tables.push(await withWarnings(fetched, options, directory))
  }
  options.onProgress({ stage: 'building', ...totals, total: totals.total ?? totals.fetched })
  const out = join(options.directory, 'out')
  await removeTree(out)
  await makeFolder(out)
  const built = await BUILDERS[options.request.type](deps, options, tables, out)
  const warnings = tables.flatMap(({ spool, table, template }) =>
    [
      ...overruled(table, spool, options.request),
      ...columnless(template, spool),
      ...spool.warnings,
      ...halved(spool),
      ...repeated(template, options.request),
    ]
      .filter(({ message }, index, all) => index === all.findIndex((other) => other.message === message))
      .map((warning) => (isPartial(options, table) ? ofFirstRows(warning, spool.rows) : warning))
      .map((warning) => named(warning, table, tables.length)),
  )
  const { counts, ...file } = built
  const facts = tables.map((table, index) => factsOf(table, options.request, counts[index] ?? []))
  const { type } = options.request
  const misfits = tables.flatMap((table, index) => {
    const masked = maskedNames(table, options.masks)
    const lost = type === 'excel' ? lostTotals(table.template, masked) : []
    // The writer of a Parquet file says itself what became of its values.
    const told = type === 'parquet' ? built.warnings : misfitWarnings(facts[index]!.columns)
    return namingMasks(told, { masked, lost }).map((warning) => named(warning, table.table, tables.length))
  })
  return {
    ...file,
    watermark: options.request.watermark ?? null,
    sheets: built.sheets ?? [],
    kept: keepsRows ? tables.flatMap(({ kept }) => kept ?? []) : null,
    warnings: [
      ...startedAnew(options, tables),
      ...unusedDialect(options.request),
      ...warnings,
      ...(type === 'parquet' ? [] : built.warnings),
      ...misfits,
    ],
    facts,
  }
}

/** Rows whose mask is misspelt must not stay on disk as they came. */
async function withWarnings(
  fetched: FetchedTable,
  options: ProduceOptions,
  directory: string,
): Promise<FetchedTable> {
  const { spool, table, template, csv } = fetched
  const counted = csv !== null && csv.recipe === null
  const partial = isPartial(options, table)
  try {
    const warnings = [
      ...spool.warnings,
      ...missingColumns(spool, { template, counted, partial }, options.masks),
    ]
    return { ...fetched, spool: { ...spool, warnings } }
  } catch (error) {
    await clearAway(directory)
    throw error
  }
}

/** Only the first rows of the source are at hand. */
function isPartial({ samples }: ProduceOptions, table: Table): boolean {
  return samples?.get(table)?.whole === false
}

/** Only rows or a template say which columns there are. */
function columnless({ leaves }: FetchedTable['template'], { rows }: Spool): Warning[] {
  if (leaves.length > 0) return []
  return [warn(rows === 0 ? 'NO_ROWS_NO_COLUMNS' : 'NO_KEYS_NO_COLUMNS', {})]
}

/** Names that the file's reader cannot tell apart, or that it does not find as often as the template has them. */
function repeated({ leaves, ...template }: FetchedTable['template'], { type }: ExportRequest): Warning[] {
  if (type === 'excel') return []
  if (type === 'csv') {
    const titles = twice(csvHeader({ leaves, ...template }).filter((title) => title !== ''))
    return titles.length > 0 ? [warn('TITLES_REPEATED', { titles })] : []
  }
  const columns = twice(leaves.flatMap(({ name }) => name ?? []))
  return columns.length > 0 ? [warn('COLUMNS_ONCE', { columns, type })] : []
}

/** The first of those that come more than once. */
function twice(names: readonly string[]): string[] {
  const seen = Map.groupBy(names, (name) => name)
  return [...seen].flatMap(([name, same]) => (same.length > 1 ? [name] : [])).slice(0, 20)
}

/** What a source writes as half a surrogate pair has no form in UTF-8, which all files are made from. */
function halved({ fields, counts }: Spool): Warning[] {
  return counts.replaced.flatMap((count, field) =>
    count === 0 ? [] : [warn('HALF_CHARACTERS', { column: `${fields[field]}`, count })],
  )
}

function overruled(table: Table, { probe }: Spool, { templateFrom }: ExportRequest): Warning[] {
  return templateOverruled(table, probe, templateFrom) ? [warn('TEMPLATE_OVERRULED', {})] : []
}

function factsOf(
  { table, spool, template, content }: FetchedTable,
  request: ExportRequest,
  counts: ColumnCounts[],
): TableFacts {
  // In a workbook the leaf of the row headers takes a column for each of their levels; elsewhere only the others are counted.
  const depth = request.type === 'excel' ? rowDepth(template.rows) : 0
  const leaves = template.leaves.flatMap((leaf) =>
    leaf.rowHead ? Array<typeof leaf>(depth).fill(leaf) : [leaf],
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

/** Fields that nothing reads are worth a word; a byte order mark has a field of its own that many send always. */
function unusedDialect({ type, csv }: ExportRequest): Warning[] {
  if (type === 'csv' || !csv || isDeepStrictEqual({ ...csv, bom: true }, DEFAULT_DIALECT)) return []
  return [warn('CSV_UNUSED', { type })]
}

function startedAnew({ brokenOff }: ProduceOptions, [first]: FetchedTable[]): Warning[] {
  if (!brokenOff || !first || first.spool.resumed.resumed) return []
  return [first.spool.resumed.reason]
}

const BUILDERS: Record<
  ExportType,
  (deps: ProduceDeps, options: ProduceOptions, tables: FetchedTable[], out: string) => Promise<Built>
> = { csv: buildCsv, excel: buildExcel, jsonl: buildJsonLines, parquet: buildParquet }

function named(warning: Warning, { name }: Table, tables: number): Warning {
  return tables > 1 && name !== undefined ? ofTable(warning, name) : warning
}
