import type { CellType } from '../sheet-plan.ts'

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

/**
 * Excel refuses to open a file with a format that it cannot read, so formats that are surely broken are not let in: too
 * long, more than four sections, quotes, brackets or escapes left open, control characters.
 */
export function isUsableFormat(format: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not come in
  if (format.length === 0 || format.length > 255 || /[\u0000-\u001f]/.test(format)) return false
  const literals = /"[^"]*"|\\.|_.|\*./gsu
  const bare = format.replace(literals, '')
  if (/["\\]/.test(bare)) return false
  const withoutBrackets = bare.replace(/\[[^[\]]*\]/g, '')
  if (/[[\]]/.test(withoutBrackets)) return false
  return withoutBrackets.split(';').length <= 4
}

/** Whether a date format shows hours, minutes or seconds. */
export function showsTime(format: string): boolean {
  return /[hs]/i.test(format.replace(/"[^"]*"|\\.|\[\$?[^\]]*\]/g, ''))
}
