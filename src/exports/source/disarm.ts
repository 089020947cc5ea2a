const APOSTROPHE = 0x27

/** 1 = as a text's first byte it makes a spreadsheet take the text for a formula. */
export const FORMULA_START = new Uint8Array(256)
for (const char of '=+-@\t\r') FORMULA_START[char.charCodeAt(0)] = 1

/** Puts an apostrophe before the bytes from `at` to `end`, and returns where they end now. */
export function disarm(out: Uint8Array, at: number, end: number): number {
  // A loop: for the short texts of most cells, copyWithin costs several times as much.
  for (let p = end; p > at; p--) out[p] = out[p - 1]!
  out[at] = APOSTROPHE
  return end + 1
}
