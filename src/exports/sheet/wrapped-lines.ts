import { isWide } from './display-width.ts'

const QUOTE = 0x22
const LINE_FEED = 0x0a
const RETURN = 0x0d
const BLANK = 0x20
const HYPHEN = 0x2d
/** Capitals are wider than the digits by which a column's width is counted. */
const CAPITAL = 1.25

/**
 * Lines that a spool text takes in a cell with room for N characters, `most` at most. `at` and `end` are the bytes
 * between the outer quotes, in which a quote is doubled. Words stay whole, as in Excel, and East Asian wide characters,
 * which count twice, may be parted anywhere.
 */
export function wrappedLines(bytes: Uint8Array, at: number, end: number, room: number, most: number): number {
  let lines = 1
  let width = 0
  /** Width of the word so far. */
  let word = 0
  let p = at
  while (p < end && lines < most) {
    const byte = bytes[p]!
    let own = 1
    let wide = false
    if (byte < 0x80) {
      p += byte === QUOTE ? 2 : 1
      if (byte === LINE_FEED || byte === RETURN) {
        if (byte === RETURN && bytes[p] === LINE_FEED) p += 1
        lines += 1
        width = 0
        word = 0
        continue
      }
      if (byte <= BLANK) {
        // Blanks may hang over the edge.
        if (byte === BLANK) width += 1
        word = 0
        continue
      }
      if (byte >= 0x41 && byte <= 0x5a) own = CAPITAL
    } else if (byte < 0xe0) {
      p += 2
    } else if (byte < 0xf0) {
      wide = isWide(((byte & 0x0f) << 12) | ((bytes[p + 1]! & 0x3f) << 6) | (bytes[p + 2]! & 0x3f))
      p += 3
    } else {
      wide = true
      p += 4
    }
    if (wide) own = 2
    word = wide ? own : word + own
    width += own
    if (width > room) {
      lines += 1
      if (word > room) word = own
      width = word
    }
    if (wide || byte === HYPHEN) word = 0
  }
  return lines
}

/** The same for a text that is not in the spool. */
export function textLines(text: string, room: number, most: number): number {
  const bytes = Buffer.from(text.replaceAll('"', '""'))
  return wrappedLines(bytes, 0, bytes.length, room, most)
}
