import { crc32 } from 'node:zlib'

/** Bytes of a print: 128 bits, so that two different things never share one. */
export const PRINT_BYTES = 16
const WORDS = PRINT_BYTES / 4

/** What is known of the bytes that a log's file holds. */
export interface LogState {
  bytes: number
  crc: number
}

/**
 * The end of a file of prints, in memory: one for each row of a range (of its key), or one for each of its pages. Like a
 * segment it only grows, goes to disk with the range's other bytes, and is rolled back with a page that is refused.
 */
export class PrintLog {
  #words = new Uint32Array(4_096)
  #length = 0
  #state: LogState

  constructor(state: LogState) {
    this.#state = state
  }

  push(a: number, b: number, c: number, d: number): void {
    if (this.#length + WORDS > this.#words.length) {
      const grown = new Uint32Array(this.#words.length * 2)
      grown.set(this.#words)
      this.#words = grown
    }
    const words = this.#words
    let n = this.#length
    words[n++] = a
    words[n++] = b
    words[n++] = c
    words[n++] = d
    this.#length = n
  }

  mark(): number {
    return this.#length
  }

  rollback(mark: number): void {
    this.#length = mark
  }

  /** What is in memory, and where in the file it belongs. */
  pending(): { offset: number; bytes: Buffer } {
    return { offset: this.#state.bytes, bytes: Buffer.from(this.#words.buffer, 0, this.#length * 4) }
  }

  /** Call it once the pending bytes are in the file. */
  written(): void {
    const { bytes } = this.pending()
    this.#state = { bytes: this.#state.bytes + bytes.length, crc: crc32(bytes, this.#state.crc) }
    this.#length = 0
  }

  /** State of the file. Call it with nothing left in memory. */
  state(): LogState {
    return this.#state
  }
}
