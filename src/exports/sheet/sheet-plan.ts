import type { Condition } from '../condition/index.ts'

/**
 * What the writer needs to know of one sheet, and all it knows: the template's side (`template/`) turns a request and a
 * source's first answer into this plan, the writer (`xlsx/`) turns plan and spool into a file. A plan is plain data, so
 * that it can cross into worker threads.
 *
 * A sheet reads from top to bottom: `top` (title, summary, header, column headers), the data rows, `bottom` (footer).
 * A file that is split repeats `top` in each part; `bottom` is in the last one only.
 */
export interface SheetPlan {
  name: string
  /** What a printed page says at its top; the sheet's name when missing. */
  title?: string
  columns: DataColumn[]
  top: FixedArea
  /** Rows at the end of `top` that head the columns: they repeat on each printed page, and the last one filters. */
  headRows?: number
  bottom: FixedArea
  /** What is below everything else, in each part. */
  mark?: FixedArea
  /** Lines that a printed page shows large and light in its header, and all of them in its footer. */
  watermark?: readonly string[]
  /** Height in points of every data row; fitted to the texts that wrap when missing. */
  rowHeight?: number
  /** Height in points of a row of one line; Excel's own when missing. */
  usualHeight?: number
  /** Row headers, when the template has them: the data then comes in groups, one a leaf, in this order. */
  rowHeads?: RowHeads
  totals?: TotalsPlan
}

/** What is shown below a column. */
export type Total = 'sum' | 'avg' | 'count' | 'min' | 'max'

/** The row of totals at the end of each file, where a column has one. */
export interface TotalsPlan {
  title: string
  /** In a file that holds only part of the rows; `{n}` is the number of the part. */
  partTitle: string
  style: CellStyle
  /** With row headers: a row below each of them, with its title followed by this. */
  subtotalEnding?: string
  /** Of a row header that goes on in the next file, or began in one before; `{n}` is the number of the part. */
  subtotalPartEnding?: string
  subtotalStyle?: CellStyle
}

export type CellType =
  | 'auto'
  | 'string'
  | 'number'
  | 'integer'
  | 'money'
  | 'percent'
  | 'date'
  | 'datetime'
  | 'boolean'
  | 'link'

export interface CellStyle {
  bold?: boolean
  italic?: boolean
  underline?: boolean
  /** Points. */
  size?: number
  /** RRGGBB. */
  color?: string
  /** RRGGBB, or `none`. */
  bgColor?: string
  align?: 'left' | 'center' | 'right'
  vAlign?: 'top' | 'middle' | 'bottom'
  wrap?: boolean
  /** Characters between the text and the border on its side. */
  indent?: number
  /** Excel number format. */
  format?: string
  /** Name of the font; Calibri when missing. */
  font?: string
  /** RRGGBB of thin lines on all four sides. */
  border?: string
  /** Points that a fitted row of a fixed area gets besides its lines. */
  padding?: number
}

/** One column of the sheet. Columns that show row headers have `field: null` and are at `rowHeads.columns`. */
export interface DataColumn {
  /** Index of the value in a spool row; null: the column stays empty. */
  field: number | null
  type: CellType
  style: CellStyle
  /** Characters; fitted to the content when missing. */
  width?: number
  /** Evaluated on each cell's value; the first that holds wins and overrides `style`. */
  conditions: { when: Condition; style: CellStyle }[]
  total?: Total
  /** The template asks for the format; otherwise it follows from type and digits. */
  ownFormat?: true
  /** Of the total, where the column has no format. */
  totalFormat?: string
}

export interface RichRun {
  text: string
  bold?: boolean
  italic?: boolean
  underline?: boolean
  color?: string
}

export interface FixedCell {
  /** Zero-based, counted inside the area. */
  row: number
  column: number
  rowSpan: number
  columnSpan: number
  value: string | number | boolean | null | RichRun[]
  style: CellStyle
}

export interface FixedArea {
  rows: number
  /** Points, by row: the least that it gets. The writer makes rows higher whose texts need it. */
  heights: (number | undefined)[]
  cells: FixedCell[]
}

export interface RowHeads {
  /** Sheet columns that show the labels, outermost level first. */
  columns: number[]
  groups: RowGroup[]
}

/** One leaf of the row tree: its rows, and the labels that begin at it. */
export interface RowGroup {
  /** Key of this leaf's rows in the data. */
  name: string
  /** Rows kept free for it; as many as the data has when missing, and never fewer than one. */
  reserve?: number
  /** Labels that start at this group and cover `groups` leaves; `levels` > 1 spans the remaining label columns. */
  labels: { level: number; levels: number; groups: number; title: string; style: CellStyle }[]
}
