import type { Condition } from '../template/condition.ts'
import type { CellValue } from './condition-styles.ts'

/** Tests one cell's value. Numbers and numeric texts compare as numbers, two texts as texts; null fails all but `= null`. */
export function compileCondition(condition: Condition): (value: CellValue) => boolean {
  switch (condition.op) {
    case 'and':
    case 'or': {
      const left = compileCondition(condition.left)
      const right = compileCondition(condition.right)
      return condition.op === 'and' ? (v) => left(v) && right(v) : (v) => left(v) || right(v)
    }
    case 'not': {
      const inner = compileCondition(condition.inner)
      return (v) => !inner(v)
    }
    case 'in':
      return (v) => condition.values.some((wanted) => order(v, wanted) === 0)
    case 'like': {
      const pattern = likeToRegExp(condition.pattern)
      return (v) => v !== null && pattern.test(String(v))
    }
    default:
      return compare(condition.op, condition.value)
  }
}

function compare(op: '>' | '>=' | '<' | '<=' | '=' | '!=', wanted: CellValue): (value: CellValue) => boolean {
  switch (op) {
    case '=':
      return (v) => order(v, wanted) === 0
    case '!=':
      return (v) => v !== null && order(v, wanted) !== 0
    case '>':
      return (v) => order(v, wanted) > 0
    case '>=':
      return (v) => order(v, wanted) >= 0
    case '<':
      return (v) => order(v, wanted) < 0
    default:
      return (v) => order(v, wanted) <= 0
  }
}

/** Negative, zero or positive; NaN where the two cannot be compared. */
function order(value: CellValue, wanted: CellValue): number {
  if (value === wanted) return 0
  if (typeof value === 'number' && typeof wanted === 'number') return value - wanted
  if (value === null || wanted === null) return Number.NaN
  if (typeof value === 'string' && typeof wanted === 'string') return value < wanted ? -1 : 1
  if (typeof value === 'boolean' || typeof wanted === 'boolean') return Number.NaN
  if (String(value).trim() === '' || String(wanted).trim() === '') return Number.NaN
  return Number(value) - Number(wanted)
}

function likeToRegExp(pattern: string): RegExp {
  const source = pattern
    .replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
    .replace(/%/g, '.*')
    .replace(/_/g, '.')
  return new RegExp(`^${source}$`, 'su')
}
