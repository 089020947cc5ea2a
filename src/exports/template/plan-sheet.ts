import type { CellStyle, FixedArea, FixedCell, SheetPlan } from '../xlsx/sheet-plan.ts'
import { layoutColumns } from './column-headers.ts'
import { type HeaderLayout, layoutPairs, layoutRows } from './header-layout.ts'
import { parseHeader } from './header-pairs.ts'
import { htmlToRuns } from './html-runs.ts'
import { layoutRowHeads } from './row-heads.ts'
import type { Template } from './template.ts'
import { wrappedLines } from './wrapped-lines.ts'

export interface SheetRequest {
  name: string
  template: Template
  title?: string | null | undefined
  /** HTML subset, or plain text. */
  summary?: string | null | undefined
  /** As it came with the request or from the source. */
  header?: unknown
  footer?: unknown
}

/** Title, summary, header and footer reach over the whole table, but no wider than a screen. */
export const MAX_AREA_COLUMNS = 20

const TITLE_SIZE = 16
const USUAL_SIZE = 11
const TITLE: CellStyle = { bold: true, size: TITLE_SIZE, align: 'center', vAlign: 'middle', wrap: true }
const TITLE_HEIGHT = 30
const TEXT: CellStyle = { align: 'left', vAlign: 'top', wrap: true }
const LINE_HEIGHT = 15
/** Points; whoever writes an essay finds it all in the cell, but not all of it in sight. */
const MAX_TEXT_HEIGHT = 180
/** What a column is taken to be wide, as long as nothing is known of it. */
const USUAL_WIDTH = 12

/** Lays a sheet out, from top to bottom: title, summary, header, column headers, data, footer. */
export function planSheet(request: SheetRequest): SheetPlan {
  const { template } = request
  const headers = layoutColumns(template)
  const width = Math.max(1, Math.min(MAX_AREA_COLUMNS, headers.columns.length))
  const widths = headers.columns.slice(0, width).map((column) => column.width ?? USUAL_WIDTH)

  const top = new AreaBuilder(widths)
  if (request.title) top.title(request.title)
  if (request.summary) top.text(request.summary)
  top.header(request.header, 'header')
  top.place(headers.cells, Array(headers.rows).fill(undefined))
  const bottom = new AreaBuilder(widths)
  bottom.header(request.footer, 'footer')

  const rowHeight = Math.max(0, ...template.leaves.map((leaf) => leaf.height ?? 0))
  return {
    name: request.name,
    columns: headers.columns,
    top: top.area,
    bottom: bottom.area,
    ...(rowHeight > 0 ? { rowHeight } : {}),
    ...(template.rows.length > 0 ? { rowHeads: layoutRowHeads(template.rows, headers.rowHeadColumns) } : {}),
  }
}

/** Stacks blocks of cells, each below the one before. */
class AreaBuilder {
  readonly area: FixedArea = { rows: 0, heights: [], cells: [] }
  /** Of the columns over which the area reaches, in characters. */
  readonly #widths: readonly number[]

  constructor(widths: readonly number[]) {
    this.#widths = widths.length > 0 ? widths : [USUAL_WIDTH]
  }

  title(text: string): void {
    const cell = this.#wide(text, TITLE)
    const lines = linesOf(text, cell, this.#widths, TITLE_SIZE / USUAL_SIZE)
    this.place([cell], [Math.min(MAX_TEXT_HEIGHT, TITLE_HEIGHT * lines)])
  }

  text(html: string): void {
    const runs = htmlToRuns(html)
    const text = runs.map((run) => run.text).join('')
    if (text.trim() === '') return
    const isPlain = runs.length === 1 && Object.keys(runs[0]!).length === 1
    const cell = this.#wide(isPlain ? text : runs, TEXT)
    this.place([cell], [Math.min(MAX_TEXT_HEIGHT, LINE_HEIGHT * linesOf(text, cell, this.#widths))])
  }

  header(value: unknown, path: string): void {
    const content = parseHeader(value, path)
    if (content?.kind === 'text') this.text(content.text)
    if (content?.kind === 'rows') this.#pairs(layoutRows(content.rows, this.#widths.length))
    if (content?.kind === 'pairs') this.#pairs(layoutPairs(content.pairs, this.#widths.length))
  }

  /** Excel fits no row to a merged cell, so rows that need several lines are given their height here. */
  #pairs({ cells, rows }: HeaderLayout): void {
    const lines = Array<number>(rows).fill(1)
    for (const cell of cells) {
      lines[cell.row] = Math.max(lines[cell.row]!, linesOf(String(cell.value ?? ''), cell, this.#widths))
    }
    const heights = lines.map((count) =>
      count === 1 ? undefined : Math.min(MAX_TEXT_HEIGHT, LINE_HEIGHT * count),
    )
    this.place(cells, heights)
  }

  place(cells: FixedCell[], heights: FixedArea['heights']): void {
    for (const cell of cells) this.area.cells.push({ ...cell, row: cell.row + this.area.rows })
    this.area.heights.push(...heights)
    this.area.rows += heights.length
  }

  #wide(value: FixedCell['value'], style: CellStyle): FixedCell {
    return { row: 0, column: 0, rowSpan: 1, columnSpan: this.#widths.length, value, style }
  }
}

function linesOf(text: string, cell: FixedCell, widths: readonly number[], scale = 1): number {
  const room = widths.slice(cell.column, cell.column + cell.columnSpan).reduce((sum, width) => sum + width, 0)
  return wrappedLines(text, Math.max(1, room / scale))
}
