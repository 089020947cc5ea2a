import type { Condition } from '../../condition/index.ts'
import {
  type CellStyle,
  type CellType,
  type DataColumn,
  defaultFormat,
  isUsableFormat,
  type Line,
  type SheetPlan,
  type SmallNumbers,
  shownMillis,
  showsTime,
  smallNumbers,
  withoutLinkLook,
} from '../../sheet/index.ts'
import { columnLetters } from '../cell-reference.ts'
import { isColor, lineHeight, lineOf, MAX_HEIGHT, ROW_HEIGHT, type StyleBook } from '../parts/index.ts'

/** What a thread needs to turn spool rows into rows of one sheet: the plan with its styles numbered. Plain data. */
export interface SheetRecipe {
  /** Unique in the process, so that a thread compiles each recipe once. */
  id: number
  timezone: string
  rowHeight: number | null
  /** Points that a line of text takes, and what a row takes besides. */
  line: number
  rowPadding: number
  /** Lines that fit the tallest row. */
  mostLines: number
  columns: ColumnRecipe[]
}

export interface ColumnRecipe {
  letters: string
  field: number | null
  type: CellType
  /** Of a date column: milliseconds that its cells are cut to. One that shows no time of day has whole days, see `shownMillis`. */
  unit: number
  /** The column's own style first, then one for each condition. Where `tall` is not 0, that many again for texts that no row is tall enough for. */
  variants: StyleVariant[]
  tall: number
  /** Of a column of links: the same variants for what is no link. */
  plain: StyleVariant[] | null
  conditions: Condition[]
  /** Its numbers are added up. */
  total: boolean
  /** Numbers that are shown without the column's format, which would show them as zero. */
  small: SmallNumbers | null
  /** Of a cell whose texts wrap. */
  line: Line | null
}

interface StyleVariant {
  style: number
  /** For numbers that are no dates in a date column, no whole ones in an integer column, or small: without the column's number format. */
  bareStyle: number
  /** For booleans: LibreOffice forgets that a cell is one where its neighbour has the same style, and needs a format. */
  booleanStyle: number
  /** A background or a border shows in empty cells too. */
  filled: boolean
}

/** Types whose format would show another number than the cell holds. */
const BARE_TYPES: readonly CellType[] = ['date', 'datetime', 'integer']

const SMALL_TYPES: readonly CellType[] = ['auto', 'number', 'money', 'percent']

const MAY_BE_BOOLEAN: readonly CellType[] = ['auto', 'boolean']
const BOOLEANS = '"TRUE";"TRUE";"FALSE"'

const DAY = 86_400_000

let lastId = 0

export function makeRecipe(
  plan: SheetPlan,
  { styles, timezone, widths }: { styles: StyleBook; timezone: string; widths: readonly number[] },
): SheetRecipe {
  lastId += 1
  const line = Math.max(ROW_HEIGHT, ...plan.columns.map(({ style }) => lineHeight(style)))
  const rowPadding = Math.max(0, (plan.usualHeight ?? ROW_HEIGHT) - line)
  return {
    id: lastId,
    timezone,
    rowHeight: plan.rowHeight ?? null,
    line,
    rowPadding,
    mostLines: Math.floor((MAX_HEIGHT - rowPadding) / line),
    columns: plan.columns.map((column, index) => {
      const bold = [column, ...column.conditions].some(({ style }) => style.bold)
      const wraps = column.style.wrap === true
      return {
        ...makeColumn(column, columnLetters(index), styles),
        line: wraps ? lineOf({ ...column.style, bold }, widths[index]!) : null,
      }
    }),
  }
}

function makeColumn(column: DataColumn, letters: string, styles: StyleBook): Omit<ColumnRecipe, 'line'> {
  const looks = [column.style, ...column.conditions.map(({ style }) => ({ ...column.style, ...style }))]
  // What does not fit is left out at its end, and not on both sides of its middle.
  const tall = column.style.wrap === true && column.style.vAlign !== 'top' ? looks : []
  const small = SMALL_TYPES.includes(column.type) ? smallNumbers(column) : null
  const top = tall.map((style): CellStyle => ({ ...style, vAlign: 'top' }))
  return {
    letters,
    field: column.field,
    type: column.type,
    unit: unitOf(column.type, effectiveFormat(column.style, column.type) ?? ''),
    variants: [...looks, ...top].map((style) => makeVariant(style, { type: column.type, small }, styles)),
    plain:
      column.type === 'link'
        ? [...looks, ...top].map((style) =>
            makeVariant(withoutLinkLook(style), { type: column.type, small }, styles),
          )
        : null,
    tall: tall.length,
    conditions: column.conditions.map(({ when }) => when),
    total: column.total !== undefined,
    small,
  }
}

function makeVariant(
  style: CellStyle,
  { type, small }: { type: CellType; small: SmallNumbers | null },
  styles: StyleBook,
): StyleVariant {
  const { format: _, ...bare } = style
  const format = effectiveFormat(style, type)
  return {
    style: styles.add(format === undefined ? bare : { ...bare, format }),
    booleanStyle: styles.add(booleanLook(style, type)),
    bareStyle: small
      ? styles.add(small.format === undefined ? bare : { ...bare, format: small.format })
      : styles.add(BARE_TYPES.includes(type) ? bare : style),
    filled: isColor(style.bgColor) || isColor(style.border),
  }
}

/** Of a column that takes what comes, the format is for its numbers; of one of booleans, it is theirs. */
function booleanLook(style: CellStyle, type: CellType): CellStyle {
  if (type === 'auto') return { ...style, format: BOOLEANS }
  return MAY_BE_BOOLEAN.includes(type) ? { format: BOOLEANS, ...style } : style
}

function unitOf(type: CellType, format: string): number {
  return type === 'date' && !showsTime(format) ? DAY : shownMillis(format)
}

function effectiveFormat(style: CellStyle, type: CellType): string | undefined {
  return style.format !== undefined && isUsableFormat(style.format) ? style.format : defaultFormat(type)
}
