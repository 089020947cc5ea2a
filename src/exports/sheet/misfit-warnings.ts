import { type Warning, warn } from '../warnings/index.ts'
import type { ColumnCounts } from './column-facts.ts'
import { checkOf, UNCHECKED } from './fits-type.ts'
import type { CellType } from './sheet-plan.ts'

/** One line per column that holds values which are not of its type, numbers that lost cents, or texts that were changed so that they are no formulas. */
export function misfitWarnings(
  columns: readonly (Pick<ColumnCounts, 'misfits' | 'long' | 'rounded' | 'escaped'> & {
    name: string
    title?: string
    type: CellType
  })[],
): Warning[] {
  const seen = Map.groupBy(columns, ({ name }) => name)
  return columns.flatMap(({ name, title, type, misfits, long, rounded, escaped }) => {
    const isAmbiguous = title !== undefined && seen.get(name)!.length > 1
    const column = { column: name, ...(isAmbiguous && { title }) }
    return [
      // Without a type nothing was asked for: only the report counts them.
      ...(misfits > long && checkOf(type) !== UNCHECKED
        ? [warn('VALUES_OF_OTHER_TYPE', { ...column, count: misfits - long, type })]
        : []),
      ...(long > 0 && checkOf(type) !== UNCHECKED
        ? [warn('NUMBERS_AS_TEXT', { ...column, count: long })]
        : []),
      ...(rounded > 0 ? [warn('NUMBERS_ROUNDED', { ...column, count: rounded })] : []),
      ...(escaped > 0 ? [warn('FORMULAS_ESCAPED', { ...column, count: escaped })] : []),
    ]
  })
}
