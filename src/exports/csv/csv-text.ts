import { FORMULA_CHARACTERS } from '../source/index.ts'

/** One text as a CSV field, by the same rules by which the rows' texts are written. */
export function csvText(text: string): string {
  const safe = text !== '' && FORMULA_CHARACTERS.includes(text[0]!) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
