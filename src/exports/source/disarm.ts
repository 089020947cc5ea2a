const APOSTROPHE = 0x27

/** First characters by which a spreadsheet takes a text for a formula; the last four are full-width. */
export const FORMULA_CHARACTERS = '=+-@\t\r\n\0\uff1d\uff0b\uff0d\uff20'

const STARTS = Array.from(FORMULA_CHARACTERS, (char) => Buffer.from(char))
/** What a text's first byte says: 0 no formula, 1 a formula, 2 the next bytes decide. */
export const FORMULA_START = new Uint8Array(256)
for (const start of STARTS) FORMULA_START[start[0]!] = start.length === 1 ? 1 : 2

/**
 * Puts an apostrophe before the text from `at` to `end` if it begins like a formula, and returns where it ends now. To be asked
 * when `FORMULA_START` of its first byte is not 0.
 */
export function disarm(out: Uint8Array, at: number, end: number): number {
  if (
    FORMULA_START[out[at]!] === 2 &&
    !STARTS.some((start) => start.every((byte, n) => out[at + n] === byte))
  )
    return end
  // A loop: for the short texts of most cells, copyWithin costs several times as much.
  for (let p = end; p > at; p--) out[p] = out[p - 1]!
  out[at] = APOSTROPHE
  return end + 1
}
