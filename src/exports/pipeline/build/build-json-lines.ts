import { join } from 'node:path'
import { jsonLines } from '../../jsonl/index.ts'
import { writeCompressed } from '../../records/index.ts'
import { watermarkText } from '../../request/index.ts'
import { countsOf, noFacts } from '../../sheet/index.ts'
import { builtFile, compressedAs, endingWith, inOneOrder } from '../built-file.ts'
import type { FetchedTable } from '../fetch/fetched-table.ts'
import type { ProduceDeps, ProduceOptions } from '../produce-options.ts'
import { byLeaf, typedFields } from '../typed-fields.ts'

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
  const fields = typedFields(template)
  const facts = noFacts(fields.length)
  const lines = jsonLines(deps, { segments, fields, signal, facts })
  const mark = request.watermark && { _watermark: watermarkText(request.watermark) }
  const marked = endingWith(lines, mark ? Buffer.from(`${JSON.stringify(mark)}\n`) : null)
  await writeCompressed(marked, { path, compress: request.compress ?? null, signal })
  const built = builtFile(path, options, spool, compressedAs(request, 'jsonl'))
  return { ...built, counts: [byLeaf(template, countsOf(facts))] }
}
