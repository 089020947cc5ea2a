import type { CellStyle, CellType, DataColumn, FixedCell } from '../../sheet/index.ts'
import type { ColumnNode } from '../nodes/column-node.ts'
import { rowDepth } from '../nodes/row-node.ts'
import type { Template } from '../template.ts'
import type { Theme } from '../themes.ts'

export interface ColumnHeaders {
  rows: number
  cells: FixedCell[]
  columns: DataColumn[]
  /** The sheet's columns that show the row headers. */
  rowHeadColumns: number[]
}

/** Lays the column tree out: a group spans its leaves, a leaf spans down to the last row of the headers. */
export function layoutColumns(template: Template, theme: Theme): ColumnHeaders {
  const rows = Math.max(1, depthOf(template.columns))
  const fieldOf = new Map(template.fields.map((name, i) => [name, i]))
  const labelColumns = rowDepth(template.rows)
  const headers: ColumnHeaders = { rows, cells: [], columns: [], rowHeadColumns: [] }

  const place = (node: ColumnNode, level: number): void => {
    const column = headers.columns.length
    const isLeaf = node.children.length === 0
    const cell: FixedCell = {
      row: level,
      column,
      rowSpan: isLeaf ? rows - level : 1,
      columnSpan: 1,
      value: node.title,
      style: { ...(isLeaf ? theme.head : theme.groupHead(level)), ...node.headStyle },
    }
    headers.cells.push(cell)
    if (node.rowHead) {
      for (let i = 0; i < labelColumns; i += 1) {
        headers.rowHeadColumns.push(headers.columns.length)
        headers.columns.push(dataColumn(node, null, labelLook(i, labelColumns, theme)))
      }
    } else if (isLeaf) {
      const field = node.name === null ? null : (fieldOf.get(node.name) ?? null)
      headers.columns.push(dataColumn(node, field, dataLook(node, theme)))
    }
    for (const child of node.children) place(child, level + 1)
    cell.columnSpan = headers.columns.length - column
  }
  for (const node of template.columns) place(node, 0)
  return headers
}

/** Cells below a label are covered by it, but their borders show. */
function labelLook(level: number, levels: number, theme: Theme): CellStyle {
  const { bgColor, border } = level === levels - 1 ? theme.rowHead : theme.groupRowHead(level)
  return { ...(bgColor !== undefined && { bgColor }), ...(border !== undefined && { border }) }
}

/** Types whose cells may hold long texts. Excel wraps an address anywhere; LibreOffice wraps no link, and cuts one that is wider than its column. */
const TEXTS: readonly CellType[] = ['auto', 'string', 'link']

function dataLook(leaf: ColumnNode, theme: Theme): CellStyle {
  const wrap = leaf.wrap ?? TEXTS.includes(leaf.type)
  return { ...theme.data, ...(leaf.type === 'link' && theme.link), ...(wrap && { wrap }) }
}

function dataColumn(leaf: ColumnNode, field: number | null, look: CellStyle): DataColumn {
  return {
    field,
    type: leaf.type,
    style: { ...look, ...leaf.style },
    ...(leaf.ownFormat && { ownFormat: true }),
    ...(leaf.width === undefined ? {} : { width: leaf.width }),
    conditions: leaf.conditions,
    ...(leaf.total !== undefined && field !== null && { total: leaf.total }),
  }
}

function depthOf(nodes: readonly ColumnNode[]): number {
  return nodes.reduce((deepest, node) => Math.max(deepest, 1 + depthOf(node.children)), 0)
}
