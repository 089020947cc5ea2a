import type { CellType, ColumnCounts } from '../sheet/index.ts'
import type { Template } from '../template/index.ts'

/** The keys of the rows, each once, with the types that the template gives them. */
export function typedFields({ fields, leaves }: Template): { name: string; type: CellType }[] {
  return fields.map((name) => ({ name, type: leaves.find((leaf) => leaf.name === name)?.type ?? 'auto' }))
}

/** Counts by field as those of the template's columns, without that of the row headers. */
export function byLeaf({ fields, leaves }: Template, counts: readonly ColumnCounts[]): ColumnCounts[] {
  const none = { nulls: 0, misfits: 0, long: 0, rounded: 0, escaped: 0, cuts: 0, longest: 0 }
  return leaves
    .filter(({ rowHead }) => !rowHead)
    .map(({ name }) => (name === null ? none : (counts[fields.indexOf(name)] ?? none)))
}
