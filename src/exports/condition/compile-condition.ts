import type { Condition } from './condition.ts'
import { compileLike } from './like-pattern.ts'

type Scalar = string | number | boolean | null
/** What a cell may hold; a key that its row lacks is null. */
export type CellTest = (value: Scalar | undefined) => boolean

/**
 * Turns a condition into a test of one cell's value.
 *
 * - A number and a numeric text (`"12.50"`) compare as numbers, whichever of the two is in the cell. Two texts
 *   compare as texts, so that ISO dates come out right. Values of different kinds are unequal, and neither is the larger.
 * - Null fails every comparison but `= null`; `not` turns what it finds around, so `not = 5` holds for null.
 */
export function compileCondition(condition: Condition): CellTest {
  switch (condition.op) {
    case 'and': {
      const left = compileCondition(condition.left)
      const right = compileCondition(condition.right)
      return (value) => left(value) && right(value)
    }
    case 'or': {
      const left = compileCondition(condition.left)
      const right = compileCondition(condition.right)
      return (value) => left(value) || right(value)
    }
    case 'not': {
      const inner = compileCondition(condition.inner)
      return (value) => !inner(value)
    }
    case 'in': {
      const tests = condition.values.map(compileEquals)
      return (value) => tests.some((test) => test(value))
    }
    case 'like': {
      const matches = compileLike(condition.pattern)
      return (value) => value !== null && value !== undefined && matches(String(value))
    }
    case '=':
      return compileEquals(condition.value)
    case '!=': {
      const equals = compileEquals(condition.value)
      return (value) => value !== null && value !== undefined && !equals(value)
    }
    default:
      return compileOrder(condition.op, condition.value)
  }
}

function compileEquals(wanted: Scalar): CellTest {
  if (wanted === null) return (value) => value === null || value === undefined
  if (typeof wanted === 'boolean') return (value) => value === wanted
  const number = numberOf(wanted)
  if (typeof wanted === 'number') return (value) => numberOf(value) === wanted
  if (number === undefined) return (value) => value === wanted
  return (value) => value === wanted || (typeof value === 'number' && value === number)
}

function compileOrder(op: '>' | '>=' | '<' | '<=', wanted: Scalar): CellTest {
  const holds = ORDERS[op]
  const number = numberOf(wanted)
  return (value) => {
    if (typeof value === 'string' && typeof wanted === 'string') return holds(value, wanted)
    if (number === undefined) return false
    const found = numberOf(value)
    return found !== undefined && holds(found, number)
  }
}

const ORDERS = {
  '>': <T extends string | number>(a: T, b: T) => a > b,
  '>=': <T extends string | number>(a: T, b: T) => a >= b,
  '<': <T extends string | number>(a: T, b: T) => a < b,
  '<=': <T extends string | number>(a: T, b: T) => a <= b,
}

const NUMERIC = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/

function numberOf(value: Scalar | undefined): number | undefined {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || value.length > 400 || !NUMERIC.test(value)) return undefined
  return Number(value)
}
