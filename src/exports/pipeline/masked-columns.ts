import type { SheetPlan } from '../sheet/index.ts'
import { type MaskRules, maskingOf, type Template } from '../template/index.ts'
import { type Warning, type WarningCode, warn } from '../warnings/index.ts'
import type { FetchedTable } from './fetch/fetched-table.ts'

/** What a mask leaves of a value is text: that it does not fit the type of its column is intended. */
const BY_INTENTION: readonly WarningCode[] = [
  'VALUES_OF_OTHER_TYPE',
  'PARQUET_OTHER_TYPE',
  'PARQUET_MIXED_TYPES',
]

/** Keys whose values are hidden in this file, or were before their rows were kept. */
export function maskedNames({ template, table }: Masked, masks: MaskRules): ReadonlySet<string> {
  return new Set([...Object.keys(maskingOf(template, masks)?.byName ?? {}), ...(table.kept?.masked ?? [])])
}

type Masked = Pick<FetchedTable, 'template' | 'table'>

/** Names the mask where it is the cause: in place of warnings about the values of a column, or of its `lost` total. */
export function namingMasks(
  warnings: readonly Warning[],
  { masked, lost }: { masked: ReadonlySet<string>; lost: readonly string[] },
): Warning[] {
  const told = new Set<string>()
  const named = warnings.map((warning) => {
    const column = String(warning.values.column)
    if (!BY_INTENTION.includes(warning.code) || !masked.has(column)) return warning
    told.add(column)
    return warn('MASKED_COLUMN', { column })
  })
  const others = lost.filter((column) => !told.has(column))
  return [...named, ...others.map((column) => warn('MASKED_COLUMN', { column }))]
}

/** Columns that were to have a total, and are masked. */
export function lostTotals({ leaves }: Template, masked: ReadonlySet<string>): string[] {
  const lost = leaves.flatMap(({ name, total }) =>
    name !== null && masked.has(name) && isOfNumbers(total) ? [name] : [],
  )
  return [...new Set(lost)]
}

/** The sum of hidden values would be 0, which nobody must take for theirs. */
export function withoutLostTotals(
  plan: SheetPlan,
  { fields }: Template,
  masked: ReadonlySet<string>,
): SheetPlan {
  const columns = plan.columns.map((column) => {
    const { total, ...rest } = column
    const name = column.field === null ? undefined : fields[column.field]
    return name !== undefined && masked.has(name) && isOfNumbers(total) ? rest : column
  })
  return { ...plan, columns }
}

function isOfNumbers(total: Template['leaves'][number]['total']): boolean {
  return total !== undefined && total !== 'count'
}
