import { excelSerialMillis, shownMillis, shownText } from '../sheet/index.ts'

const DAY = 86_400_000
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
]
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']

/** Milliseconds on a wall clock, counted like UTC, as a text. */
export type DateText = (wallClock: number) => string

type Piece = (date: Date) => string

const TOKENS = /"([^"]*)"|\\(.)|_.|\*.|\[[^\]]*\]|AM\/PM|A\/P|y+|m+|d+|h+|s+(?:\.0+)?|./gisu

/** Elapsed times, locales, and letters of other calendars. */
const UNCOMMON = /\[(?:h+|m+|s+|\$-[^\]]*)\]|[gebra]/i

/** What a format shows of a date. Common formats are taken apart once, which is quicker by far; others are shown by numfmt, as in a preview. */
export function dateText(format: string): DateText {
  const common = commonText(format)
  const letters = format.replace(
    /"[^"]*"|\\.|_.|\*.|\[(?:black|white|red|green|blue|yellow|cyan|magenta|color ?\d+)\]|general|am\/pm|a\/p/gi,
    '',
  )
  if (!UNCOMMON.test(letters)) return common
  const unit = shownMillis(format)
  return (wallClock) => {
    const serial = excelSerialMillis(Math.floor(wallClock / unit) * unit) / DAY
    try {
      return Number.isNaN(serial) ? common(wallClock) : shownText(format, serial)
    } catch {
      return common(wallClock)
    }
  }
}

/**
 * What a spreadsheet shows of a date by a number format. Of several sections the first counts; colours and locales in brackets
 * show nothing, and names are English.
 */
function commonText(format: string): DateText {
  const tokens = [...firstSection(format).matchAll(TOKENS)]
  const twelve = tokens.some(([token]) => /^a(?:m\/pm|\/p)$/i.test(token))
  const pieces = tokens.map((found, index) => pieceOf(found, { tokens, index, twelve }))
  return (wallClock) => {
    const date = new Date(wallClock)
    return pieces.map((piece) => piece(date)).join('')
  }
}

function firstSection(format: string): string {
  return /^(?:"[^"]*"|\\.|[^;"\\])*/su.exec(format)![0]
}

function pieceOf(
  [token, quoted, escaped]: RegExpExecArray,
  { tokens, index, twelve }: { tokens: RegExpExecArray[]; index: number; twelve: boolean },
): Piece {
  const literal = quoted ?? escaped
  if (literal !== undefined) return () => literal
  if (token.length > 1 && /^[_*[]/.test(token)) return () => ''
  const size = token.length
  switch (token[0]!.toLowerCase()) {
    case 'y':
      return (date) =>
        digits(size > 2 ? date.getUTCFullYear() : date.getUTCFullYear() % 100, size > 2 ? 4 : 2)
    case 'm':
      return isMinute(tokens, index)
        ? (date) => digits(date.getUTCMinutes(), size)
        : (date) => named(date.getUTCMonth() + 1, MONTHS[date.getUTCMonth()]!, size)
    case 'd':
      return (date) => named(date.getUTCDate(), DAYS[date.getUTCDay()]!, size)
    case 'h':
      return (date) => digits(twelve ? ((date.getUTCHours() + 11) % 12) + 1 : date.getUTCHours(), size)
    case 's':
      return seconds(token)
    case 'a': {
      if (size === 1) return () => token
      const [morning, evening] = token.split('/') as [string, string]
      return (date) => (date.getUTCHours() < 12 ? morning : evening)
    }
    default:
      return () => token
  }
}

/** `m` counts minutes after an hour, and before a second. */
function isMinute(tokens: RegExpExecArray[], index: number): boolean {
  const letters = (found: RegExpExecArray[]) => found.map(([token]) => token[0]!.toLowerCase())
  const isUnit = (letter: string) => 'ymdhs'.includes(letter)
  return (
    letters(tokens.slice(0, index)).findLast(isUnit) === 'h' ||
    letters(tokens.slice(index + 1)).find(isUnit) === 's'
  )
}

function seconds(token: string): Piece {
  const [whole = '', fraction = ''] = token.split('.')
  return (date) => {
    const text = digits(date.getUTCSeconds(), whole.length)
    if (fraction === '') return text
    return `${text}.${digits(date.getUTCMilliseconds(), 3).padEnd(fraction.length, '0').slice(0, fraction.length)}`
  }
}

function named(number: number, name: string, size: number): string {
  if (size <= 2) return digits(number, size)
  return size === 3 ? name.slice(0, 3) : size === 5 ? name[0]! : name
}

function digits(value: number, size: number): string {
  return String(value).padStart(size === 1 ? 1 : Math.max(2, size), '0')
}

/** Formats that show nothing of a date, such as `0.00`, are no formats for one. */
export function showsDate(format: string): boolean {
  return dateText(format)(0) !== dateText(format)(400 * DAY + 3_661_000)
}
