import { createReadStream } from 'node:fs'
import { link, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { copyFile } from '../../../kernel/index.ts'
import { csvRecord, writeCsv } from '../../csv/index.ts'
import { writeCompressed } from '../../records/index.ts'
import { type ExportRequest, watermarkText } from '../../request/index.ts'
import type { ColumnCounts } from '../../sheet/index.ts'
import { alignSegments, joinSegments } from '../../sources/index.ts'
import type { Warning } from '../../warnings/index.ts'
import { builtFile, compressedAs, dialectOf, endingWith, inOneOrder } from '../built-file.ts'
import type { FetchedTable } from '../fetch/fetched-table.ts'
import type { ProduceDeps, ProduceOptions } from '../produce-options.ts'

export async function buildCsv(
  deps: ProduceDeps,
  options: ProduceOptions,
  tables: FetchedTable[],
  out: string,
) {
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

/** The uncompressed file: the spool itself where it has all columns and the dialect's form, else written to `path`. */
async function plainCsv(
  { pool }: ProduceDeps,
  { signal }: ProduceOptions,
  { spool, csv, grown, spooledHead }: FetchedTable,
  path: string,
): Promise<{ plain: string; warnings: Warning[]; counts: ColumnCounts[] }> {
  // Records that were spooled as they are in the file were counted there.
  const { nulls, misfits, escaped } = spool.counts
  const spooled = spool.widths.map((longest, field): ColumnCounts => {
    const counted = { nulls: nulls[field]!, misfits: misfits[field]!, escaped: escaped[field]! }
    return { ...counted, long: 0, rounded: 0, cuts: 0, longest }
  })

  if (csv?.recipe) {
    const layout = { ...csv, recipe: csv.recipe }
    const segments = await inOneOrder({ pool }, spool, dirname(path), signal)
    const { warnings, counts } = await writeCsv({ pool }, { path, segments, layout, signal })
    return { plain: path, warnings, counts: withTitles(counts, csv) }
  }
  const counts = withTitles(spooled, csv)
  if (!csv || !grown) return { plain: await joinSegments(spool.segments, signal), warnings: [], counts }
  const [labels = []] = csv.labels.values()
  const { length: skip } = Buffer.from(spooledHead)
  const layout = { head: csv.head, skip, fields: spool.fields.length, labels: labels.length }
  await alignSegments({ pool }, spool.segments, { path, ...layout, signal })
  return { plain: path, warnings: [], counts }
}

/** Titles that got an apostrophe count among the texts of their columns. */
function withTitles(counts: ColumnCounts[], csv: FetchedTable['csv']): ColumnCounts[] {
  return counts.map((column, n) => ({
    ...column,
    escaped: column.escaped + (csv?.escapedTitles[n] ?? 0),
  }))
}

/** The spool keeps the file too: should this worker die before the file is safe, another goes on from there. */
async function shareFile(spooled: string, path: string): Promise<void> {
  await link(spooled, path).catch(() => copyFile(spooled, path)) // not every disk has hard links
}
