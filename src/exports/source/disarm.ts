const APOSTROPHE = 0x27

/** First characters by which a spreadsheet takes a text for a formula; the last four are full-width. */
const FORMULA_CHARACTERS = '=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20'

const STARTS = Array.from(FORMULA_CHARACTERS, (char) => Buffer.from(char))
/** What a text's first byte says: 0 no formula, 1 a formula, 2 the next bytes decide, 3 a sign: all of it decides. */
export const FORMULA_START = new Uint8Array(256)
for (const start of STARTS) FORMULA_START[start[0]!] = start.length === 1 ? 1 : 2
for (const sign of '+-') FORMULA_START[sign.charCodeAt(0)] = 3

/**
 * A signed text with nothing but digits and what numbers and phone numbers are written with (`-12.50`, `+86 138-0013`, a lone
 * `-`) has nothing in it that a formula could call or refer to. With an exponent it must be a number: `-E5` is a cell.
 */
const PLAIN_SIGNED = /^[+-](?:[\d .,()%-]*|\d+(?:\.\d*)?e[+-]?\d+)$/i
const PLAIN = new Uint8Array(256)
for (const char of '0123456789 .,()%-') PLAIN[char.charCodeAt(0)] = 1
const SMALL_E = 0x65

/** Whether a spreadsheet would take the text for a formula. */
export function isFormula(text: string): boolean {
  return text !== '' && FORMULA_CHARACTERS.includes(text[0]!) && !PLAIN_SIGNED.test(text)
}

/**
 * Puts an apostrophe before the text from `at` to `end`, which is behind its closing quote, if it is like a formula, and
 * returns where it ends now. To be asked when `FORMULA_START` of its first byte is not 0.
 */
export function disarm(out: Uint8Array, at: number, end: number): number {
  const start = FORMULA_START[out[at]!]!
  if (start === 3 && isPlainSigned(out, at, end - 1)) return end
  if (start === 2 && !STARTS.some((bytes) => bytes.every((byte, n) => out[at + n] === byte))) return end
  // A loop: for the short texts of most cells, copyWithin costs several times as much.
  for (let p = end; p > at; p--) out[p] = out[p - 1]!
  out[at] = APOSTROPHE
  return end + 1
}

function isPlainSigned(bytes: Uint8Array, at: number, end: number): boolean {
  let p = at + 1
  while (p < end && PLAIN[bytes[p]!] === 1) p++
  if (p === end) return true
  return (
    (bytes[p]! | 0x20) === SMALL_E &&
    PLAIN_SIGNED.test(Buffer.from(bytes.subarray(at, end)).toString('latin1'))
  )
}
