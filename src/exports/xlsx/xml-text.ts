/** Longest text that a cell may hold, in UTF-16 units. */
export const MAX_TEXT = 32_767

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what XML cannot carry
const ILLEGAL = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g
const LOOKS_ESCAPED = /_(?=x[0-9A-Fa-f]{4}_)/g
const MARKUP: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * A cell's text as XML. What XML 1.0 cannot carry becomes `_xHHHH_`, which is Excel's own way, carriage returns
 * included (a parser would turn them into line feeds); text that looks like such an escape has its first `_` escaped.
 */
export function escapeCellText(text: string): string {
  return text
    .toWellFormed()
    .replace(LOOKS_ESCAPED, '_x005F_')
    .replace(ILLEGAL, (char) => `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(/[&<>]/g, (char) => MARKUP[char]!)
}

/** For attribute values, where Excel knows no `_xHHHH_`: illegal characters are left out. */
export function escapeAttribute(text: string): string {
  return text
    .toWellFormed()
    .replace(ILLEGAL, '')
    .replace(/[&<>"]/g, (char) => MARKUP[char]!)
    .replace(/[\n\t]/g, ' ')
}

/** The longest beginning that a cell may hold; a surrogate pair stays whole. */
export function cutToCell(text: string): string {
  if (text.length <= MAX_TEXT) return text
  const last = text.charCodeAt(MAX_TEXT - 1)
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? MAX_TEXT - 1 : MAX_TEXT)
}

/** Blanks at either end get lost in `<v>`; such texts are written as inline strings, which may say `xml:space`. */
export function hasOuterBlank(text: string): boolean {
  return /^[ \t\n\r]|[ \t\n\r]$/.test(text)
}
