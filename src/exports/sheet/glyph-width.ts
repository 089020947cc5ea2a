/** Ranges that East Asian fonts draw two columns wide, emoji included. Ascending pairs of first and last code point. */
const WIDE = [
  0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x2e80, 0x303e, 0x3041, 0x33ff, 0x3400,
  0x4dbf, 0x4e00, 0x9fff, 0xa000, 0xa4cf, 0xa960, 0xa97f, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19,
  0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x18dff, 0x1af00, 0x1b2ff, 0x1f200, 0x1f2ff,
  0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1f9ff, 0x20000, 0x3fffd,
]

/**
 * Widths of characters, as multiples of a digit of the same font, in which widths of columns are counted. Each is that of the wider of
 * Microsoft YaHei and Calibri on a screen, so that a row is rather too high than too low.
 */
const WIDTHS: [string, number][] = [
  ["ijlI.,:;'|", 0.5],
  [' ', 0.57],
  ['frtJ()[]-/\\!"`', 0.75],
  ['cksvxyzFL*_', 0.9],
  ['bdgopqBEKPRSTXYZ', 1.12],
  ['wACDGHNOQUV#&+<=>~^', 1.35],
  ['mMW@%', 1.75],
]
const DIGIT = 1
const SMALL = 1.1
const CAPITAL = 1.35
/** Dashes, arrows, boxes, numbers in circles: as wide as a Chinese character in fonts that have these. */
const SYMBOL = 2

/** By code. */
export const ASCII_WIDTHS = new Float64Array(128).fill(DIGIT)
for (const [characters, width] of WIDTHS)
  for (const character of characters) ASCII_WIDTHS[character.charCodeAt(0)] = width
ASCII_WIDTHS.fill(0, 0, 0x20)

export const WIDEST_ASCII = 1.75

/** Of a character beyond ASCII; `wide` is the width of a Chinese one. */
export function glyphWidth(code: number, wide: number): number {
  if (isWide(code)) return wide
  if (isMark(code)) return 0
  if (isCapital(code)) return CAPITAL
  return code === 0x2014 || code === 0x2026 || (code >= 0x2100 && code <= 0x2bff) ? SYMBOL : SMALL
}

/** Of the alphabets that are used most: Latin with accents, Greek, Cyrillic. */
function isCapital(code: number): boolean {
  return (
    (code >= 0xc0 && code <= 0xde) || (code >= 0x391 && code <= 0x3a9) || (code >= 0x400 && code <= 0x42f)
  )
}

/** Whether a code point is drawn two columns wide. */
export function isWide(code: number): boolean {
  if (code < 0x1100) return false
  if (code >= 0x4e00 && code <= 0x9fff) return true
  for (let n = 0; n < WIDE.length && code >= WIDE[n]!; n += 2) if (code <= WIDE[n + 1]!) return true
  return false
}

/** Marks that are drawn over the character before them. */
function isMark(code: number): boolean {
  return (
    (code >= 0x300 && code <= 0x36f) ||
    code === 0x200b ||
    code === 0x200d ||
    (code >= 0xfe00 && code <= 0xfe0f)
  )
}
