import {
  type CellType,
  type DataColumn,
  defaultFormat,
  displayWidth,
  type SheetPlan,
} from '../../sheet/index.ts'
import { textScale } from '../parts/index.ts'

const NARROWEST = 8.43
const WIDEST = 60
const WIDEST_THAT_EXCEL_TAKES = 255
const PADDING = 2
/** Sheets that would be wider have their long texts wrapped earlier, though never below this. */
const COMFORTABLE_SHEET = 160
const NARROWEST_WRAPPED = 28
/** Digits that a spreadsheet keeps, and characters of a large sum of money. */
const LONGEST_NUMBER = 15
const USUAL_NUMBER = 12
/** A header that is longer than its column's data wraps, into words and no further. */
const WIDEST_HEADER = 14

/** Width of each column in characters: as the plan says, else what its widest value and its header need. */
export function columnWidths(
  plan: SheetPlan,
  fieldWidths: readonly number[] = [],
  /** Of data: a sum has more digits than what it sums up. */
  rows = 0,
): number[] {
  // No rows and no template: title and summary need room all the same.
  if (plan.columns.length === 0) return [WIDEST]
  const widths = plan.columns.map((column, index) => {
    if (column.width !== undefined) return Math.min(Math.max(column.width, 0), WIDEST_THAT_EXCEL_TAKES)
    const data =
      column.field === null ? labelWidth(plan, index) : shownWidth(column, rawWidth(column, fieldWidths))
    const needed = Math.max(data, headerWidth(plan, index), totalWidth(column, fieldWidths, rows))
    const padding = PADDING + (column.style.indent ?? 0)
    return needed === 0 ? NARROWEST : Math.min(Math.max(needed + padding, NARROWEST), WIDEST)
  })
  const cap = widestText(plan.columns, widths)
  return widths.map((width, n) => (mayShrink(plan.columns[n]!) ? Math.min(width, cap) : width))
}

/** The widest that long texts may be, for the sheet to stay comfortable to read and to print. */
function widestText(columns: readonly DataColumn[], widths: readonly number[]): number {
  let cap = WIDEST
  const total = () =>
    widths.reduce((sum, width, n) => sum + (mayShrink(columns[n]!) ? Math.min(width, cap) : width), 0)
  while (cap > NARROWEST_WRAPPED && total() > COMFORTABLE_SHEET) cap -= 1
  return cap
}

const TEXTS: readonly CellType[] = ['auto', 'string', 'link']

function mayShrink({ type, style, width }: DataColumn): boolean {
  // A link is whole even where its text is cut.
  return width === undefined && TEXTS.includes(type) && (style.wrap === true || type === 'link')
}

const FORMATTED: readonly CellType[] = ['money', 'percent', 'number']

/** As in the spool; of a fraction with more digits than a spreadsheet keeps, most are those that no format shows. */
function rawWidth({ type, field }: DataColumn, fieldWidths: readonly number[]): number {
  const width = fieldWidths[field ?? -1] ?? 0
  return FORMATTED.includes(type) && width > LONGEST_NUMBER ? USUAL_NUMBER : width
}

/** What a value takes once its format is applied, from the width that it has in the spool. */
function shownWidth(column: DataColumn, width: number): number {
  if (width === 0) return 0
  switch (column.type) {
    case 'date':
    case 'datetime':
      return displayWidth((column.style.format ?? defaultFormat(column.type)!).replaceAll(/[a-z]/gi, '0'))
    case 'money':
      return width + Math.floor(width / 3) + 3
    case 'percent':
      return width + 2
    default:
      return width
  }
}

/** Totals are bold. */
function totalWidth(column: DataColumn, fieldWidths: readonly number[], rows: number): number {
  const { total, field } = column
  if (total === undefined || field === null || rows === 0) return 0
  const digits = String(rows).length
  if (total === 'count') return digits
  const width = rawWidth(column, fieldWidths)
  return (
    shownWidth(column, total === 'sum' ? width + digits - 1 : width) *
    textScale({ ...column.style, bold: true })
  )
}

/** Cells that are in one column only, such as the leaves of the column header. */
function headerWidth(plan: SheetPlan, index: number): number {
  const widths = plan.top.cells
    .filter((cell) => cell.column === index && cell.columnSpan === 1)
    .map(({ value, style }) => {
      const text = Array.isArray(value) ? value.map((run) => run.text).join('') : String(value ?? '')
      return (style.wrap ? wrappedWidth(text) : displayWidth(text)) * textScale(style)
    })
  return Math.max(0, ...widths)
}

function wrappedWidth(text: string): number {
  const words = text.split(/\s+/).map(displayWidth)
  return Math.min(displayWidth(text), Math.max(WIDEST_HEADER, ...words))
}

function labelWidth(plan: SheetPlan, index: number): number {
  const { columns, groups } = plan.rowHeads ?? { columns: [], groups: [] }
  const level = columns.indexOf(index)
  let widest = 0
  for (const group of groups) {
    for (const label of group.labels) {
      if (label.level !== level) continue
      // A row of subtotals has its title in all columns from here on; only the last one must hold it alone.
      const isLast = level === columns.length - 1
      const title = isLast ? `${label.title}${plan.totals?.subtotalEnding ?? ''}` : label.title
      if (label.levels === 1) widest = Math.max(widest, displayWidth(title))
    }
  }
  return widest
}
