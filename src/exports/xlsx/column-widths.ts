import { displayWidth } from '../display-width.ts'
import { defaultFormat } from './parts/number-format.ts'
import type { DataColumn, SheetPlan } from './sheet-plan.ts'

const NARROWEST = 8.43
const WIDEST = 60
const WIDEST_THAT_EXCEL_TAKES = 255
const PADDING = 2

/** Width of each column in characters: as the plan says, else what its widest value and its header need. */
export function columnWidths(plan: SheetPlan, fieldWidths: readonly number[] = []): number[] {
  return plan.columns.map((column, index) => {
    if (column.width !== undefined) return Math.min(Math.max(column.width, 0), WIDEST_THAT_EXCEL_TAKES)
    const data =
      column.field === null ? labelWidth(plan, index) : shownWidth(column, fieldWidths[column.field] ?? 0)
    const needed = Math.max(data, headerWidth(plan, index))
    return needed === 0 ? NARROWEST : Math.min(Math.max(needed + PADDING, NARROWEST), WIDEST)
  })
}

/** What a value takes once its format is applied, from the width that it has in the spool. */
function shownWidth(column: DataColumn, width: number): number {
  if (width === 0) return 0
  switch (column.type) {
    case 'date':
    case 'datetime':
      return displayWidth(column.style.format ?? defaultFormat(column.type)!)
    case 'money':
      return width + Math.floor(width / 3) + 3
    case 'percent':
      return width + 2
    default:
      return width
  }
}

/** Cells that stand in one column only, such as the leaves of the column header. */
function headerWidth(plan: SheetPlan, index: number): number {
  const widths = plan.top.cells
    .filter((cell) => cell.column === index && cell.columnSpan === 1)
    .map(({ value, style }) => {
      const text = Array.isArray(value) ? value.map((run) => run.text).join('') : String(value ?? '')
      // Bold letters are wider, and so are those of a larger font.
      return displayWidth(text) * (style.bold ? 1.1 : 1) * ((style.size ?? 11) / 11)
    })
  return Math.max(0, ...widths)
}

function labelWidth(plan: SheetPlan, index: number): number {
  const { columns, groups } = plan.rowHeads ?? { columns: [], groups: [] }
  const level = columns.indexOf(index)
  let widest = 0
  for (const group of groups) {
    for (const label of group.labels) {
      if (label.level === level && label.levels === 1) widest = Math.max(widest, displayWidth(label.title))
    }
  }
  return widest
}
