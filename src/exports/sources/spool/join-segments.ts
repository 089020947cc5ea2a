import { type FileHandle, rm } from 'node:fs/promises'
import { AppError, ERRORS, isErrno, openFile } from '../../../kernel/index.ts'
import type { SpoolSegment } from './spool.ts'
import { writeWhole } from './write-whole.ts'

const CHUNK = 1024 * 1024

/**
 * Makes one file of a CSV spool, and returns its path: the other segments are appended to the first, each removed once
 * its bytes are there, so that a large spool hardly takes more room. Broken off anywhere, it can be called again, and
 * `restoreSegments` finds what it left.
 */
export async function joinSegments(
  [first, ...others]: readonly Pick<SpoolSegment, 'path' | 'bytes'>[],
  signal: AbortSignal,
): Promise<string> {
  if (!first) throw new RangeError('a spool has at least one segment')
  const file = await openFile(first.path, 'r+')
  try {
    const chunk = Buffer.allocUnsafeSlow(CHUNK)
    let end = first.bytes
    for (const { path, bytes } of others) {
      const segment = bytes > 0 ? await openIfThere(path) : undefined
      if (segment) {
        await append(file, end, { segment, bytes }, chunk, signal).finally(() => segment.close())
        await rm(path)
      }
      end += bytes
    }
    const { size } = await file.stat()
    if (size < end) throw cutOff()
    if (size > end) await file.truncate(end)
    return first.path
  } finally {
    await file.close()
  }
}

async function append(
  file: FileHandle,
  at: number,
  { segment, bytes }: { segment: FileHandle; bytes: number },
  chunk: Buffer,
  signal: AbortSignal,
): Promise<void> {
  for (let done = 0; done < bytes; ) {
    signal.throwIfAborted()
    const { bytesRead } = await segment.read(chunk, 0, Math.min(chunk.length, bytes - done), done)
    if (bytesRead === 0) throw cutOff()
    await writeWhole(file, chunk.subarray(0, bytesRead), at + done)
    done += bytesRead
  }
}

/** One that is not there has been appended already. */
async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await openFile(path)
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return undefined
    throw error
  }
}

function cutOff(): AppError {
  return new AppError(ERRORS.SPOOL_DAMAGED, 'a segment of the spool is cut off')
}
