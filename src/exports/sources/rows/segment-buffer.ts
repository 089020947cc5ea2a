import { crc32 } from 'node:zlib'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { Memory } from '../json/index.ts'

/** A run of whole records in a segment, for readers that work on several at once. */
export interface Slice {
  offset: number
  bytes: number
  rows: number
}

export const SLICE_BYTES = 4 * 1024 * 1024
/** Of one page in one segment: columns that show the same long value can make far more of it than came. */
const MAX_WAITING = 256 * 1024 * 1024

/** What is known of the bytes that a segment's file holds. */
export interface SegmentState {
  bytes: number
  rows: number
  crc: number
  /** Closed slices only; what follows the last one is still growing. */
  slices: Slice[]
}

export interface SegmentOptions {
  /** Slices end with the record that reaches this size. */
  sliceBytes?: number
  /** What each record begins with. */
  lead?: string
  /** What a new segment begins with. */
  head?: string
}

export interface SegmentMark {
  length: number
  rows: number
  slices: number
}

/**
 * The end of a segment, in memory: records are written straight into `memory` at `length`, and go to the file when there
 * are enough. A page that turns out bad is rolled back to the mark set before it.
 */
export class SegmentBuffer {
  memory = Memory.ofSize(0)
  length = 0
  rows: number
  readonly lead: Uint8Array
  /** A record that ends at or after this place in `memory` closes the slice. */
  sliceLimit = 0
  /** Bytes in the file. */
  #base: number
  #crc: number
  readonly #slices: Slice[]
  readonly #sliceBytes: number

  constructor(
    state: SegmentState = { bytes: 0, rows: 0, crc: 0, slices: [] },
    { sliceBytes = SLICE_BYTES, lead = '', head = '' }: SegmentOptions = {},
  ) {
    this.lead = Buffer.from(lead)
    this.#base = state.bytes
    this.#crc = state.crc
    this.rows = state.rows
    this.#slices = [...state.slices]
    this.#sliceBytes = sliceBytes
    this.#setLimit()
    if (state.bytes === 0) this.#begin(head)
  }

  /** Makes space for `extra` more bytes after `length`. */
  reserve(extra: number): void {
    const { bytes } = this.memory
    if (bytes.length - this.length >= extra) return
    if (this.length + extra > MAX_WAITING)
      throw new AppError(
        ERRORS.SOURCE_PAGE_TOO_LARGE,
        `its records take more than ${MAX_WAITING} bytes, a smaller page_size may help`,
        { retryable: false },
      )
    this.memory = Memory.ofSize(
      Math.max(64 * 1024, this.length + extra, Math.min(bytes.length * 2, MAX_WAITING)),
    )
    bytes.copy(this.memory.bytes, 0, 0, this.length)
  }

  #begin(head: string): void {
    const size = Buffer.byteLength(head)
    if (size === 0) return
    this.reserve(size)
    this.length = this.memory.bytes.write(head)
  }

  closeSlice(): void {
    const { offset, rows } = this.#openSlice()
    this.#slices.push({ offset, bytes: this.size - offset, rows })
    this.#setLimit()
  }

  get size(): number {
    return this.#base + this.length
  }

  mark(): SegmentMark {
    return { length: this.length, rows: this.rows, slices: this.#slices.length }
  }

  rollback(mark: SegmentMark): void {
    this.length = mark.length
    this.rows = mark.rows
    this.#slices.length = mark.slices
    this.#setLimit()
  }

  /** What is in memory, and where in the file it belongs. */
  pending(): { offset: number; bytes: Buffer } {
    return { offset: this.#base, bytes: this.memory.bytes.subarray(0, this.length) }
  }

  /** Call it once the pending bytes are in the file. */
  written(): void {
    this.#crc = crc32(this.memory.bytes.subarray(0, this.length), this.#crc)
    this.#base += this.length
    this.length = 0
    this.#setLimit()
    // One huge page must not hold its memory for the rest of the fetch.
    if (this.memory.bytes.length > 4 * SLICE_BYTES) this.memory = Memory.ofSize(0)
  }

  /** State of the file. Call it with nothing left in memory. */
  state(): SegmentState {
    return { bytes: this.#base, rows: this.rows, crc: this.#crc, slices: [...this.#slices] }
  }

  /** All slices, the last one ending with the segment. */
  slices(): Slice[] {
    return allSlices({ bytes: this.size, rows: this.rows, slices: this.#slices })
  }

  #openSlice(): { offset: number; rows: number } {
    return openSlice(this.#slices, this.rows)
  }

  #setLimit(): void {
    this.sliceLimit = this.#openSlice().offset + this.#sliceBytes - this.#base
  }
}

/** The slices of a whole segment, the last one ending with it. */
export function allSlices({ bytes, rows, slices }: Pick<SegmentState, 'bytes' | 'rows' | 'slices'>): Slice[] {
  const open = openSlice(slices, rows)
  return bytes > open.offset ? [...slices, { ...open, bytes: bytes - open.offset }] : [...slices]
}

function openSlice(slices: readonly Slice[], rows: number): { offset: number; rows: number } {
  const last = slices.at(-1)
  let closed = 0
  for (const slice of slices) closed += slice.rows
  return { offset: last ? last.offset + last.bytes : 0, rows: rows - closed }
}
