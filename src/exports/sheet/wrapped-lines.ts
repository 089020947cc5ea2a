import { ASCII_WIDTHS, glyphWidth, isWide } from './glyph-width.ts'

const QUOTE = 0x22
const LINE_FEED = 0x0a
const RETURN = 0x0d
const BLANK = 0x20
const HYPHEN = 0x2d

/** A line of a cell, in digits of its font; `wide` is the width of a Chinese character. */
export interface Line {
  room: number
  wide: number
}

/**
 * Lines that a spool text takes in a cell, `most` at most. `at` and `end` are the bytes between the outer quotes, in which a
 * quote is doubled. Words stay whole, as in Excel, and East Asian wide characters may be parted anywhere.
 */
export function wrappedLines(
  bytes: Uint8Array,
  at: number,
  end: number,
  { room, wide }: Line,
  most: number,
): number {
  let lines = 1
  let width = 0
  /** Width of the word so far. */
  let word = 0
  let p = at
  while (p < end && lines < most) {
    const byte = bytes[p]!
    let own: number
    let parts = byte === HYPHEN
    if (byte < 0x80) {
      p += byte === QUOTE ? 2 : 1
      own = ASCII_WIDTHS[byte]!
      if (byte <= BLANK) {
        word = 0
        // Blanks may hang over the edge.
        width += own
        if (byte === LINE_FEED || byte === RETURN) {
          if (byte === RETURN && bytes[p] === LINE_FEED) p += 1
          lines += 1
          width = 0
        }
        continue
      }
    } else if (byte < 0xe0) {
      own = glyphWidth(((byte & 0x1f) << 6) | (bytes[p + 1]! & 0x3f), wide)
      p += 2
    } else if (byte < 0xf0) {
      const code = ((byte & 0x0f) << 12) | ((bytes[p + 1]! & 0x3f) << 6) | (bytes[p + 2]! & 0x3f)
      own = glyphWidth(code, wide)
      parts = isWide(code)
      p += 3
    } else {
      own = wide
      parts = true
      p += 4
    }
    word = parts && byte !== HYPHEN ? own : word + own
    width += own
    if (width > room) {
      lines += 1
      if (word > room) word = own
      width = word
    }
    if (parts) word = 0
  }
  return lines
}

/** Hundredths of a digit that a byte of a spool text may stand for: the bytes of a character beyond ASCII share its width. */
const MOST = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x80 ? Math.round(ASCII_WIDTHS[byte]! * 100) : 72,
)

/** Whether a text without line feeds surely fits one line. Much quicker than to count lines, and true of most texts. */
export function fitsLine(bytes: Uint8Array, at: number, end: number, { room }: Line): boolean {
  let width = 0
  for (let p = at; p < end; p += 1) width += MOST[bytes[p]!]!
  return width <= room * 100
}

/** The same for a text that is not in the spool. */
export function textLines(text: string, line: Line, most: number): number {
  const bytes = Buffer.from(text.replaceAll('"', '""'))
  return wrappedLines(bytes, 0, bytes.length, line, most)
}
