const NEEDS_QUOTES = /[",\r\n]/
/** First characters by which a spreadsheet takes a text for a formula. */
const FORMULA_START = /^[=+\-@\t\r]/

/** One text as a CSV field, by the same rules by which spooled texts are written. */
export function csvText(text: string): string {
  const safe = FORMULA_START.test(text) ? `'${text}` : text
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A whole record with its line end; a lone empty field is quoted, because some readers skip blank lines. */
export function csvRecord(texts: readonly string[]): string {
  const line = texts.map(csvText).join(',')
  return `${line === '' ? '""' : line}\r\n`
}
