import {
  type CellType,
  type DataColumn,
  defaultFormat,
  displayWidth,
  type FieldDigits,
  isUsableFormat,
  type SheetPlan,
  smallNumbers,
} from '../../sheet/index.ts'
import { textScale } from '../parts/index.ts'
import { dateWidth, type NumberSize, numberWidth, powerWidth } from './formatted-width.ts'

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
/** `-0.00123%` */
const SMALL_SHARE_WIDTH = 9
/** A header that is longer than its column's data wraps, into words and no further. */
const WIDEST_HEADER = 14

/** What the spool knows of its fields. */
export interface Measured {
  /** Widest value in characters. */
  widths?: readonly number[] | undefined
  digits?: readonly FieldDigits[] | undefined
}

/** Width of each column in characters: as the plan says, else what its widest value and its header need. */
export function columnWidths(
  plan: SheetPlan,
  measured: Measured = {},
  /** Of data. */
  rows = 0,
): number[] {
  // No rows and no template: title and summary need room all the same.
  if (plan.columns.length === 0) return [WIDEST]
  const widths = plan.columns.map((column, index) => {
    if (column.width !== undefined) return Math.min(Math.max(column.width, 0), WIDEST_THAT_EXCEL_TAKES)
    const data = column.field === null ? labelWidth(plan, index) : shownWidth(column, measured)
    const needed = Math.max(data, headerWidth(plan, index), totalWidth(column, measured, rows))
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

const TEXTS: readonly CellType[] = ['auto', 'string']

function mayShrink({ type, style, width }: DataColumn): boolean {
  // A link that is cut shows another address, and not every program wraps one.
  return width === undefined && TEXTS.includes(type) && style.wrap === true
}

const DATES: readonly CellType[] = ['date', 'datetime']
const FORMATTED: readonly CellType[] = ['money', 'percent', 'number']
const NUMERIC: readonly CellType[] = [...FORMATTED, 'integer']

/** As in the spool; of a fraction with more digits than a spreadsheet keeps, most are those that no format shows. */
function rawWidth({ type, field }: DataColumn, { widths = [], digits = [] }: Measured): number {
  const width = widths[field ?? -1] ?? 0
  const [whole = 0, , , , , texts] = digits[field ?? -1] ?? []
  // Numbers without a format take no more room than this; texts do, and so do numbers that are kept as such.
  if (type === 'auto' && texts !== undefined && whole > 0 && whole <= LONGEST_NUMBER)
    return Math.min(width, Math.max(texts, USUAL_NUMBER))
  return FORMATTED.includes(type) && width > LONGEST_NUMBER ? USUAL_NUMBER : width
}

/** What the values of a column take once its format is applied. */
function shownWidth(column: DataColumn, measured: Measured): number {
  const width = measured.widths?.[column.field ?? -1] ?? 0
  const code = formatOf(column)
  if (width === 0) return 0
  if (code === undefined || code === '@') return rawWidth(column, measured)
  if (DATES.includes(column.type)) return dateWidth(code)
  const size = numberSize(column, measured)
  if (size === undefined) return rawWidth(column, measured)
  // Texts, and numbers that are too long to be kept as such, are shown as they are.
  const hasOthers = width > size.whole + size.rest || size.whole > LONGEST_NUMBER
  const small = size.rest > 0 && smallNumbers(column)?.format !== undefined ? SMALL_SHARE_WIDTH : 0
  return Math.max(numberWidth(code, size), powerOf(column, measured, code), small, hasOthers ? width : 0)
}

/** What numbers take that an exponent makes longer than a spreadsheet keeps: their format shows them with zeros. */
function powerOf({ field }: DataColumn, { digits }: Measured, code: string | undefined, more = 0): number {
  const power = digits?.[field ?? -1]?.[4] ?? 0
  return power === 0 || code === undefined ? 0 : powerWidth(code, power + more)
}

function formatOf({ type, style: { format } }: DataColumn): string | undefined {
  return format !== undefined && isUsableFormat(format) ? format : defaultFormat(type)
}

/** The largest of a column's numbers; undefined where it has none. Of what was not measured, all may be digits. */
export function numberSize(column: DataColumn, measured: Measured): NumberSize | undefined {
  const isNumeric = NUMERIC.includes(column.type)
  const digits = measured.digits?.[column.field ?? -1]
  if (digits === undefined) return isNumeric ? { whole: rawWidth(column, measured), rest: 0 } : undefined
  const [whole, rest, textWhole, textRest] = digits
  const size = isNumeric
    ? { whole: Math.max(whole, textWhole), rest: Math.max(rest, textRest) }
    : { whole, rest }
  return size.whole === 0 ? undefined : size
}

/** Totals are bold. */
function totalWidth(column: DataColumn, measured: Measured, rows: number): number {
  const { total, field, type } = column
  if (total === undefined || field === null || rows === 0) return 0
  if (total === 'count') return String(rows).length
  if (DATES.includes(type)) return shownWidth(column, measured) * boldScale(column)
  const size = numberSize(column, measured)
  if (size === undefined) return 0
  const code = total === 'avg' && type === 'integer' ? '0.00' : (formatOf(column) ?? column.totalFormat)
  const whole = total === 'sum' ? size.whole + moreDigits(rows) : size.whole
  const shown =
    code === undefined ? Math.min(whole + size.rest, USUAL_NUMBER) : numberWidth(code, { ...size, whole })
  const power = powerOf(column, measured, code, total === 'sum' ? moreDigits(rows) : 0)
  return Math.max(shown, power) * boldScale(column)
}

/** A sum has more digits than what it sums up. */
export function moreDigits(rows: number): number {
  return Math.ceil(Math.log10(Math.max(1, rows)))
}

function boldScale({ style }: DataColumn): number {
  return textScale({ ...style, bold: true })
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
