import { closeSync, readSync } from 'node:fs'
import { AppError, ERRORS, openFileSync } from '../../kernel/index.ts'
import type { SpoolSegment } from '../sources/index.ts'

/** A run of whole records in a file. */
export interface RecordSlice {
  path: string
  offset: number
  bytes: number
  rows: number
  /** Name of the row header that the records belong to. */
  group?: string
}

/** The slices of a spool in the order of its rows. */
export function slicesOf(segments: readonly SpoolSegment[]): RecordSlice[] {
  return segments.flatMap(({ path, slices, group }) =>
    slices
      .filter(({ rows }) => rows > 0)
      .map((slice) => (group === undefined ? { path, ...slice } : { path, ...slice, group })),
  )
}

export function readSlice({ path, offset, bytes }: RecordSlice): Buffer {
  const buffer = Buffer.allocUnsafeSlow(bytes)
  const file = openFileSync(path)
  try {
    for (let done = 0; done < bytes; ) {
      const count = readSync(file, buffer, done, bytes - done, offset + done)
      if (count === 0) throw new AppError(ERRORS.SPOOL_DAMAGED, 'the spool ends inside a slice')
      done += count
    }
  } finally {
    closeSync(file)
  }
  return buffer
}
