import { dateOfDigits, LONG, MISFITS, ROUNDED } from '../../sheet/index.ts'
import { COMMA, NEWLINE } from './byte-classes.ts'
import { addValue } from './column-totals.ts'
import {
  AS_BOOLEAN,
  AS_DATE,
  AS_INTEGER,
  AS_TEXT,
  BARE,
  type CompiledColumn,
  KINDS,
  NUMBER,
} from './compiled-column.ts'
import type { Cursor } from './cursor.ts'
import { writeDate } from './date-cell.ts'
import { cutTo } from './date-unit.ts'
import { closeCell, copyCell, openCell } from './open-cell.ts'
import { rawTextCell, slowText } from './text-cell.ts'

/** Excel keeps 15 significant digits. Fractions are rounded to them; a longer integer is most often an id, and stays text. */
const DIGITS = 15
/** That is not denormal. */
const SMALLEST = 2.2250738585072014e-308
const POWERS = Float64Array.from({ length: DIGITS + 1 }, (_, n) => 10 ** n)
const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/

/** Writes the unquoted number at the cursor. */
export function numberCell(c: Cursor, column: CompiledColumn): void {
  const start = c.i
  const end = scanDecimal(c.input, start)
  const last = digits > DIGITS && point >= 0 ? withoutZeros(c.input, start, end) : end
  const next = c.input[end]
  const short = digits > 0 && digits <= DIGITS && (next === COMMA || next === NEWLINE)
  if (!short || column.mode === AS_TEXT || (column.mode === AS_INTEGER && point >= 0)) {
    c.i = fieldEnd(c, end)
    slowNumber(c, column, start, c.i)
    return
  }
  c.i = end
  const date = column.mode === AS_DATE ? dateHere(c, column, start) : Number.NaN
  const variant =
    column.conditions === null ? 0 : column.conditions.pick(decimal(c.input[start] === 0x2d), date)
  if (column.mode >= AS_DATE) {
    if (!Number.isNaN(date) && writeDate(c, column, date, variant)) return
    c.facts[column.facts + MISFITS]! += 1
  }
  if (column.totals >= 0) addValue(c.totals, column.totals, decimal(c.input[start] === 0x2d))
  const isBare = column.mode === AS_DATE || (point >= 0 && scannedSmall(column))
  copyCell(c, column, variant * KINDS + (isBare ? BARE : NUMBER), start, last)
}

/** The number just scanned as a date, if that is what its digits are. */
function dateHere(c: Cursor, column: CompiledColumn, start: number): number {
  if (point >= 0 || c.input[start] === 0x2d) return Number.NaN
  return cutTo(dateOfDigits(mantissa, digits, c.zone), column.unit)
}

/** Writes a text of a numeric column as a number, if that is what it is. The text's bytes are `start` to `end`. */
export function numericText(c: Cursor, column: CompiledColumn, start: number, end: number): boolean {
  const stop = scanDecimal(c.input, start)
  const first = c.input[start] === 0x2d ? start + 1 : start
  const leadingZero = c.input[first] === 0x30 && first + 1 < stop && c.input[first + 1] !== 0x2e
  const whole = stop === end && c.input[end - 1] !== 0x2e && c.input[first] !== 0x2e
  if (
    whole &&
    digits > 0 &&
    digits <= DIGITS &&
    !leadingZero &&
    !(column.mode === AS_INTEGER && point >= 0)
  ) {
    const variant = column.conditions === null ? 0 : column.conditions.pick(decimal(first !== start))
    if (column.totals >= 0) addValue(c.totals, column.totals, decimal(first !== start))
    copyCell(c, column, variant * KINDS + (point >= 0 && scannedSmall(column) ? BARE : NUMBER), start, end)
    return true
  }
  if (end - start > 400) return false
  return writeParsed(c, column, c.input.toString('latin1', start, end))
}

/** Results of the last scan. They are module variables, so that a scan allocates nothing. */
let digits = 0
let point = -1
let mantissa = 0

/** Leaves out the zeros at the end of a fraction, of which databases write many, and scans what remains. */
function withoutZeros(input: Buffer, start: number, end: number): number {
  let last = end
  while (input[last - 1] === 0x30) last -= 1
  if (input[last - 1] === 0x2e) last -= 1
  scanDecimal(input, start, last)
  return last
}

