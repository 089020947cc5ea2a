import { awaitedLater, freeMemory, openFile, orAborted } from '../../../kernel/index.ts'
import { type ThreadPool, taskFunction } from '../../threads/index.ts'
import type { Slice } from '../rows/index.ts'
import type { AlignTask } from './align-work.ts'
import type { SpoolSegment } from './spool.ts'

const ALIGN = taskFunction<AlignTask, Uint8Array<ArrayBuffer>>(import.meta.url, 'align-work', 'alignSlice')

export interface AlignOptions {
  /** The file to write. */
  path: string
  /** What it begins with. */
  head: string
  /** Bytes that the first segment begins with, before its records. */
  skip: number
  /** Fields of the new records, without the labels. */
  fields: number
  /** Labels that every record begins with. */
  labels: number
  signal: AbortSignal
}

/**
 * One file of segments whose records have different fields: of several fetchers each has met the keys in an order of its
 * own, and the first rows lack those that came later. The spool stays as it is, so this can be broken off and repeated.
 */
export async function alignSegments(
  { pool }: { pool: ThreadPool },
  segments: readonly SpoolSegment[],
  { path, head, skip, fields, labels, signal }: AlignOptions,
): Promise<SpoolSegment> {
  const inOrder = Array.from({ length: fields }, (_, field) => field)
  const tasks = segments.flatMap((segment, index) =>
    segment.slices.map(({ offset, bytes, rows }, n) => ({
      path: segment.path,
      offset,
      bytes,
      rows,
      skip: index === 0 && n === 0 ? skip : 0,
      labels,
      places: segment.places ?? inOrder,
    })),
  )
  const file = await openFile(path, 'w')
  try {
    await file.writeFile(head)
    const slices: Slice[] = []
    let end = Buffer.byteLength(head)
    const sent: { rows: number; result: Promise<Uint8Array> }[] = []
    const put = async () => {
      const { rows, result } = sent.shift()!
      const bytes = await orAborted(result, signal)
      await file.writeFile(bytes)
      slices.push({ offset: end, bytes: bytes.length, rows })
      end += bytes.length
      freeMemory(bytes)
    }
    for (const task of tasks) {
      sent.push({ rows: task.rows, result: awaitedLater(pool.run(ALIGN, task, { signal })) })
      if (sent.length > pool.size) await put()
    }
    while (sent.length > 0) await put()
    const rows = slices.reduce((sum, slice) => sum + slice.rows, 0)
    return { path, rows, bytes: end, slices }
  } finally {
    await file.close()
  }
}
