import { join } from 'node:path'
import { writeParquet } from '../../parquet/index.ts'
import { watermarkText } from '../../request/index.ts'
import { builtFile, CONTENT_TYPES, inOneOrder } from '../built-file.ts'
import type { FetchedTable } from '../fetch/fetched-table.ts'
import type { ProduceDeps, ProduceOptions } from '../produce-options.ts'
import { byLeaf, typedFields } from '../typed-fields.ts'

export async function buildParquet(
  deps: ProduceDeps,
  options: ProduceOptions,
  tables: FetchedTable[],
  out: string,
) {
  const { spool, template } = tables[0] as FetchedTable
  const path = join(out, 'file.parquet')
  const fields = typedFields(template)
  const grouped = template.rows.length > 0
  const segments = await inOneOrder(deps, spool, out, options.signal)
  const { signal, request } = options
  const metadata = request.watermark ? { watermark: watermarkText(request.watermark) } : {}
  const { timezone } = request
  const input = { segments, fields, grouped, path, timezone, metadata, signal }
  const { warnings, counts } = await writeParquet(deps, input)
  const written = { ending: '.parquet', contentType: CONTENT_TYPES.parquet }
  return { ...builtFile(path, options, spool, written, warnings), counts: [byLeaf(template, counts)] }
}
