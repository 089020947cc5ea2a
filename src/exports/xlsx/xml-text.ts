/** Longest text that a cell may hold, in UTF-16 units. */
export const MAX_TEXT = 32_767

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what XML cannot carry
const ILLEGAL = /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what XML cannot carry
const CONTROLS = /[\u0000-\u0008\u000b-\u001f]/
const LINE_ENDS = /\r\n?|[\v\f]/g
/** Inside of what a reader may take for an escape of Excel's, such as `_x000D_`. */
const INSIDE_ESCAPE = /(?<=_x[0-9A-Fa-f]{2})(?=[0-9A-Fa-f]{2}_)/
const MARKUP: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/**
 * A text as every reader of a workbook shows it. Line ends become line feeds. XML 1.0 cannot carry other control
 * characters, and their escapes (`_x0001_`) are shown as they are by openpyxl and partly by LibreOffice: they become
 * their pictures (U+2400 to U+241F), and what is no character becomes U+FFFD.
 */
export function readableText(text: string): string {
  return text.toWellFormed().replace(LINE_ENDS, '\n').replace(ILLEGAL, picture)
}

function picture(char: string): string {
  return char < ' ' ? String.fromCharCode(0x2400 + char.charCodeAt(0)) : '\ufffd'
}

/** What is no character, and has no picture. */
export const NO_CHARACTER = /[\ufffe\uffff]/

/** Whether a text holds control characters that a workbook has no place for, see `readableText`. Line ends do not count. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text.replace(LINE_ENDS, ''))
}

/** For texts that are readable already. */
export function escapeMarkup(text: string): string {
  return text.replace(/[&<>]/g, (char) => MARKUP[char]!)
}

/**
 * Texts that `<v>` would not bring through: blanks at either end get lost there, LibreOffice shows lines as one, and what looks like
 * an escape would be undone by some readers and not by others.
 */
export function needsInline(text: string): boolean {
  return /^[ \t]|[ \t]$|\n/.test(text) || looksEscaped(text)
}

export function looksEscaped(text: string): boolean {
  return INSIDE_ESCAPE.test(text)
}

/** The content of `<is>`. What looks like an escape is divided over two runs, so that no reader takes it for one. */
export function inlineText(text: string, font = ''): string {
  const pieces = text.split(INSIDE_ESCAPE)
  const texts = pieces.map((piece) => `<t xml:space="preserve">${escapeMarkup(piece)}</t>`)
  return font === '' && pieces.length === 1 ? texts[0]! : texts.map((t) => `<r>${font}${t}</r>`).join('')
}

/** For attribute values, where Excel knows no escapes: illegal characters are left out. */
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
