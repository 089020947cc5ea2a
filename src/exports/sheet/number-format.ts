import type { CellType } from './sheet-plan.ts'

/** Formats that Excel knows by number; the others get numbers from 164 on. */
export const BUILT_IN_FORMATS: ReadonlyMap<string, number> = new Map([
  ['General', 0],
  ['0', 1],
  ['0.00', 2],
  ['#,##0', 3],
  ['#,##0.00', 4],
  ['0%', 9],
  ['0.00%', 10],
  ['0.00E+00', 11],
  ['@', 49],
])

const DEFAULTS: Partial<Record<CellType, string>> = {
  integer: '0',
  money: '#,##0.00',
  percent: '0.00%',
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
}

export function defaultFormat(type: CellType): string | undefined {
  return DEFAULTS[type]
}

const BRACKETS =
  /^(?:black|white|red|green|blue|yellow|cyan|magenta|color ?\d{1,2}|[<>=]{1,2}-?[\d.]+(?:e[+-]?\d+)?|\$.*|h+|m+|s+|dbnum\d|natnum\d+)$/i
/** Letters that mean something by themselves: parts of dates and times. */
const DATE_LETTERS = /[ymdhsegbra]/gi

/** Excel refuses to open a file with a format that it cannot read. What is wrong with one, or nothing. */
export function formatFault(format: string): string | undefined {
  if (format.length === 0) return 'it is empty'
  if (format.length > 255) return 'it is longer than 255 characters'
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come in
  if (/[\u0000-\u001f]/.test(format)) return 'it has control characters'
  const bare = format.replace(/"[^"]*"|\\.|_.|\*./gsu, '')
  if (/["\\]/.test(bare)) return 'a quote or a backslash is left open'
  const inside = Array.from(bare.matchAll(/\[([^[\]]*)\]/g), (found) => found[1]!)
  const unknown = inside.find((text) => !BRACKETS.test(text))
  if (unknown !== undefined) return `[${unknown}] means nothing`
  const outside = bare.replace(/\[[^[\]]*\]/g, '')
  if (/[[\]]/.test(outside)) return 'a bracket is left open'
  if (outside.split(';').length > 4) return 'it has more than four sections'
  const words = outside.replace(/general|am\/pm|a\/p|e[+-]/gi, '').replace(DATE_LETTERS, '')
  const letters = /[a-z]+/i.exec(words)
  return letters ? `text such as "${letters[0]}" must be in quotes` : undefined
}

export function isUsableFormat(format: string): boolean {
  return formatFault(format) === undefined
}

/** Whether a date format shows hours, minutes or seconds. */
export function showsTime(format: string): boolean {
  return /[hs]/i.test(format.replace(/"[^"]*"|\\.|\[\$?[^\]]*\]/g, ''))
}

const SECOND = 1_000

/**
 * Milliseconds of the smallest part of a second that a date format shows, a second where it shows none: spreadsheets round to the
 * second, and would show the next day for 23:59:59.999. 1 where the format shows no date at all.
 */
export function shownMillis(format: string): number {
  const parts = format.replace(/"[^"]*"|\\.|_.|\*.|\[(?!(?:h+|m+|s+)\])[^\]]*\]/gi, '')
  if (!/[ymdhs]/i.test(parts)) return 1
  const fractions = Array.from(parts.matchAll(/s\]?\.(0+)/gi), ([, zeros]) => zeros!.length)
  return SECOND / 10 ** Math.min(3, Math.max(0, ...fractions))
}
