import { rowTooLarge } from '../sql-error.ts'
import { MOST_ROW_BYTES } from '../sql-pages.ts'

/** A message of PostgreSQL's protocol: a letter, the length of the rest with these four bytes, and the rest. */
const HEAD = 5
const DATA_ROW = 0x44

/**
 * Takes the rows out of what a server sends, as bytes; all other messages go on to the client. Only whole messages are
 * handed over. Throws if one is too large, as soon as its first bytes are there.
 */
export class MessageTap {
  readonly #row: (bytes: Buffer, at: number) => void
  readonly #other: (message: Buffer) => void
  /** Of a message that has not come as a whole. */
  #parts: Buffer[] = []
  #missing = 0

  /** `row` hears where in the bytes a row's content begins. */
  constructor(row: (bytes: Buffer, at: number) => void, other: (message: Buffer) => void) {
    this.#row = row
    this.#other = other
  }

  push(chunk: Buffer): void {
    const bytes = this.#joined(chunk)
    if (!bytes) return
    let at = 0
    let end = HEAD
    for (; at + HEAD <= bytes.length; at = end) {
      end = at + 1 + bytes.readInt32BE(at + 1)
      if (end - at > MOST_ROW_BYTES) throw rowTooLarge(MOST_ROW_BYTES)
      if (end > bytes.length) break
      if (bytes[at] === DATA_ROW) this.#row(bytes, at + HEAD)
      else this.#other(bytes.subarray(at, end))
    }
    if (at === bytes.length) return
    this.#parts = [bytes.subarray(at)]
    this.#missing = Math.max(end, at + HEAD) - bytes.length
  }

  #joined(chunk: Buffer): Buffer | undefined {
    if (this.#parts.length === 0) return chunk
    this.#parts.push(chunk)
    this.#missing -= chunk.length
    if (this.#missing > 0) return undefined
    const whole = Buffer.concat(this.#parts)
    this.#parts = []
    return whole
  }
}
