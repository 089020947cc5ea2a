import { inOrder, slicesOf } from '../records/index.ts'
import { addFacts, type CellType } from '../sheet/index.ts'
import { ROW_HEAD, type SpoolSegment } from '../sources/index.ts'
import { type ThreadPool, taskFunction } from '../threads/index.ts'
import type { EncodedLines, JsonLinesTask } from './encode-work.ts'

const ENCODE = taskFunction<JsonLinesTask, EncodedLines>(import.meta.url, 'encode-work', 'encode')

export interface JsonLinesInput {
  segments: SpoolSegment[]
  fields: readonly { name: string; type: CellType }[]
  signal: AbortSignal
  /** Counts by field are added to it. */
  facts?: Float64Array
}

/**
 * The rows of a marked spool as JSON lines: objects with the source's own values, keys in the order of the template. Rows of a
 * row header carry its name as `_row_head_`.
 */
export async function* jsonLines(
  { pool }: { pool: ThreadPool },
  { segments, fields, signal, facts }: JsonLinesInput,
): AsyncGenerator<Uint8Array> {
  const names = fields.map(({ name }) => name)
  const types = fields.map(({ type }) => type)
  const encoded = inOrder(slicesOf(segments), pool.size + 1, (slice) =>
    pool.run(ENCODE, { slice, fields: names, types, headKey: ROW_HEAD }, { signal }),
  )
  for await (const lines of encoded) {
    if (facts) addFacts(facts, lines.facts)
    yield lines.bytes
  }
}
