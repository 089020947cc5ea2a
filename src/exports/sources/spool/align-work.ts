import { AppError, ERRORS, readSliceSync } from '../../../kernel/index.ts'
import { NESTED } from '../../sheet/index.ts'
import type { Made } from '../../threads/index.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a
const CR = 0x0d

/** A slice whose records are to have their fields in another order. */
export interface AlignTask {
  path: string
  offset: number
  bytes: number
  rows: number
  /** Bytes before the first record. */
  skip: number
  /** Fields that every record begins with and that stay: the labels of a row header. */
  labels: number
  /** By field of the new records: its place among those of the old ones, or -1. A place after a record's end is empty. */
  places: readonly number[]
}

/** Records of a slice with other fields. They keep their own ends, `\n` or `\r\n`. */
export function alignSlice(task: AlignTask): Made<Uint8Array<ArrayBuffer>> {
  const bytes = aligned(read(task), task)
  return { result: bytes, transfer: [bytes.buffer] }
}

export function aligned(
  input: Uint8Array,
  { skip, labels, places, rows }: Omit<AlignTask, 'path' | 'offset' | 'bytes'>,
) {
  const out = new Uint8Array(input.length - skip + rows * (labels + places.length + 1))
  const starts: number[] = []
  const ends: number[] = []
  let o = 0
  const put = (field: number, first: boolean): void => {
    if (!first) out[o++] = COMMA
    if (field < 0 || field >= starts.length) return
    out.set(input.subarray(starts[field]!, ends[field]!), o)
    o += ends[field]! - starts[field]!
  }
  for (let p = skip; p < input.length; ) {
    starts.length = 0
    ends.length = 0
    for (;;) {
      starts.push(p)
      p = fieldEnd(input, p)
      ends.push(p)
      if (input[p] !== COMMA) break
      p += 1
    }
    const isCsv = input[p] === CR
    for (let label = 0; label < labels; label++) put(label, label === 0)
    places.forEach((place, n) => {
      put(place < 0 ? -1 : labels + place, labels + n === 0)
    })
    if (isCsv) {
      out[o++] = CR
      p += 1
    }
    if (input[p] !== NEWLINE) throw broken()
    out[o++] = NEWLINE
    p += 1
  }
  return out.slice(0, o)
}

function fieldEnd(input: Uint8Array, at: number): number {
  if (input[at] === QUOTE) return textEnd(input, at + 1)
  return input[at] === NESTED ? textEnd(input, at + 2) : plainEnd(input, at)
}

/** Skips the text that begins at `at`, with its closing quote. */
function textEnd(input: Uint8Array, at: number): number {
  for (let p = at; p < input.length; p++) {
    if (input[p] !== QUOTE) continue
    if (input[p + 1] !== QUOTE) return p + 1
    p += 1
  }
  throw broken()
}

function plainEnd(input: Uint8Array, at: number): number {
  let p = at
  while (p < input.length && input[p] !== COMMA && input[p] !== NEWLINE && input[p] !== CR) p += 1
  return p
}

function read(slice: AlignTask): Uint8Array {
  const buffer = new Uint8Array(slice.bytes)
  if (!readSliceSync(slice, buffer)) throw broken()
  return buffer
}

function broken(): AppError {
  return new AppError(ERRORS.SPOOL_DAMAGED, 'a segment of the spool is cut off or garbled')
}
