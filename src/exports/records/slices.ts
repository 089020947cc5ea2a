import { AppError, ERRORS, readSliceSync } from '../../kernel/index.ts'
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

export function readSlice(slice: RecordSlice): Buffer {
  const buffer = Buffer.allocUnsafeSlow(slice.bytes)
  if (!readSliceSync(slice, buffer)) throw new AppError(ERRORS.SPOOL_DAMAGED, 'the spool ends inside a slice')
  return buffer
}
