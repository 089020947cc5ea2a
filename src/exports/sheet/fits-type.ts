import { readIsoDate } from './iso-date.ts'
import { linkTarget } from './link-target.ts'
import type { CellType } from './sheet-plan.ts'
import { Timezone } from './timezone.ts'

/** What the values of a column are checked for. */
export const UNCHECKED = 0
const A_NUMBER = 1
const AN_INTEGER = 2
const A_BOOLEAN = 3
const A_DATE = 4
const AN_ADDRESS = 5

const CHECKS: Record<CellType, number> = {
  auto: UNCHECKED,
  string: UNCHECKED,
  link: AN_ADDRESS,
  number: A_NUMBER,
  money: A_NUMBER,
  percent: A_NUMBER,
  integer: AN_INTEGER,
  boolean: A_BOOLEAN,
  date: A_DATE,
  datetime: A_DATE,
}

const QUOTE = 0x22
const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/
const BOOLEAN = /^(?:true|false)$/i
/** No number is longer. */
const MAX_NUMBER = 400
/** Which dates there are does not depend on the zone. */
const ZONE = new Timezone('UTC')

/** By the type of a column. */
export function checkOf(type: CellType): number {
  return CHECKS[type]
}

/**
 * Whether a value is of the type that its column asks for: `start` to `end` is a number, `true`, `false`, or a text with its quotes.
 * Nothing, null and the empty text fit every type.
 */
export function fitsType(check: number, bytes: Buffer, start: number, end: number): boolean {
  if (end === start) return true
  const first = bytes[start]!
  if (first === QUOTE) return end - start <= 2 || textFits(check, bytes, start + 1, end - 1)
  if (first === 0x6e) return true // null
  if (first === 0x74 || first === 0x66) return check === A_BOOLEAN
  if (check === A_DATE) return isDate(bytes, start, end)
  if (check === AN_INTEGER) return isWhole(bytes, start, end)
  return check === A_NUMBER
}

/** The same for a text without its quotes. */
export function textFits(check: number, bytes: Buffer, start: number, end: number): boolean {
  if (end === start) return true
  if (check === A_DATE) return isDate(bytes, start, end)
  if (check === AN_ADDRESS) return linkTarget(bytes.toString('utf8', start, end).trim()) !== null
  if (check === A_BOOLEAN) return end - start <= 5 && BOOLEAN.test(bytes.toString('latin1', start, end))
  if (isPlainInteger(bytes, start, end)) return true
  if (end - start > MAX_NUMBER || !NUMERIC.test(bytes.toString('latin1', start, end))) return false
  return check === A_NUMBER || isWhole(bytes, start, end)
}

/** The same for a number or a boolean as JSON has it, in a column that is not of dates. */
export function plainFits(check: number, value: string): boolean {
  if (value === 'true' || value === 'false') return check === A_BOOLEAN
  return check === A_NUMBER || (check === AN_INTEGER && Number.isInteger(Number(value)))
}

function isDate(bytes: Buffer, start: number, end: number): boolean {
  return !Number.isNaN(readIsoDate(bytes, start, end, ZONE))
}

function isWhole(bytes: Buffer, start: number, end: number): boolean {
  return isPlainInteger(bytes, start, end) || Number.isInteger(Number(bytes.toString('latin1', start, end)))
}

function isPlainInteger(bytes: Buffer, start: number, end: number): boolean {
  let p = bytes[start] === 0x2d ? start + 1 : start
  if (p === end) return false
  for (; p < end; p++) if (bytes[p]! < 0x30 || bytes[p]! > 0x39) return false
  return true
}
