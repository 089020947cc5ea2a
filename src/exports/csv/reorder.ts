import { COMMA, LF, QUOTE } from './bytes.ts'
import { damaged, type Transcoded } from './transcode.ts'

/**
 * Copies spool records field by field into another order, some fields twice or not at all, `null` leaving one empty: for
 * templates whose columns are not simply the spool's fields. The result is spool again. Stops before the first record
 * that is cut off, or that finds no room in `output`.
 */
export class FieldOrder {
  readonly #order: readonly (number | null)[]
  /** Where the fields of the record at hand start and end. */
  readonly #starts: Int32Array
  readonly #ends: Int32Array

  /** `fields` as a record shows them: one that holds nothing is still one empty field. */
  constructor(fields: number, order: readonly (number | null)[]) {
    this.#order = order
    this.#starts = new Int32Array(fields)
    this.#ends = new Int32Array(fields)
  }

  /** False when the transcoder can read the spool as it stands. */
  get changes(): boolean {
    return this.#order.length !== this.#starts.length || this.#order.some((field, i) => field !== i)
  }

  apply(input: Uint8Array, output: Uint8Array): Transcoded {
    let read = 0
    let written = 0
    let records = 0
    for (;;) {
      const next = this.#split(input, read)
      if (next === -1 || this.#size() > output.length - written) return { read, written, records }
      written = this.#emit(input, output, written)
      read = next
      records += 1
    }
  }

  /** Notes the fields of the record at `from` and returns the place after it, or -1 if it is cut off. */
  #split(input: Uint8Array, from: number): number {
    const fields = this.#starts.length
    let i = from
    for (let field = 0; ; field += 1) {
      const start = i
      i = fieldEnd(input, i)
      if (i === -1) return -1
      const byte = input[i]
      const isLast = byte === LF
      if (isLast ? field + 1 !== fields : field + 1 >= fields || byte !== COMMA) {
        throw damaged(field + 1, fields, byte)
      }
      this.#starts[field] = start
      this.#ends[field] = i
      i += 1
      if (isLast) return i
    }
  }

  #size(): number {
    let size = Math.max(1, this.#order.length)
    for (const field of this.#order) if (field !== null) size += this.#ends[field]! - this.#starts[field]!
    return size
  }

  #emit(input: Uint8Array, output: Uint8Array, at: number): number {
    let o = at
    for (let column = 0; column < this.#order.length; column += 1) {
      if (column > 0) {
        output[o] = COMMA
        o += 1
      }
      const field = this.#order[column] ?? null
      if (field === null) continue
      for (let i = this.#starts[field]!; i < this.#ends[field]!; i += 1) {
        output[o] = input[i]!
        o += 1
      }
    }
    output[o] = LF
    return o + 1
  }
}

/** The place of the separator behind the field at `from`, or -1. */
function fieldEnd(input: Uint8Array, from: number): number {
  let i = from
  if (input[i] === QUOTE) {
    for (i += 1; ; i += 2) {
      i = input.indexOf(QUOTE, i)
      if (i === -1) return -1
      if (input[i + 1] !== QUOTE) break
    }
    return i + 1 < input.length ? i + 1 : -1
  }
  for (; i < input.length; i += 1) {
    if (input[i] === COMMA || input[i] === LF) return i
  }
  return -1
}
