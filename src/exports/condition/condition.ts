import type { LongNumber } from './long-number.ts'

/** What a cell is compared with. */
export type Literal = string | number | LongNumber | boolean | null

/** A condition as plain data, the cell's value being the silent left side of every comparison. */
export type Condition =
  | { op: '>' | '>=' | '<' | '<=' | '=' | '!='; value: Literal }
  | { op: 'in'; values: Literal[] }
  | { op: 'like'; pattern: string }
  | { op: 'and' | 'or'; left: Condition; right: Condition }
  | { op: 'not'; inner: Condition }

/** What a value must come before or after. */
export function boundsOf(condition: Condition): Literal[] {
  switch (condition.op) {
    case 'and':
    case 'or':
      return [...boundsOf(condition.left), ...boundsOf(condition.right)]
    case 'not':
      return boundsOf(condition.inner)
    case '>':
    case '>=':
    case '<':
    case '<=':
      return [condition.value]
    default:
      return []
  }
}
