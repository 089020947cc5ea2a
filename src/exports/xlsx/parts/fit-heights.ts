import { type CellStyle, type FixedArea, type FixedCell, type Line, textLines } from '../../sheet/index.ts'
import { DEFAULT_FONT_SIZE } from './styles.ts'

/** Height of a row that says nothing of it. */
export const ROW_HEIGHT = 15
/** Excel's own limit. */
export const MAX_HEIGHT = 409
/** Bold letters are wider. */
const BOLD = 1.1
/** The size at which fonts with East Asian glyphs are as wide as the default font. */
const AS_WIDE_AS_CALIBRI = 10
/** Digits that a cell keeps free on its left and right. */
const EDGES = 0.75
/** Digits that a Chinese character takes beside Calibri, whose digits are narrow. */
const BESIDE_CALIBRI = 2.15
/** A longer summary is all in its cell, but not all of it in sight. */
const MAX_LINES = 12

/** Points that a line of text takes. Fonts with East Asian glyphs are higher than Calibri. */
export function lineHeight({ size = DEFAULT_FONT_SIZE, font }: CellStyle): number {
  return Math.ceil(size * (font === undefined ? 1.36 : 1.45) * 2) / 2
}

/**
 * Heights of an area's rows: Excel fits no row to a merged cell, and other readers fit none at all, so that each row gets
 * what its texts need. A height that the plan gives is the least that its row gets.
 */
export function fitHeights(area: FixedArea, widths: readonly number[], rowHeight: number): FixedArea {
  const heights = Array.from({ length: area.rows }, (_, row) => area.heights[row])
  const grow = (row: number, needed: number) => {
    if (needed > (heights[row] ?? rowHeight)) heights[row] = Math.min(needed, MAX_HEIGHT)
  }
  const [tall, flat] = [area.cells.filter(isTall), area.cells.filter((cell) => !isTall(cell))]
  for (const cell of flat) grow(cell.row, neededHeight(cell, widths))
  for (const cell of tall) {
    const last = cell.row + cell.rowSpan - 1
    let above = 0
    for (let row = cell.row; row < last; row += 1) above += heights[row] ?? rowHeight
    grow(last, neededHeight(cell, widths) - above)
  }
  const cells = area.cells.map((cell) => (isCut(cell, widths) ? fromTop(cell) : cell))
  return { ...area, heights, cells }
}

/** Whether more lines are needed than the cell shows. */
function isCut({ value, style, column, columnSpan }: FixedCell, widths: readonly number[]): boolean {
  const text = textOf(value)
  if (!style.wrap || style.vAlign === 'top' || text.length <= MAX_LINES) return false
  const lines = linesIn({ text, style, column, columnSpan }, widths, MAX_LINES + 1)
  return lines > MAX_LINES || lines * lineHeight(style) + (style.padding ?? 0) > MAX_HEIGHT
}

/** Its beginning is seen, and not its middle. */
function fromTop(cell: FixedCell): FixedCell {
  return { ...cell, style: { ...cell.style, vAlign: 'top' } }
}

function textOf(value: FixedCell['value']): string {
  return Array.isArray(value) ? value.map((run) => run.text).join('') : String(value ?? '')
}

function isTall({ rowSpan }: FixedCell): boolean {
  return rowSpan > 1
}

function neededHeight({ value, style, column, columnSpan }: FixedCell, widths: readonly number[]): number {
  const text = textOf(value)
  if (!style.wrap || text === '') return 0
  const lines = linesIn({ text, style, column, columnSpan }, widths)
  return lines * lineHeight(style) + (style.padding ?? 0)
}

/** Lines that a text takes in a cell over one or more columns. */
export function linesIn(
  { text, style, column, columnSpan }: { text: string } & Pick<FixedCell, 'style' | 'column' | 'columnSpan'>,
  widths: readonly number[],
  most = MAX_LINES,
): number {
  if (!style.wrap) return 1
  let room = 0
  for (let n = column; n < column + columnSpan; n += 1) room += widths[n] ?? 0
  return textLines(text, lineOf(style, room), most)
}

/** What fits between the edges of a cell that is N digits wide. */
export function lineOf(style: CellStyle, width: number): Line {
  const room = (width - (style.indent ?? 0) - EDGES) / textScale(style)
  return { room: Math.max(1, room), wide: style.font === undefined ? BESIDE_CALIBRI : 2 }
}

/** How wide a style's digits are beside those of the default font, in which widths of columns are counted. */
export function textScale({ size = DEFAULT_FONT_SIZE, bold, font }: CellStyle): number {
  return (size / (font === undefined ? DEFAULT_FONT_SIZE : AS_WIDE_AS_CALIBRI)) * (bold ? BOLD : 1)
}
