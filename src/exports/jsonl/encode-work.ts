import {
  EMPTY,
  JSON_TEXT,
  NULL,
  RecordReader,
  type RecordSlice,
  SliceMemory,
  TEXT,
} from '../records/index.ts'
import {
  type CellType,
  checkOf,
  FACTS,
  fitsType,
  LengthMeter,
  LONGEST,
  MISFITS,
  NULLS,
  noFacts,
  textFits,
  UNCHECKED,
} from '../sheet/index.ts'
import type { Made } from '../threads/index.ts'

export interface JsonLinesTask {
  slice: RecordSlice
  /** Keys, in the order of the spool's fields. */
  fields: readonly string[]
  /** Key that shows the row header, where there is one. */
  headKey: string
  /** By field, so that values which do not fit are counted. */
  types: readonly CellType[]
}

export interface EncodedLines {
  bytes: Uint8Array
  /** See `column-facts.ts`, by field. */
  facts: Float64Array
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const HEX = Buffer.from('0123456789abcdef')
/** A control character takes six bytes (`\u001f`). */
const GROWTH = 6

const memory = new SliceMemory()

/** One slice as lines of JSON objects. A key that a row lacks is left out. */
export function encode({ slice, fields, headKey, types }: JsonLinesTask): Made<EncodedLines> {
  const reader = new RecordReader(memory.read([slice]))
  const head = slice.group === undefined ? '' : `${JSON.stringify(headKey)}:${JSON.stringify(slice.group)}`
  const opening = Buffer.from(`{${head}`)
  const keys = fields.map((field) => Buffer.from(`${JSON.stringify(field)}:`))
  const out = new Output(slice.bytes * 2)
  const counter = new FieldCounter(types)
  while (reader.begin()) {
    out.reserve(opening.length + 2)
    out.put(opening)
    let first = head === ''
    for (let column = 0; column < keys.length; column++) {
      const key = keys[column]!
      reader.next()
      counter.count(column, reader)
      if (reader.kind === EMPTY) continue
      out.reserve(key.length + (reader.end - reader.start) * GROWTH + 4)
      if (!first) out.byte(0x2c)
      first = false
      out.put(key)
      if (reader.kind === TEXT) out.string(reader)
      else out.put(reader.value())
    }
    out.reserve(2)
    out.byte(0x7d)
    out.byte(0x0a)
  }
  const bytes = out.taken()
  return { result: { bytes, facts: counter.facts }, transfer: [bytes.buffer as ArrayBuffer] }
}

class FieldCounter {
  readonly #facts: Float64Array
  readonly #checks: number[]
  readonly #lengths: LengthMeter

  constructor(types: readonly CellType[]) {
    this.#facts = noFacts(types.length)
    this.#checks = types.map(checkOf)
    this.#lengths = new LengthMeter(types.length)
  }

  get facts(): Float64Array {
    for (let column = 0; column < this.#checks.length; column++)
      this.#facts[column * FACTS + LONGEST] = this.#lengths.bySlot[column]!
    return this.#facts
  }

  count(column: number, { kind, bytes, start, end }: RecordReader): void {
    const check = this.#checks[column]!
    if (kind === EMPTY || kind === NULL || start === end) this.#facts[column * FACTS + NULLS]! += 1
    else if (kind >= TEXT) {
      this.#lengths.text(column, bytes, start, end)
      if (check !== UNCHECKED && (kind === JSON_TEXT || !textFits(check, bytes, start, end)))
        this.#misfit(column)
    } else if (check !== UNCHECKED && !fitsType(check, bytes, start, end)) this.#misfit(column)
  }

  #misfit(column: number): void {
    this.#facts[column * FACTS + MISFITS]! += 1
  }
}

class Output {
  #bytes: Buffer
  #length = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
  }

  reserve(extra: number): void {
    if (this.#bytes.length - this.#length >= extra) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#length + extra))
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }

  byte(byte: number): void {
    this.#bytes[this.#length++] = byte
  }

  put(bytes: Buffer): void {
    // A loop: for the few bytes of most values, copying by a call costs more.
    if (bytes.length > 64) bytes.copy(this.#bytes, this.#length)
    else for (let n = 0; n < bytes.length; n++) this.#bytes[this.#length + n] = bytes[n]!
    this.#length += bytes.length
  }

  /** The text of the reader's field as a JSON string. */
  string({ bytes, start, end }: RecordReader): void {
    const out = this.#bytes
    let o = this.#length
    out[o++] = QUOTE
    for (let p = start; p < end; p++) {
      const byte = bytes[p]!
      if (byte === QUOTE) {
        out[o++] = BACKSLASH
        p++ // it is doubled in the spool
      } else if (byte === BACKSLASH) out[o++] = BACKSLASH
      else if (byte < 0x20) {
        o = control(byte, out, o)
        continue
      }
      out[o++] = byte
    }
    out[o++] = QUOTE
    this.#length = o
  }

  taken(): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, 0, this.#length)
  }
}

const SHORT = new Map([
  [0x08, 0x62],
  [0x09, 0x74],
  [0x0a, 0x6e],
  [0x0c, 0x66],
  [0x0d, 0x72],
])

function control(byte: number, out: Buffer, at: number): number {
  out[at] = BACKSLASH
  const letter = SHORT.get(byte)
  if (letter !== undefined) {
    out[at + 1] = letter
    return at + 2
  }
  out.write('u00', at + 1, 'latin1')
  out[at + 4] = HEX[byte >> 4]!
  out[at + 5] = HEX[byte & 15]!
  return at + 6
}
