import {
  type CellStyle,
  type CellType,
  type DataColumn,
  defaultFormat,
  isSmall,
  type SheetPlan,
  type SmallNumbers,
  smallNumbers,
  type Total,
} from '../../sheet/index.ts'
import { cellReference } from '../cell-reference.ts'
import {
  addTotals,
  FILLED,
  LEAST,
  MOST,
  NUMBERS,
  noTotals,
  styleAttribute,
  sumOf,
  TOTALS,
} from '../encode/index.ts'
import type { StyleBook } from '../parts/index.ts'
import { cutToCell, inlineText, readableText } from '../xml-text.ts'

/** Numbers of SUBTOTAL that leave out what a filter hides, and other subtotals. */
const FUNCTIONS: Record<Total, number> = { avg: 101, count: 103, max: 104, min: 105, sum: 109 }

/** Cells of a row that are said apart from its totals, by column: a label, or what a merged label covers. */
export interface RowTitle {
  column: number
  text: string
  startsLeft?: boolean
  /** It is longer than its column was made for. */
  wraps?: boolean
}

/** Rows of the present file, the first and the last, and what is added up of them. */
interface Range {
  first: number
  last: number
  totals: Float64Array
}

/** The rows of totals of one sheet: below each group of rows that has one, and below all. */
export class TotalRows<Group> {
  readonly #plan: SheetPlan
  readonly #looks: Record<'total' | 'part' | 'subtotal' | 'wrapped' | 'covered', number[]>
  /** By column: totals that its format would show as zero, and what they look like. */
  readonly #small: ({ numbers: SmallNumbers; total: number; subtotal: number } | null)[]
  readonly #open = new Map<Group, Range>()
  #all: Range | undefined
  /** By column, in all files: numbers and filled cells. */
  readonly #seen: Float64Array

  constructor(plan: SheetPlan, styles: StyleBook) {
    this.#plan = plan
    const { style = {}, subtotalStyle = {} } = plan.totals ?? {}
    const looks = (base: CellStyle) => plan.columns.map((column) => styles.add(lookOf(base, column)))
    this.#looks = {
      total: looks(style),
      subtotal: looks(subtotalStyle),
      // A title that is longer than its column is narrow goes on in the next one.
      part: plan.columns.map((column) => styles.add({ ...lookOf(style, column), align: 'left' })),
      wrapped: plan.columns.map((column) => styles.add({ ...lookOf(subtotalStyle, column), wrap: true })),
      covered: plan.columns.map((column) => styles.add(column.style)),
    }
    this.#small = plan.columns.map((column) => {
      const numbers = smallTotals(column)
      if (!numbers) return null
      const look = (base: CellStyle) => {
        const { format: _, ...bare } = lookOf(base, column)
        return styles.add(numbers.format === undefined ? bare : { ...bare, format: numbers.format })
      }
      return { numbers, total: look(style), subtotal: look(subtotalStyle) }
    })
    this.#seen = noTotals(plan.columns.length)
  }

  /** Rows `first` to `last` of the present file, which belong to these groups. */
  add(groups: Iterable<Group>, { first, last, totals }: Range): void {
    addTotals(this.#seen, totals)
    this.#all = grown(this.#all, { first, last, totals })
    for (const group of groups) this.#open.set(group, grown(this.#open.get(group), { first, last, totals }))
  }

  /** The row below a group; it counts among the rows of the groups around it. */
  endGroup(group: Group, row: number, title: RowTitle): string {
    const range = this.#open.get(group)
    this.#open.delete(group)
    for (const around of [...this.#open.values(), this.#all]) if (around) around.last = row
    return this.#row(row, range, title, 'subtotal')
  }

  /** Whether rows of the present file belong to the group, which has not been ended. */
  isOpen(group: Group): boolean {
    return this.#open.has(group)
  }

  /** The last row of the present file; `part`: its number, where others have more of the rows. */
  endFile(row: number, part: number | undefined): string {
    const range = this.#all
    this.#all = undefined
    const label = titleColumn(this.#plan)
    const { title: whole = '', partTitle = whole } = this.#plan.totals ?? {}
    const text = part === undefined ? whole : partTitle.replace('{n}', String(part))
    const title = { column: label, text }
    const startsLeft = part !== undefined && !this.#plan.rowHeads
    return this.#row(row, range, { ...title, startsLeft }, 'total')
  }

  /** Columns whose totals leave cells out, because they hold no numbers: how many cells those are. */
  get leftOut(): { column: number; cells: number }[] {
    return this.#plan.columns.flatMap(({ total }, column) => {
      const at = column * TOTALS
      const cells = this.#seen[at + FILLED]! - this.#seen[at + NUMBERS]!
      return total === undefined || total === 'count' || cells === 0 ? [] : [{ column, cells }]
    })
  }

  #row(row: number, range: Range | undefined, title: RowTitle, kind: 'total' | 'subtotal'): string {
    const labels = this.#plan.rowHeads?.columns ?? []
    const cells = this.#plan.columns.map(({ total }, column) => {
      const isCovered = labels.includes(column) && column < title.column
      const titled = title.startsLeft ? 'part' : title.wraps ? 'wrapped' : kind
      const look = isCovered ? 'covered' : column === title.column ? titled : kind
      const value = total === undefined ? null : totalOf(total, range?.totals, column * TOTALS)
      const small = this.#small[column]!
      const style =
        value !== null && small && isSmall(value, small.numbers) ? small[kind] : this.#looks[look][column]!
      const open = `<c r="${cellReference(row, column)}"${styleAttribute(style)}`
      if (column === title.column && total === undefined && title.text !== '') {
        const text = inlineText(cutToCell(readableText(title.text)))
        return `${open} t="inlineStr"><is>${text}</is></c>`
      }
      if (value === null) return style === 0 ? '' : `${open}/>`
      if (!range) return `${open}><v>${value}</v></c>`
      const cellsAbove = `${cellReference(range.first, column)}:${cellReference(range.last, column)}`
      return `${open}><f>SUBTOTAL(${FUNCTIONS[total!]},${cellsAbove})</f><v>${value}</v></c>`
    })
    return `<row r="${row}">${cells.join('')}</row>`
  }
}

