/** Ranges that East Asian fonts draw two columns wide, emoji included. Ascending pairs of first and last code point. */
const WIDE = [
  0x1100, 0x115f, 0x231a, 0x231b, 0x2329, 0x232a, 0x23e9, 0x23ec, 0x2e80, 0x303e, 0x3041, 0x33ff, 0x3400,
  0x4dbf, 0x4e00, 0x9fff, 0xa000, 0xa4cf, 0xa960, 0xa97f, 0xac00, 0xd7a3, 0xf900, 0xfaff, 0xfe10, 0xfe19,
  0xfe30, 0xfe6f, 0xff00, 0xff60, 0xffe0, 0xffe6, 0x16fe0, 0x18dff, 0x1af00, 0x1b2ff, 0x1f200, 0x1f2ff,
  0x1f300, 0x1f64f, 0x1f680, 0x1f6ff, 0x1f900, 0x1f9ff, 0x20000, 0x3fffd,
]

/** Columns of the widest line of a text. */
export function displayWidth(text: string): number {
  let widest = 0
  let line = 0
  for (const char of text) {
    const code = char.codePointAt(0)!
    if (code === 0x0a) {
      widest = Math.max(widest, line)
      line = 0
    } else if (code >= 0x20 && !isMark(code)) {
      line += isWide(code) ? 2 : 1
    }
  }
  return Math.max(widest, line)
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
