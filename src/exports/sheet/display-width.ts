import { ASCII_WIDTHS, glyphWidth } from './glyph-width.ts'

/** Width of the widest line of a text, in digits. A line of narrow letters counts as many digits as it has characters. */
export function displayWidth(text: string): number {
  return Math.max(...text.split('\n').map(lineWidth))
}

function lineWidth(line: string): number {
  let characters = 0
  let width = 0
  for (const char of line) {
    const code = char.codePointAt(0)!
    const own = code < 0x80 ? ASCII_WIDTHS[code]! : glyphWidth(code, 2)
    width += own
    if (own > 0) characters += own === 2 ? 2 : 1
  }
  return Math.max(characters, width)
}
