const APOSTROPHE = 0x27

/** First characters by which a spreadsheet takes a text for a formula. */
export const FORMULA_CHARACTERS = '=+-@\t\r'

/** 1 = a byte that is one of them. */
export const FORMULA_START = new Uint8Array(256)
for (const char of FORMULA_CHARACTERS) FORMULA_START[char.charCodeAt(0)] = 1

/** Puts an apostrophe before the bytes from `at` to `end`, and returns where they end now. */
export function disarm(out: Uint8Array, at: number, end: number): number {
  // A loop: for the short texts of most cells, copyWithin costs several times as much.
  for (let p = end; p > at; p--) out[p] = out[p - 1]!
  out[at] = APOSTROPHE
  return end + 1
}
