import { templateError } from '../../condition/index.ts'
import type { CellStyle } from '../../sheet/index.ts'
import { type JsonObject, memberOf, nameOf } from '../json-shape.ts'
import { refuseUnknown } from '../known-fields.ts'
import { alignmentOf, paintOf } from './node-style.ts'
import { type RawNode, readTrees, type TreeLimits } from './node-tree.ts'

/** A node of the tree of row headers; a leaf is beside the rows that carry its name. */
export interface RowNode {
  /** Key of the leaf's rows; null: it has none, and keeps its place with empty rows. */
  name: string | null
  title: string
  style: CellStyle
  /** Rows kept free, on a leaf only. */
  reserve?: number
  children: RowNode[]
}

const MAX_RESERVE = 1_048_576

export function readRows(value: unknown, path: string, limits: TreeLimits): RowNode[] {
  const rows = readTrees(value, path, limits, 'row').map(rowOf)
  refuseTwins(rows, path)
  return rows
}

export function rowLeaves(rows: readonly RowNode[]): RowNode[] {
  return rows.flatMap((row) => (row.children.length === 0 ? [row] : rowLeaves(row.children)))
}

/** How many of the sheet's columns the labels take. */
export function rowDepth(rows: readonly RowNode[]): number {
  return rows.reduce((deepest, row) => Math.max(deepest, 1 + rowDepth(row.children)), 0)
}

function rowOf(raw: RawNode): RowNode {
  refuseUnknown(raw.settings, 'row', raw.path)
  const isLeaf = raw.children.length === 0
  const reserve = isLeaf ? reserveOf(raw.settings, raw.path) : undefined
  return {
    name: isLeaf ? raw.name : null,
    title: raw.title,
    style: { ...paintOf(raw.settings, raw.path), ...alignmentOf(raw.settings, raw.path) },
    ...(reserve === undefined ? {} : { reserve }),
    children: raw.children.map(rowOf),
  }
}

function reserveOf(settings: JsonObject, path: string): number | undefined {
  const value = memberOf(settings, 'row_count')
  if (value === undefined || value === '') return undefined
  const count = typeof value === 'string' ? Number(value) : value
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > MAX_RESERVE) {
    throw templateError(
      `${path}.row_count`,
      `expected a whole number of rows up to ${MAX_RESERVE}, found ${nameOf(value)}`,
    )
  }
  return count === 0 ? undefined : count
}

/** Rows that two leaves claim would belong to neither. */
function refuseTwins(rows: RowNode[], path: string): void {
  const seen = new Set<string>()
  for (const { name } of rowLeaves(rows)) {
    if (name === null) continue
    if (seen.has(name)) throw templateError(path, `two row headers are named ${JSON.stringify(name)}`)
    seen.add(name)
  }
}
