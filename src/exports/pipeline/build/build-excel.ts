import { join } from 'node:path'
import { makeFolder } from '../../../kernel/index.ts'
import { manifestText } from '../../report/index.ts'
import { watermarkText } from '../../request/index.ts'
import type { SpoolSegment } from '../../sources/index.ts'
import { type Warning, warn } from '../../warnings/index.ts'
import { type SheetInput, writeWorkbook, type ZippedFile, zipFiles } from '../../xlsx/index.ts'
import { CONTENT_TYPES, inOneOrder } from '../built-file.ts'
import type { FetchedTable } from '../fetch/fetched-table.ts'
import { maskedNames, withoutLostTotals } from '../masked-columns.ts'
import { planTable } from '../plan-table.ts'
import type { ProduceDeps, ProduceOptions } from '../produce-options.ts'
import { numericFields } from './numeric-fields.ts'

export async function buildExcel(
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
    sheets.push(await sheetInput(table, options, await inOneOrder({ pool }, table.spool, folder, signal)))
  }
  const { watermark, timezone } = request
  const properties = watermark && {
    creator: watermark.by,
    description: watermarkText(watermark),
    identifier: watermark.id,
    created: watermark.at,
  }
  const { files, counts, endRows, names, ...written } = await writeWorkbook(
    { pool },
    { sheets, directory: out, baseName: request.fileName, ...excel, timezone, properties, signal },
  )
  const warnings = [...renamed(tables, names), ...written.warnings]
  const sheetsOfFile = sheets.map(({ plan }, index) => ({ plan, endRow: endRows[index]! }))
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
      sheets: sheetsOfFile,
    }
  }
  const path = join(out, 'parts.zip')
  const paths = files.map((file) => file.path)
  const partsOf = (zipped: readonly ZippedFile[]) =>
    zipped.map((part, index) => ({ ...part, rows: files[index]!.rows }))
  const mark = watermark ? { watermark: watermarkText(watermark) } : {}
  const zipped = await zipFiles(paths, path, signal, {
    last: (zipped) => ({
      name: 'manifest.json',
      text: manifestText({ parts: partsOf(zipped), ...mark }, signer),
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
    sheets: sheetsOfFile,
  }
}

/** A name that is a title or that of the file may be changed in silence: nobody has asked for it as a name. */
function renamed(tables: readonly FetchedTable[], names: readonly string[]): Warning[] {
  return tables.flatMap(({ table: { name: asked } }, index) => {
    const sheet = names[index]!
    return asked === undefined || asked === sheet ? [] : [warn('SHEET_RENAMED', { asked, sheet })]
  })
}

async function sheetInput(
  fetched: FetchedTable,
  { request, masks }: ProduceOptions,
  segments: SpoolSegment[],
): Promise<SheetInput> {
  const { table, spool, template, content } = fetched
  const numeric = await numericFields(segments)
  const whole = planTable(request, table, { content, template, numeric })
  const plan = withoutLostTotals(whole, template, maskedNames(fetched, masks))
  return { plan, segments, widths: spool.widths, digits: spool.digits }
}
