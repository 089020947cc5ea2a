import { ASCII_WIDTHS, glyphWidth } from '../../sheet/index.ts'
import { withOneMore } from '../json/index.ts'

/** The widest value of each slot, in digits. */
export class WidthMeter {
  bySlot: Int32Array
  /** The same in characters, East Asian ones counted twice. */
  #characters: Int32Array
  /** How many texts were measured that are no longer than one before. */
  #tries: Int32Array

  constructor(slots: number) {
    this.bySlot = new Int32Array(slots)
    this.#characters = new Int32Array(slots)
    this.#tries = new Int32Array(slots)
  }

  /** A new slot, with that number. */
  add(slot: number): void {
    this.bySlot = withOneMore(this.bySlot, slot, 0)
    this.#characters = withOneMore(this.#characters, slot, 0)
    this.#tries = withOneMore(this.#tries, slot, 0)
  }

  widen(slot: number, width: number): void {
    if (width > this.bySlot[slot]!) this.bySlot[slot] = Math.min(WIDTH_CAP, width)
  }

  /** The text of a spooled string, between its quotes. */
  text(slot: number, bytes: Uint8Array, at: number, end: number): void {
    const characters = this.#characters[slot]!
    // A character never takes more columns than bytes, so most values need no measuring. Of nearly the same length the first ones show how
    // wide such texts are.
    if (characters >= WIDTH_CAP || end - at < characters * NEARLY) return
    if (end - at <= characters && this.#tries[slot]!++ >= MAX_TRIES) return
    measure(bytes, at, end)
    if (measured.characters > characters) this.#characters[slot] = measured.characters
    this.widen(slot, Math.round(measured.digits))
  }
}

/** No column is fitted wider than this, so nothing beyond it is measured. */
const WIDTH_CAP = 60

/** Beside a longest text, shorter ones can be wider only if they have about as many characters. */
const NEARLY = 0.8
const MAX_TRIES = 1000

/** What `measure` found: one object, because it is called for many values. */
const measured = { characters: 0, digits: 0 }

/**
 * Room that a spool string takes on screen; of several lines the longest rules. Narrow letters count as digits.
 * `at` and `end` are the bytes between the outer quotes, in which a quote is doubled.
 */
function measure(bytes: Uint8Array, at: number, end: number): void {
  let [mostCharacters, mostDigits, characters, digits] = [0, 0, 0, 0]
  let p = at
  while (p < end && characters < WIDTH_CAP) {
    const byte = bytes[p]!
    let own: number
    if (byte < 0x80) {
      p += byte === 0x22 ? 2 : 1
      own = ASCII_WIDTHS[byte]!
      if (byte === 0x0a) {
        mostCharacters = Math.max(mostCharacters, characters)
        mostDigits = Math.max(mostDigits, digits)
        characters = 0
        digits = 0
      }
    } else if (byte < 0xe0) {
      own = glyphWidth(((byte & 0x1f) << 6) | (bytes[p + 1]! & 0x3f), 2)
      p += 2
    } else if (byte < 0xf0) {
      const code = ((byte & 0x0f) << 12) | ((bytes[p + 1]! & 0x3f) << 6) | (bytes[p + 2]! & 0x3f)
      own = glyphWidth(code, 2)
      p += 3
    } else {
      own = 2
      p += 4
    }
    digits += own
    if (own > 0) characters += own === 2 ? 2 : 1
  }
  measured.characters = Math.min(WIDTH_CAP, Math.max(mostCharacters, characters))
  measured.digits = Math.max(measured.characters, mostDigits, digits)
}
