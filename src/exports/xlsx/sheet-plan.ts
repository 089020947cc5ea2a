import type { Condition } from '../template/condition.ts'

/**
 * What the writer needs to know of one sheet, and all it knows: the template's side (`template/`) turns a request and a
 * source's first answer into this plan, the writer (`xlsx/`) turns plan and spool into a file. A plan is plain data, so
 * that it can cross into worker threads.
 *
 * A sheet reads from top to bottom: `top` (title, summary, header, column headers), the data rows, `bottom` (footer).
 * A file that is split repeats `top` in each part; `bottom` stands in the last one only.
 */
export interface SheetPlan {
  name: string
  columns: DataColumn[]
  top: FixedArea
  bottom: FixedArea
  /** Height in points of every data row; Excel's own when missing. */
  rowHeight?: number
  /** Row headers, when the template has them: the data then comes in groups, one a leaf, in this order. */
  rowHeads?: RowHeads
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

export interface CellStyle {
  bold?: boolean
  italic?: boolean
  underline?: boolean
  /** Points. */
  size?: number
  /** RRGGBB. */
  color?: string
  /** RRGGBB. */
  bgColor?: string
  align?: 'left' | 'center' | 'right'
  vAlign?: 'top' | 'middle' | 'bottom'
  wrap?: boolean
  /** Excel number format. */
  format?: string
}

/** One column of the sheet. Columns that show row headers have `field: null` and stand at `rowHeads.columns`. */
export interface DataColumn {
  /** Index of the value in a spool row; null: the column stays empty. */
  field: number | null
  type: CellType
  style: CellStyle
  /** Characters; fitted to the content when missing. */
  width?: number
  /** Evaluated on each cell's value; the first that holds wins and overrides `style`. */
  conditions: { when: Condition; style: CellStyle }[]
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
  /** Points, by row; Excel's own where missing. */
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
