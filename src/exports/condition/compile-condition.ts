import type { Condition, Literal } from './condition.ts'
import { compileLike } from './like-pattern.ts'
import { type LongNumber, orderOf, readNumber } from './long-number.ts'

/** What a cell may hold; a key that its row lacks is null. */
type Value = Literal | undefined
/** `date`: the cell's date in milliseconds, where it is one. */
export type CellTest = (value: Value, date?: number) => boolean
/** The date that a literal of a date column's condition is, in milliseconds; NaN: none. */
export type ReadDate = (literal: string | number) => number

/**
 * Turns a condition into a test of one cell's value.
 *
 * - A number and a numeric text (`"12.50"`) compare as numbers, whichever of the two is in the cell, and with every digit. Two
 *   texts compare as texts. Values of different kinds are unequal, and neither is the larger.
 * - In a date column (`readDate`), what reads as a date compares with the cell's date, and with nothing else.
 * - Null fails every comparison but `= null`; `not` turns what it finds around, so `not = 5` holds for null.
 */
export function compileCondition(condition: Condition, readDate?: ReadDate): CellTest {
  switch (condition.op) {
    case 'and': {
      const left = compileCondition(condition.left, readDate)
      const right = compileCondition(condition.right, readDate)
      return (value, date) => left(value, date) && right(value, date)
    }
    case 'or': {
      const left = compileCondition(condition.left, readDate)
      const right = compileCondition(condition.right, readDate)
      return (value, date) => left(value, date) || right(value, date)
    }
    case 'not': {
      const inner = compileCondition(condition.inner, readDate)
      return (value, date) => !inner(value, date)
    }
    case 'in': {
      const tests = condition.values.map((value) => compileEquals(value, readDate))
      return (value, date) => tests.some((test) => test(value, date))
    }
    case 'like': {
      const matches = compileLike(condition.pattern)
      return (value) => value !== null && value !== undefined && matches(textOf(value))
    }
    case '=':
      return compileEquals(condition.value, readDate)
    case '!=': {
      const equals = compileEquals(condition.value, readDate)
      return (value, date) => value !== null && value !== undefined && !equals(value, date)
    }
    default:
      return compileOrder(condition.op, condition.value, readDate)
  }
}

function compileEquals(wanted: Literal, readDate: ReadDate | undefined): CellTest {
  if (wanted === null) return (value) => value === null || value === undefined
  if (typeof wanted === 'boolean') return (value) => value === wanted
  const wantedDate = dateOf(wanted, readDate)
  if (!Number.isNaN(wantedDate)) return (_, date) => date === wantedDate
  const number = numberOf(wanted)
  if (number === undefined) return (value) => value === wanted
  if (typeof wanted !== 'string') return (value) => isSame(numberOf(value), number)
  return (value) => value === wanted || (typeof value !== 'string' && isSame(numberOf(value), number))
}

function compileOrder(
  op: '>' | '>=' | '<' | '<=',
  wanted: Literal,
  readDate: ReadDate | undefined,
): CellTest {
  const holds = ORDERS[op]
  const wantedDate = dateOf(wanted, readDate)
  if (!Number.isNaN(wantedDate)) return (_, date = Number.NaN) => holds(date, wantedDate)
  const number = numberOf(wanted)
  return (value) => {
    if (typeof value === 'string' && typeof wanted === 'string') return holds(value, wanted)
    if (number === undefined) return false
    const found = numberOf(value)
    if (typeof found === 'number' && typeof number === 'number') return holds(found, number)
    return found !== undefined && holds(orderOf(found, number), 0)
  }
}

const ORDERS = {
  '>': <T extends string | number>(a: T, b: T) => a > b,
  '>=': <T extends string | number>(a: T, b: T) => a >= b,
  '<': <T extends string | number>(a: T, b: T) => a < b,
  '<=': <T extends string | number>(a: T, b: T) => a <= b,
}

function dateOf(wanted: Literal, readDate: ReadDate | undefined): number {
  if (!readDate || (typeof wanted !== 'string' && typeof wanted !== 'number')) return Number.NaN
  return readDate(wanted)
}

function numberOf(value: Value): number | LongNumber | undefined {
  if (typeof value === 'number') return value
  if (typeof value === 'string') return readNumber(value)
  return typeof value === 'object' && value !== null ? value : undefined
}

function isSame(found: number | LongNumber | undefined, wanted: number | LongNumber): boolean {
  if (typeof found === 'number' && typeof wanted === 'number') return found === wanted
  return found !== undefined && orderOf(found, wanted) === 0
}

function textOf(value: Exclude<Value, null | undefined>): string {
  return typeof value === 'object' ? value.digits : String(value)
}
