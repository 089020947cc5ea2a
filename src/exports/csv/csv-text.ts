/** First characters by which a spreadsheet takes a text for a formula. */
const FORMULA_START = /^[=+\-@\t\r]/

/** One text as a CSV field, by the same rules by which the rows' texts are written. */
export function csvText(text: string): string {
  const safe = FORMULA_START.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