/** Runs over `-`, digits and one point, up to `end`; gives the first byte that is not one of them. */
function scanDecimal(input: Buffer, start: number, end = input.length): number {
  let i = input[start] === 0x2d ? start + 1 : start
  let count = 0
  let place = -1
  let sum = 0
  for (; i < end; i += 1) {
    const digit = input[i]! - 48
    if (digit >= 0 && digit <= 9) {
      count += 1
      sum = sum * 10 + digit
    } else if (digit === -2 && place < 0) {
      place = count
    } else {
      break
    }
  }
  digits = count
  point = place
  mantissa = sum
  return i
}

/** The number just scanned. Exact, as both parts are: at most 15 digits, and a power of ten below 10^22. */
function decimal(negative: boolean): number {
  const value = point < 0 ? mantissa : mantissa / POWERS[digits - point]!
  return negative ? -value : value
}

/** Whether the number just scanned, which has a point, would be shown as zero. */
function scannedSmall(column: CompiledColumn): boolean {
  // Where no number of the column is small, the limit is 0.
  return mantissa < column.smallLimit * POWERS[digits - point]! && isSmall(column, decimal(false))
}

function isSmall({ small, smallLimit }: CompiledColumn, value: number): boolean {
  const size = Math.abs(value)
  return size >= small && size < smallLimit
}

function slowNumber(c: Cursor, column: CompiledColumn, start: number, end: number): void {
  if (column.mode === AS_TEXT) {
    rawTextCell(c, column, start, end)
    return
  }
  const text = c.input.toString('latin1', start, end)
  if (writeParsed(c, column, text)) return
  c.facts[column.facts + MISFITS]! += 1
  const long = isLongNumber(text)
  if (long) c.facts[column.facts + LONG]! += 1
  const value = long ? { digits: text } : NUMERIC.test(text) ? Number(text) : text
  slowText(c, column, column.conditions?.pick(value) ?? 0, text)
}

function writeParsed(c: Cursor, column: CompiledColumn, text: string): boolean {
  if (!NUMERIC.test(text) || isLongNumber(text)) return false
  const value = rounded(text)
  // Excel knows neither infinite nor denormal numbers, and no double is as small as 1e-400: such a value is kept as it was written.
  if (!Number.isFinite(value) || Math.abs(value) < SMALLEST) {
    if (value !== 0 || significantDigits(text) > 0) return false
  }
  if (losesCents(text, value)) c.facts[column.facts + ROUNDED]! += 1
  const { mode } = column
  const isMisfit = mode === AS_DATE || (mode === AS_INTEGER && !Number.isInteger(value))
  const isBare = isMisfit || isSmall(column, value)
  if (isMisfit || mode === AS_BOOLEAN) c.facts[column.facts + MISFITS]! += 1
  openCell(c, column, (column.conditions?.pick(value) ?? 0) * KINDS + (isBare ? BARE : NUMBER))
  if (column.totals >= 0) addValue(c.totals, column.totals, value)
  c.writeText(String(value))
  closeCell(c, c.o)
  return true
}

/** Whether the digits before the point, written out, are more than a number can hold. */
export function isLongNumber(text: string): boolean {
  return /^\s*[+-]?0*[1-9]\d{15,}(?:\.\d*)?\s*$/.test(text)
}

/** Only with 14 or 15 digits before the point do the 15 that are kept leave less than two after it. */
const FEW_CENTS = /^\s*[+-]?0*([1-9]\d{13,14})\.(\d+)\s*$/

/** Whether a number that is rounded has other cents than the one that was written. Digits beyond them are most often noise. */
function losesCents(text: string, kept: number): boolean {
  const [, whole = '', fraction = ''] = FEW_CENTS.exec(text) ?? []
  if (whole === '') return false
  const cents = BigInt(`${whole}${fraction.slice(0, 2).padEnd(2, '0')}`) + (fraction[2]! >= '5' ? 1n : 0n)
  const tenths = BigInt(Math.round(Math.abs(kept) * 10))
  return cents !== tenths * 10n
}

function rounded(text: string): number {
  const value = Number(text)
  return significantDigits(text) > DIGITS ? Number(value.toPrecision(DIGITS)) : value
}

function significantDigits(text: string): number {
  const written = text.replace(/[eE].*$/s, '').replace(/\D/g, '')
  return written.replace(/^0+/, '').length
}

function fieldEnd(c: Cursor, from: number): number {
  let i = from
  while (i < c.end && c.input[i] !== COMMA && c.input[i] !== NEWLINE) i += 1
  return i
}