const TEXTS: readonly CellType[] = ['auto', 'string', 'link']

/** Where the title of the totals is: over the row headers, else in the first column, or where that has a total in the first without, of texts if there is one. */
function titleColumn({ rowHeads, columns }: SheetPlan): number {
  if (rowHeads) return rowHeads.columns[0] ?? 0
  const isFree = ({ total }: DataColumn) => total === undefined
  if (columns[0] && isFree(columns[0])) return 0
  const text = columns.findIndex((column) => isFree(column) && TEXTS.includes(column.type))
  return Math.max(0, text >= 0 ? text : columns.findIndex(isFree))
}

function grown(range: Range | undefined, { first, last, totals }: Range): Range {
  const sums = range?.totals ?? noTotals(totals.length / TOTALS)
  addTotals(sums, totals)
  return { first: range?.first ?? first, last, totals: sums }
}

/** Null where there is nothing to show: an average of no numbers is an error in a spreadsheet. */
function totalOf(total: Total, totals: Float64Array | undefined, at: number): number | null {
  const numbers = totals?.[at + NUMBERS] ?? 0
  switch (total) {
    case 'sum':
      return totals ? sumOf(totals, at) : 0
    case 'count':
      return totals?.[at + FILLED] ?? 0
    case 'avg':
      return totals && numbers > 0 ? Number((sumOf(totals, at) / numbers).toPrecision(15)) : null
    case 'min':
      return totals && numbers > 0 ? totals[at + LEAST]! : null
    case 'max':
      return totals && numbers > 0 ? totals[at + MOST]! : null
  }
}

/** The row's look, aligned and formatted like the column. */
function lookOf(base: CellStyle, column: DataColumn): CellStyle {
  const { align, vAlign, indent } = column.style
  const format = formatOfTotal(column)
  return {
    ...base,
    ...(align !== undefined && { align }),
    ...(vAlign !== undefined && { vAlign }),
    ...(indent !== undefined && { indent }),
    ...(format !== undefined && { format }),
  }
}

function formatOfTotal({ style, type, total, totalFormat }: DataColumn): string | undefined {
  if (total === 'count' || total === undefined) return undefined
  if (total === 'avg' && type === 'integer') return '0.00'
  return style.format ?? totalFormat ?? defaultFormat(type)
}

function smallTotals(column: DataColumn): SmallNumbers | null {
  const isComputed = column.total === 'sum' || column.total === 'avg'
  return smallNumbers(column, { format: formatOfTotal(column), isComputed })
}
