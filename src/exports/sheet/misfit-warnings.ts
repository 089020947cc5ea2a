import { counted } from '../../kernel/index.ts'
import type { ColumnCounts } from './column-facts.ts'
import { checkOf, UNCHECKED } from './fits-type.ts'
import type { CellType } from './sheet-plan.ts'

/** One line per column that holds values which are not of its type, numbers that lost cents, or texts that were changed so that they are no formulas. */
export function misfitWarnings(
  columns: readonly (Pick<ColumnCounts, 'misfits' | 'long' | 'rounded' | 'escaped'> & {
    name: string
    type: CellType
  })[],
): string[] {
  return columns.flatMap(({ name, type, misfits, long, rounded, escaped }) => [
    // Without a type nothing was asked for: only the report counts them.
    ...(misfits > long && checkOf(type) !== UNCHECKED
      ? [`column "${name}": ${counted(misfits - long, 'value is', 'values are')} not of the type ${type}`]
      : []),
    ...(long > 0 && checkOf(type) !== UNCHECKED
      ? [
          `column "${name}": ${counted(long, 'number has', 'numbers have')} more than the 15 digits that Excel keeps: text, with every digit`,
        ]
      : []),
    ...(rounded > 0
      ? [
          `column "${name}": ${counted(rounded, 'number was', 'numbers were')} rounded to the 15 digits that Excel keeps, which changes the cents; the type string keeps every digit`,
        ]
      : []),
    ...(escaped > 0
      ? [
          `column "${name}": ${counted(escaped, 'text looks', 'texts look')} like a formula and got an apostrophe; csv: {"formulas": "keep"} leaves it out`,
        ]
      : []),
  ])
}
