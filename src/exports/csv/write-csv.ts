import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Template } from '../template/index.ts'
import { craft, type ThreadPool } from '../threads/index.ts'
import { CsvLayout } from './csv-layout.ts'
import { CsvWriter } from './csv-writer.ts'
import type { CsvSlice, CsvSliceTask } from './slice-work.ts'

/** One file of the spool with its index, see `SPOOL.md`. */
export interface CsvSegment {
  path: string
  slices: { offset: number; bytes: number }[]
  /** With row headers: the name of the leaf that these rows belong to. */
  group?: string
}

export interface CsvBook {
  template: Template
  segments: readonly CsvSegment[]
  path: string
  bom: boolean
  signal: AbortSignal
}

const SLICES = craft<CsvSliceTask, CsvSlice>(import.meta.url, 'slice-work', 'encodeSlice')
/** Fewer slices than this are written before a thread has started to. */
const SLICES_FOR_THREADS = 3

/** Turns spool into a CSV file and returns how many records it has. */
export async function writeCsv({ pool }: { pool: ThreadPool }, book: CsvBook): Promise<number> {
  const slices = book.segments.reduce((sum, segment) => sum + segment.slices.length, 0)
  const file = await open(book.path, 'w')
  try {
    return slices < SLICES_FOR_THREADS ? await writeHere(file, book) : await writeInThreads(pool, file, book)
  } finally {
    await file.close()
  }
}

async function writeHere(file: FileHandle, { template, segments, bom, signal }: CsvBook): Promise<number> {
  const writer = new CsvWriter(template, { bom, reuse: true })
  for await (const bytes of writer.write(parts(segments), signal)) await writeAll(file, bytes)
  return writer.rows
}

/** One file at a time is open, however many segments there are. */
function* parts(segments: readonly CsvSegment[]) {
  for (const { path, group } of segments) {
    const spool: AsyncIterable<Uint8Array> = createReadStream(path, { highWaterMark: 1 << 20 })
    yield { spool, ...(group !== undefined && { row: group }) }
  }
}

/** Slices are sent ahead of time and written in their order. The memory of those that are written carries later ones. */
async function writeInThreads(
  pool: ThreadPool,
  file: FileHandle,
  { template, segments, bom, signal }: CsvBook,
): Promise<number> {
  const layout = new CsvLayout(template)
  const tasks = tasksOf(layout, segments)
  const sent: Promise<CsvSlice>[] = []
  const free: ArrayBuffer[] = []
  const send = () => {
    const next = tasks.next()
    if (next.done) return
    const memory = free.pop()
    const task = memory ? { ...next.value, memory } : next.value
    const slice = pool.run(SLICES, task, { signal, transfer: memory ? [memory] : [] })
    // One that nobody waits for any more may fail unheard.
    slice.catch(() => undefined)
    sent.push(slice)
  }
  await writeAll(file, layout.head(bom))
  for (let ahead = 0; ahead < pool.size + 2; ahead++) send()
  let records = 0
  for (let slice = sent.shift(); slice; slice = sent.shift()) {
    const { memory, length, records: more } = await slice
    signal.throwIfAborted()
    await writeAll(file, new Uint8Array(memory, 0, length))
    records += more
    free.push(memory)
    send()
  }
  return records
}

function* tasksOf(layout: CsvLayout, segments: readonly CsvSegment[]): Generator<CsvSliceTask> {
  for (const { path, slices, group } of segments) {
    const labels = layout.labelsOf(group)
    for (const { offset, bytes } of slices) yield { path, offset, bytes, shape: layout.shape, labels }
  }
}

/** A single write may take less than it is given. */
async function writeAll(file: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done)
    done += bytesWritten
  }
}
