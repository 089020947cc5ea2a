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

/** Memory beyond this is not kept for later slices: only records that are unusually long need it. */
const KEPT_BYTES = 8 * 1024 * 1024

/** Reads slices into memory that is used again: each slice in its own would be megabytes that wait for the garbage collector. */
export class SliceMemory {
  #bytes = Buffer.alloc(0)

  /** The records of all slices in one. Valid until the next call. */
  read(slices: readonly Pick<RecordSlice, 'path' | 'offset' | 'bytes'>[]): Buffer {
    const size = slices.reduce((sum, { bytes }) => sum + bytes, 0)
    if (this.#bytes.length < size || this.#bytes.length > KEPT_BYTES)
      this.#bytes = Buffer.allocUnsafeSlow(size)
    let at = 0
    for (const slice of slices) {
      if (!readSliceSync(slice, this.#bytes.subarray(at)))
        throw new AppError(ERRORS.SPOOL_DAMAGED, 'the spool ends inside a slice')
      at += slice.bytes
    }
    return this.#bytes.subarray(0, size)
  }
}
