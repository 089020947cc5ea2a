import { inOrder, slicesOf } from '../records/index.ts'
import { ROW_HEAD, type SpoolSegment } from '../sources/index.ts'
import { type ThreadPool, taskFunction } from '../threads/index.ts'
import type { JsonLinesTask } from './encode-work.ts'

const ENCODE = taskFunction<JsonLinesTask, Uint8Array>(import.meta.url, 'encode-work', 'encode')

/**
 * The rows of a marked spool as JSON lines: objects with the source's own values, keys in the order of the template. Rows of a
 * row header carry its name as `_row_head_`.
 */
export function jsonLines(
  { pool }: { pool: ThreadPool },
  { segments, fields, signal }: { segments: SpoolSegment[]; fields: readonly string[]; signal: AbortSignal },
): AsyncIterable<Uint8Array> {
  return inOrder(slicesOf(segments), pool.size + 1, (slice) =>
    pool.run(ENCODE, { slice, fields, headKey: ROW_HEAD }, { signal }),
  )
}
