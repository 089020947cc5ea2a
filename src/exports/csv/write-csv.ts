import { type FileHandle, open } from 'node:fs/promises'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { SpoolSegment } from '../source/index.ts'

export interface CsvBody {
  head: Uint8Array
  /** Their records are the file's, as they stand. */
  segments: readonly Pick<SpoolSegment, 'path' | 'bytes'>[]
  path: string
  signal: AbortSignal
}

const CHUNK = 1024 * 1024
/** Copies at once: while one waits for the disk, another has the processor. */
const LANES = 2

interface Copy {
  path: string
  bytes: number
  /** Where in the file it goes. */
  at: number
}

/** Puts the head and the segments of a CSV spool into one file. */
export async function writeCsv({ head, segments, path, signal }: CsvBody): Promise<void> {
  const file = await open(path, 'w')
  try {
    await writeAll(file, head, 0)
    const copies = copiesOf(segments, head.length)
    const lane = async () => {
      const chunk = new Uint8Array(CHUNK)
      for (const copy of copies) await copySegment(file, copy, chunk, signal)
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  } finally {
    await file.close()
  }
}

function* copiesOf(segments: CsvBody['segments'], start: number): Generator<Copy> {
  let at = start
  for (const { path, bytes } of segments) {
    yield { path, bytes, at }
    at += bytes
  }
}

async function copySegment(
  file: FileHandle,
  { path, bytes, at }: Copy,
  chunk: Uint8Array,
  signal: AbortSignal,
) {
  const from = await open(path, 'r')
  try {
    for (let done = 0; done < bytes; ) {
      signal.throwIfAborted()
      const { bytesRead } = await from.read(chunk, 0, Math.min(chunk.length, bytes - done), done)
      if (bytesRead === 0)
        throw new AppError(ERRORS.SPOOL_DAMAGED, 'a segment of the spool is cut off', { retryable: false })
      await writeAll(file, chunk.subarray(0, bytesRead), at + done)
      done += bytesRead
    }
  } finally {
    await from.close()
  }
}

/** A single write may take less than it is given. */
async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}
