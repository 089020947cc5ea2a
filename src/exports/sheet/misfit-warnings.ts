import type { ColumnCounts } from './column-facts.ts'
import { checkOf, UNCHECKED } from './fits-type.ts'
import type { CellType } from './sheet-plan.ts'

/** One line per column that holds values which are not of its type, or texts that were changed so that they are no formulas. */
export function misfitWarnings(
  columns: readonly (Pick<ColumnCounts, 'misfits' | 'escaped'> & { name: string; type: CellType })[],
): string[] {
  return columns.flatMap(({ name, type, misfits, escaped }) => [
    // Without a type nothing was asked for: only the report counts them.
    ...(misfits > 0 && checkOf(type) !== UNCHECKED
      ? [`column "${name}": ${counted(misfits, 'value is', 'values are')} not of the type ${type}`]
      : []),
    ...(escaped > 0
      ? [
          `column "${name}": ${counted(escaped, 'text looks', 'texts look')} like a formula and got an apostrophe; csv: {"formulas": "keep"} leaves it out`,
        ]
      : []),
  ])
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
