import type {
  CellStyle,
  DataColumn,
  FixedArea,
  FixedCell,
  RowGroup,
  RowHeads,
  SheetPlan,
  TotalsPlan,
} from '../sheet/index.ts'
import {
  type HeaderLayout,
  htmlToRuns,
  layoutColumns,
  layoutPairs,
  layoutRows,
  parseHeader,
} from './header/index.ts'
import type { ColumnNode } from './nodes/column-node.ts'
import { type RowNode, rowDepth, rowLeaves } from './nodes/row-node.ts'
import type { Template } from './template.ts'
import { type Theme, type ThemeName, themeOf } from './themes.ts'

export interface SheetRequest {
  name: string
  template: Template
  title?: string | null | undefined
  /** HTML subset, or plain text. */
  summary?: string | null | undefined
  /** As it came with the request or from the source. */
  header?: unknown
  footer?: unknown
  theme?: ThemeName
  /** Fields of the spool that hold nothing but numbers: where the template gives no alignment, they go to the right. */
  numeric?: ReadonlySet<number>
  /** Marks the sheet; one line each for its printed pages. */
  watermark?: readonly string[] | undefined
}

/** Title, summary, header and footer reach over the whole table, but no wider than a screen. */
const MAX_AREA_COLUMNS = 20

/** Lays a sheet out, from top to bottom: title, summary, header, column headers, data, footer. */
export function planSheet(request: SheetRequest): SheetPlan {
  const { template } = request
  const theme = themeOf(request.theme ?? 'business')
  const headers = layoutColumns(template, theme)
  alignUndeclared(headers, request.numeric)
  unwrapNumbers(headers, request.numeric)
  indentSides(headers, theme)
  const width = Math.max(1, Math.min(MAX_AREA_COLUMNS, headers.columns.length))

  const top = new AreaBuilder(width, theme)
  if (request.title) top.title(request.title)
  if (request.summary) top.text(request.summary)
  top.header(request.header, 'header')
  if (headers.columns.length === 0) top.text(NO_ROWS[languageOf([request.title ?? '', request.name])])
  top.place(headers.cells, Array(headers.rows).fill(undefined))
  const bottom = new AreaBuilder(width, theme)
  bottom.header(request.footer, 'footer')

  const mark = new AreaBuilder(width, theme)
  if (request.watermark) mark.watermark(request.watermark.join(' · '))

  const rowHeight = Math.max(0, ...template.leaves.map((leaf) => leaf.height ?? 0))
  const { usualHeight } = theme
  return {
    name: request.name,
    columns: headers.columns,
    top: top.area,
    headRows: headers.rows,
    ...(request.title && { title: request.title }),
    bottom: bottom.area,
    ...(request.watermark && { mark: mark.area, watermark: request.watermark }),
    ...(rowHeight > 0 && { rowHeight }),
    ...(usualHeight !== undefined && { usualHeight }),
    ...totalsOf(template, theme, request.title),
    ...(template.rows.length > 0 && {
      rowHeads: layoutRowHeads(template.rows, headers.rowHeadColumns, theme),
    }),
  }
}

/** Columns without a node of their own: numbers to the right, with their header; everything else to the left. */
function alignUndeclared(
  { cells, columns }: { cells: FixedCell[]; columns: DataColumn[] },
  numeric: ReadonlySet<number> = new Set(),
): void {
  columns.forEach((column, index) => {
    if (column.style.align !== undefined || column.field === null) return
    const align = numeric.has(column.field) ? 'right' : 'left'
    column.style = { ...column.style, align }
    for (const cell of cells) {
      if (cell.column === index && cell.columnSpan === 1) cell.style = { align, ...cell.style }
    }
  })
}

/** A number that wraps is shown in pieces by some readers, and as #### by none. */
function unwrapNumbers(
  { columns }: { columns: DataColumn[] },
  numeric: ReadonlySet<number> = new Set(),
): void {
  for (const column of columns) {
    if (column.type !== 'auto' || column.field === null || !numeric.has(column.field)) continue
    const { wrap: _, ...style } = column.style
    column.style = style
  }
}

/** Numbers to the right and texts to the left would touch each other and the lines between them. */
function indentSides(
  { cells, columns }: { cells: FixedCell[]; columns: DataColumn[] },
  { indent }: Theme,
): void {
  if (indent === undefined) return
  for (const cell of [...cells, ...columns]) {
    const { align } = cell.style
    if (align === 'left' || align === 'right') cell.style = { ...cell.style, indent }
  }
}

/** Stacks blocks of cells, each below the one before. */
class AreaBuilder {
  readonly area: FixedArea = { rows: 0, heights: [], cells: [] }
  /** Columns over which the area reaches. */
  readonly #width: number
  readonly #theme: Theme

  constructor(width: number, theme: Theme) {
    this.#width = width
    this.#theme = theme
  }

