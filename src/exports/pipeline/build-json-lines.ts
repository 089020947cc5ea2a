import { join } from 'node:path'
import { jsonLines } from '../jsonl/index.ts'
import { writeCompressed } from '../records/index.ts'
import { watermarkText } from '../request/index.ts'
import { builtFile, compressedAs, endingWith, inOneOrder } from './built-file.ts'
import type { FetchedTable } from './fetched-table.ts'
import type { ProduceDeps, ProduceOptions } from './produce-options.ts'

export async function buildJsonLines(
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
