import { format } from 'numfmt'

/** Half days by their first letter. numfmt knows only AM/PM, which it is given instead. */
const HALF_DAY = /("[^"]*"|\\.)|a\/p/gi

/** A value under a number format, as a spreadsheet shows it. Throws for formats that only Excel knows. */
export function shownText(code: string, value: string | number): string {
  let letters = ''
  const known = code.replace(HALF_DAY, (found, literal?: string) => {
    if (literal !== undefined) return literal
    letters = found
    return 'AM/PM'
  })
  const text = format(known, value)
  if (letters === '') return text
  return text.replace(/[AP]M/, (half) => letters[half === 'AM' ? 0 : 2]!)
}
