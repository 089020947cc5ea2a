import { ASCII_WIDTHS, type FieldDigits, glyphWidth } from '../../sheet/index.ts'
import { withOneMore } from '../json/index.ts'

/** The widest value of each slot, in digits. */
export class WidthMeter {
  bySlot: Int32Array
  /** The same in characters, East Asian ones counted twice. */
  #characters: Int32Array
  /** How many texts were measured that are no longer than one before. */
  #tries: Int32Array
  /** `PLACES` by slot, see `FieldDigits`. */
  #digits: Int32Array

  constructor(slots: number) {
    this.bySlot = new Int32Array(slots)
    this.#characters = new Int32Array(slots)
    this.#tries = new Int32Array(slots)
    this.#digits = new Int32Array(slots * PLACES)
  }

  /** A new slot, with that number. */
  add(slot: number): void {
    this.bySlot = withOneMore(this.bySlot, slot, 0)
    this.#characters = withOneMore(this.#characters, slot, 0)
    this.#tries = withOneMore(this.#tries, slot, 0)
    for (let n = 0; n < PLACES; n += 1) this.#digits = withOneMore(this.#digits, slot * PLACES + n, 0)
  }

  widen(slot: number, width: number): void {
    if (width > this.bySlot[slot]!) this.bySlot[slot] = Math.min(WIDTH_CAP, width)
  }

  /** A number, by its characters before the point and from there on. */
  number(slot: number, whole: number, rest: number): void {
    this.widen(slot, whole + rest)
    this.#more(slot * PLACES, whole, rest)
  }

  /** One with an exponent, by the digits that it has without. */
  exponential(slot: number, bytes: Uint8Array, at: number, end: number): void {
    const value = Number(Buffer.from(bytes.buffer, bytes.byteOffset + at, end - at).toString('latin1'))
    const [mantissa = '', power = ''] = value.toExponential().split('e')
    const exponent = Number(power)
    const isShown = Number.isFinite(value) && exponent < KEPT_DIGITS
    const sign = value < 0 ? 1 : 0
    const decimals = Math.max(0, mantissa.length - sign - 2 - exponent)
    const whole = Math.max(1, exponent + 1) + sign
    const rest = decimals > 0 ? decimals + 1 : 0
    this.widen(slot, Math.max(end - at, Math.min(whole + rest, GENERAL)))
    if (isShown) this.#more(slot * PLACES, whole, rest)
    else {
      this.#more(slot * PLACES, Math.min(end - at, KEPT_DIGITS), 0)
      if (Number.isFinite(value)) this.#most(slot * PLACES + POWER, whole)
    }
  }

  digitsOf(slot: number): FieldDigits {
    const at = slot * PLACES
    const [whole = 0, rest = 0, textWhole = 0, textRest = 0, power = 0, texts = 0] = this.#digits.subarray(
      at,
      at + PLACES,
    )
    return [whole, rest, textWhole, textRest, power, texts]
  }

  restoreDigits(slot: number, digits: FieldDigits): void {
    const [whole, rest, textWhole, textRest, power = 0, texts = this.bySlot[slot]!] = digits
    this.#digits.set([whole, rest, textWhole, textRest, power, texts], slot * PLACES)
  }

  #more(at: number, whole: number, rest: number): void {
    this.#most(at, whole)
    this.#most(at + 1, rest)
  }

  #most(at: number, size: number): void {
    if (size > this.#digits[at]!) this.#digits[at] = Math.min(WIDTH_CAP, size)
  }

  /** Of a text that begins like a number. */
  #numericText(slot: number, bytes: Uint8Array, at: number, end: number): void {
    let p = bytes[at] === 0x2d ? at + 1 : at
    while (p < end && bytes[p]! >= 0x30 && bytes[p]! <= 0x39) p += 1
    const whole = p - at
    if (p < end && bytes[p] === 0x2e) for (p += 1; p < end && bytes[p]! >= 0x30 && bytes[p]! <= 0x39; ) p += 1
    if (p === end) this.#more(slot * PLACES + 2, whole, end - at - whole)
  }

  /** The text of a spooled string, between its quotes. */
  text(slot: number, bytes: Uint8Array, at: number, end: number): void {
    const first = bytes[at]!
    if (first >= 0x2d && first <= 0x39) this.#numericText(slot, bytes, at, end)
    const characters = this.#characters[slot]!
    // A character never takes more columns than bytes, so most values need no measuring. Of nearly the same length the first ones show how
    // wide such texts are.
    if (characters >= WIDTH_CAP || end - at < characters * NEARLY) return
    if (end - at <= characters && this.#tries[slot]!++ >= MAX_TRIES) return
    measure(bytes, at, end)
    if (measured.characters > characters) this.#characters[slot] = measured.characters
    const width = Math.round(measured.digits)
    this.widen(slot, width)
    this.#most(slot * PLACES + TEXTS, width)
  }
}

/** Of `FieldDigits`. */
const PLACES = 6
const POWER = 4
const TEXTS = 5
/** Digits that a spreadsheet keeps. */
const KEPT_DIGITS = 15
/** Characters that `General` shows of a number. */
const GENERAL = 11

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
