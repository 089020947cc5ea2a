import { NESTED } from '../sheet/index.ts'

export const EMPTY = 0
export const NULL = 1
export const TRUE = 2
export const FALSE = 3
export const NUMBER = 4
export const TEXT = 5
export const JSON_TEXT = 6

const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a

/**
 * Reads the fields of marked records (see `SPOOL.md`) one after the other. Plain fields instead of objects, because cells are
 * read by the ten million.
 */
export class RecordReader {
  readonly bytes: Buffer
  /** What kind of value the field is. */
  kind = EMPTY
  /** The value's bytes: of a text those between the quotes. */
  start = 0
  end = 0
  /** The text holds doubled quotes. */
  doubled = false
  #at = 0
  #ended = true

  constructor(bytes: Buffer) {
    this.bytes = bytes
  }

  /** Where the next field begins. */
  get at(): number {
    return this.#at
  }

  /** Begins the next record: what the last one has left is skipped. False: there is none. */
  begin(): boolean {
    while (!this.#ended) this.next()
    this.#ended = this.#at >= this.bytes.length
    return !this.#ended
  }

  /** Reads one field. A record that has no more, because a later row brought the key, has an empty one. */
  next(): void {
    const { bytes } = this
    if (this.#ended) {
      this.kind = EMPTY
      return
    }
    let p = this.#at
    const byte = bytes[p]
    if (byte === QUOTE) p = this.#text(p + 1, TEXT)
    else if (byte === NESTED) p = this.#text(p + 2, JSON_TEXT)
    else {
      this.start = p
      while (p < bytes.length && bytes[p] !== COMMA && bytes[p] !== NEWLINE) p++
      this.end = p
      this.kind = p === this.start ? EMPTY : kindOf(byte!)
    }
    this.#ended = bytes[p] !== COMMA
    this.#at = p + 1
  }

  /** The value as it was before its quotes were doubled. Valid until the slice is let go. */
  value(): Buffer {
    const { bytes, start, end } = this
    if (!this.doubled || this.kind < TEXT) return bytes.subarray(start, end)
    const plain = Buffer.allocUnsafe(end - start)
    let o = 0
    for (let p = start; p < end; p++) {
      plain[o++] = bytes[p]!
      if (bytes[p] === QUOTE) p++
    }
    return plain.subarray(0, o)
  }

  #text(at: number, kind: number): number {
    const { bytes } = this
    let p = at
    this.doubled = false
    for (;;) {
      while (p < bytes.length && bytes[p] !== QUOTE) p++
      if (bytes[p + 1] !== QUOTE) break
      this.doubled = true
      p += 2
    }
    this.kind = kind
    this.start = at
    this.end = p
    return p + 1
  }
}

function kindOf(byte: number): number {
  if (byte === 0x6e) return NULL
  if (byte === 0x74) return TRUE
  return byte === 0x66 ? FALSE : NUMBER
}
