import type { CellStyle, DataColumn, FixedCell } from '../xlsx/sheet-plan.ts'
import type { ColumnNode } from './column-node.ts'
import { rowDepth } from './row-node.ts'
import type { Template } from './template.ts'

const HEAD: CellStyle = { bold: true, wrap: true }

export interface ColumnHeaders {
  rows: number
  cells: FixedCell[]
  columns: DataColumn[]
  /** The sheet's columns that show the row headers. */
  rowHeadColumns: number[]
}

/** Lays the column tree out: a group spans its leaves, a leaf spans down to the last row of the headers. */
export function layoutColumns(template: Template): ColumnHeaders {
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
      style: { ...HEAD, ...node.headStyle },
    }
    headers.cells.push(cell)
    if (node.rowHead) {
      for (let i = 0; i < labelColumns; i += 1) {
        headers.rowHeadColumns.push(headers.columns.length)
        headers.columns.push(dataColumn(node, null))
      }
    } else if (isLeaf) {
      headers.columns.push(dataColumn(node, node.name === null ? null : (fieldOf.get(node.name) ?? null)))
    }
    for (const child of node.children) place(child, level + 1)
    cell.columnSpan = headers.columns.length - column
  }
  for (const node of template.columns) place(node, 0)
  return headers
}

function dataColumn(leaf: ColumnNode, field: number | null): DataColumn {
  return {
    field,
    type: leaf.type,
    style: leaf.style,
    ...(leaf.width === undefined ? {} : { width: leaf.width }),
    conditions: leaf.conditions,
  }
}

function depthOf(nodes: readonly ColumnNode[]): number {
  return nodes.reduce((deepest, node) => Math.max(deepest, 1 + depthOf(node.children)), 0)
}