  title(text: string): void {
    this.place([this.#wide(text, this.#theme.title)], [this.#theme.titleHeight])
  }

  text(html: string): void {
    const runs = htmlToRuns(html)
    const text = runs.map((run) => run.text).join('')
    if (text.trim() === '') return
    const isPlain = runs.length === 1 && Object.keys(runs[0]!).length === 1
    this.place([this.#wide(isPlain ? text : runs, this.#theme.text)], [undefined])
  }

  watermark(text: string): void {
    this.place([this.#wide(text, this.#theme.mark)], [undefined])
  }

  header(value: unknown, path: string): void {
    const content = parseHeader(value, path)
    if (content?.kind === 'text') this.text(content.text)
    if (content?.kind === 'rows') this.#pairs(layoutRows(content.rows, this.#width, this.#theme))
    if (content?.kind === 'pairs') this.#pairs(layoutPairs(content.pairs, this.#width, this.#theme))
  }

  #pairs({ cells, rows }: HeaderLayout): void {
    this.place(cells, Array(rows).fill(undefined))
  }

  place(cells: FixedCell[], heights: FixedArea['heights']): void {
    for (const cell of cells) this.area.cells.push({ ...cell, row: cell.row + this.area.rows })
    this.area.heights.push(...heights)
    this.area.rows += heights.length
  }

  #wide(value: FixedCell['value'], style: CellStyle): FixedCell {
    return { row: 0, column: 0, rowSpan: 1, columnSpan: this.#width, value, style }
  }
}

/** One group a leaf, each with the labels that begin at it: a leaf above the deepest level spans what is left of it. */
function layoutRowHeads(rows: readonly RowNode[], columns: number[], theme: Theme): RowHeads {
  const levels = rowDepth(rows)
  const groups: RowGroup[] = []

  const place = (node: RowNode, level: number, pending: RowGroup['labels']): void => {
    const isLeaf = node.children.length === 0
    const labels = [
      ...pending,
      {
        level,
        levels: isLeaf ? levels - level : 1,
        groups: isLeaf ? 1 : rowLeaves(node.children).length,
        title: node.title,
        style: { ...(isLeaf ? theme.rowHead : theme.groupRowHead(level)), ...node.style },
      },
    ]
    if (isLeaf) {
      groups.push({
        name: node.name ?? '',
        ...(node.reserve === undefined ? {} : { reserve: node.reserve }),
        labels,
      })
    }
    // Only the first child carries what begins above it.
    node.children.forEach((child, i) => {
      place(child, level + 1, i === 0 ? labels : [])
    })
  }
  for (const node of rows) place(node, 0, [])
  return { columns, groups }
}

/** In the language of most titles of the template and the sheet. */
const TITLES = {
  japanese: { title: '合計', subtotal: ' 小計', part: '（第{n}部）' },
  chinese: { title: '合计', subtotal: ' 小计', part: '（第{n}部分）' },
  other: { title: 'Total', subtotal: ' subtotal', part: ' (part {n})' },
}

/** Of a sheet that has not even columns. */
const NO_ROWS = { japanese: 'データなし', chinese: '无数据', other: 'No data' }

/** The row of totals, where a column of the template has one. */
function totalsOf(
  { columns, rows, leaves, subtotals }: Template,
  theme: Theme,
  sheetTitle?: string | null,
): { totals?: TotalsPlan } {
  if (leaves.every(({ total }) => total === undefined)) return {}
  const { title, subtotal, part } =
    TITLES[languageOf([sheetTitle ?? '', ...titlesOf(columns), ...titlesOf(rows)])]
  const below = subtotals && {
    subtotalEnding: subtotal,
    subtotalPartEnding: `${subtotal}${part}`,
    subtotalStyle: theme.subtotal,
  }
  return { totals: { title, partTitle: `${title}${part}`, style: theme.total, ...below } }
}

/**
 * Han or kana in most titles, and kana in any of those, because many Japanese titles have none. One name in another script does not
 * decide for the others; titles without letters (`2026`, `%`) have no say.
 */
function languageOf(titles: readonly string[]): keyof typeof TITLES {
  const spoken = titles.filter((title) => /\p{L}/u.test(title))
  const eastern = spoken.filter(isEastern)
  if (eastern.length * 2 <= spoken.length) return 'other'
  return eastern.some((title) => KANA.test(title)) ? 'japanese' : 'chinese'
}

const KANA = /[\p{Script=Hiragana}\p{Script=Katakana}]/u
const EASTERN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu

/** A character of these counts as a word of others: `SKU 编号` is, and `Sales of 王 Ltd` is not. */
function isEastern(title: string): boolean {
  const characters = title.match(EASTERN)?.length ?? 0
  return characters > 0 && characters >= (title.replace(EASTERN, ' ').match(/\p{L}+/gu)?.length ?? 0)
}

function titlesOf(nodes: readonly (ColumnNode | RowNode)[]): string[] {
  return nodes.flatMap(({ title, children }) => [title, ...titlesOf(children)])
}
