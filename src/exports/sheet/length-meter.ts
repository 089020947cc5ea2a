import { type FieldDigits, NO_DIGITS } from './field-digits.ts'

const BLOCK = 4 * 255

/** The longest text of each slot, in UTF-16 units, for the file's report. Used where no widths are needed. */
export class LengthMeter {
  bySlot: Int32Array
  #bytes: Uint8Array = new Uint8Array(0)
  #view = new DataView(this.#bytes.buffer)

  constructor(slots: number) {
    this.bySlot = new Int32Array(slots)
  }

  /** A new slot, with that number. */
  add(slot: number): void {
    if (slot >= this.bySlot.length) {
      const grown = new Int32Array(Math.max(16, slot * 2))
      grown.set(this.bySlot)
      this.bySlot = grown
    }
    this.bySlot[slot] = 0
  }

  /** Numbers and the like are no texts. */
  widen(_slot: number, _width: number): void {
    // Nothing to measure.
  }

  number(_slot: number, _whole: number, _rest: number): void {
    // Nothing to measure.
  }

  exponential(_slot: number, _bytes: Uint8Array, _at: number, _end: number): void {
    // Nor here.
  }

  digitsOf(_slot: number): FieldDigits {
    return NO_DIGITS
  }

  restoreDigits(_slot: number, _digits: FieldDigits): void {
    // There are none.
  }

  /** The text of a spooled string, between its quotes. */
  text(slot: number, bytes: Uint8Array, at: number, end: number): void {
    // A character never has more units than bytes, so most values need no counting.
    if (end - at > this.bySlot[slot]!) this.#count(slot, bytes, at, end)
  }

  #count(slot: number, bytes: Uint8Array, at: number, end: number): void {
    if (this.#bytes !== bytes) {
      this.#bytes = bytes
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    }
    const view = this.#view
    const longest = this.bySlot[slot]!
    // Continuation bytes are not counted; the first byte of a four-byte character counts twice, as a surrogate pair.
    let units = end - at
    let p = at
    while (p + 4 <= end) {
      // Sums by byte of the word; none of them can overflow within a block.
      const stop = Math.min(end - 3, p + BLOCK)
      let continued = 0
      let long = 0
      for (; p < stop; p += 4) {
        const word = view.getInt32(p, true)
        const next = word << 1
        const high = word & 0x80808080
        continued += (high & ~next) >>> 7
        long += (high & next & (word << 2) & (word << 3)) >>> 7
      }
      units += sumOf(long) - sumOf(continued)
    }
    for (; p < end; p++) {
      const byte = bytes[p]!
      if ((byte & 0xc0) === 0x80) units--
      else if (byte >= 0xf0) units++
    }
    // An upper bound: a quote is written twice.
    if (units > longest) this.bySlot[slot] = Math.max(longest, units - quotesIn(bytes, at, end))
  }
}

/** Of the four bytes of a word. */
function sumOf(word: number): number {
  return (word & 0xff) + ((word >>> 8) & 0xff) + ((word >>> 16) & 0xff) + (word >>> 24)
}

function quotesIn(bytes: Uint8Array, at: number, end: number): number {
  let quotes = 0
  for (let p = at; p < end; p++) if (bytes[p] === 0x22) quotes++
  return quotes >> 1
}
