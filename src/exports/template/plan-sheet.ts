import type { CellStyle, FixedArea, FixedCell, SheetPlan } from '../xlsx/sheet-plan.ts'
import { layoutColumns } from './column-headers.ts'
import { layoutPairs, layoutRows } from './header-layout.ts'
import { parseHeader } from './header-pairs.ts'
import { htmlToRuns } from './html-runs.ts'
import { layoutRowHeads } from './row-heads.ts'
import type { Template } from './template.ts'
import { wrappedLines } from './text-width.ts'

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

const TITLE: CellStyle = { bold: true, size: 16, align: 'center', vAlign: 'middle', wrap: true }
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
  const characters = headers.columns
    .slice(0, width)
    .reduce((sum, column) => sum + (column.width ?? USUAL_WIDTH), 0)

  const top = new AreaBuilder(width, characters)
  if (request.title) top.title(request.title)
  if (request.summary) top.text(request.summary)
  top.header(request.header, 'header')
  top.place(headers.cells, headers.rows)
  const bottom = new AreaBuilder(width, characters)
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
  readonly #width: number
  /** Characters that fit into one line over the whole width. */
  readonly #characters: number

  constructor(width: number, characters: number) {
    this.#width = width
    this.#characters = Math.max(1, characters)
  }

  title(text: string): void {
    this.#wide(text, TITLE, TITLE_HEIGHT)
  }

  text(html: string): void {
    const runs = htmlToRuns(html)
    const text = runs.map((run) => run.text).join('')
    if (text.trim() === '') return
    const isPlain = runs.length === 1 && Object.keys(runs[0]!).length === 1
    const height = wrappedLines(text, this.#characters) * LINE_HEIGHT
    this.#wide(isPlain ? text : runs, TEXT, Math.min(MAX_TEXT_HEIGHT, height))
  }

  header(value: unknown, path: string): void {
    const content = parseHeader(value, path)
    if (content?.kind === 'text') this.text(content.text)
    if (content?.kind === 'rows') {
      const { cells, rows } = layoutRows(content.rows, this.#width)
      this.place(cells, rows)
    }
    if (content?.kind === 'pairs') {
      const cells = layoutPairs(content.pairs, this.#width)
      this.place(cells, Math.max(0, ...cells.map((cell) => cell.row + 1)))
    }
  }

  place(cells: FixedCell[], rows: number, height?: number): void {
    for (const cell of cells) this.area.cells.push({ ...cell, row: cell.row + this.area.rows })
    for (let i = 0; i < rows; i += 1) this.area.heights.push(height)
    this.area.rows += rows
  }

  #wide(value: FixedCell['value'], style: CellStyle, height: number): void {
    this.place([{ row: 0, column: 0, rowSpan: 1, columnSpan: this.#width, value, style }], 1, height)
  }
}
