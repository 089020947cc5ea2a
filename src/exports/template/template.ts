import { counted, plainKey } from '../../kernel/index.ts'
import { ConditionBudget, templateError, tooCostly } from '../condition/index.ts'
import type { CellStyle } from '../sheet/index.ts'
import { entriesOf, isJsonObject, isNothing, memberOf } from './json-shape.ts'
import { refuseUnknown } from './known-fields.ts'
import { type ColumnNode, columnSettings } from './nodes/column-node.ts'
import { flagOf } from './nodes/node-style.ts'
import { type RawNode, readTrees, requireFewKeys, type TreeLimits } from './nodes/node-tree.ts'
import { type RowNode, readRows, rowDepth, rowLeaves } from './nodes/row-node.ts'

/** How a sheet's columns and rows are headed. Plain data: it can be stored, and sent to another thread. */
export interface Template {
  columns: ColumnNode[]
  /** The columns of the sheet from left to right; the row headers' leaf may take several of the sheet's columns. */
  leaves: ColumnNode[]
  /** Keys to pull out of each row, in the order of the spool's fields, each once. */
  fields: string[]
  /** The tree of row headers, empty when there are none. */
  rows: RowNode[]
  /** Each row header has a row of totals of its own. */
  subtotals: boolean
  /** The columns are the data's keys: the template declares none. */
  fromKeys: boolean
}

export interface TemplateOptions {
  /** Keys of the data's rows: they are the columns where the template declares none. */
  keys?: readonly string[]
  /** What error messages call the template. */
  path?: string
}

const COLUMN_LIMITS: TreeLimits = { depth: 16, leaves: 16_384 }
const ROW_LIMITS: TreeLimits = { depth: 16, leaves: 10_000 }

const MAX_RESERVED_CELLS = 20_000_000
const MAX_REPEATS = 64

/** Names of a column that all mean "the row headers' own column", as long as there are row headers. */
export const ROW_HEAD_NAMES: ReadonlySet<string> = new Set(['__row__', '_row_header', '_row_head_'])

/**
 * Reads a template in any of its shapes: a list of nodes, the short form `{name: title}`, or `{ceil | col, row}`. Null
 * when it declares nothing and no keys are known: then the rows' keys decide. They do as well where only row
 * headers are declared: without keys such a template has no fields yet.
 */
export function parseTemplate(input: unknown, options: TemplateOptions = {}): Template | null {
  const path = options.path ?? 'template'
  if (isNothing(input)) return options.keys ? templateFromKeys(options.keys, path) : null
  const parts = splitParts(input, path)
  const rows = isNothing(parts.row) ? [] : readRows(parts.row, `${path}.row`, ROW_LIMITS)
  if (isNothing(parts.columns) && rows.length === 0 && !options.keys) return null
  const reader = { hasRows: rows.length > 0, budget: new ConditionBudget() }
  const columns = isNothing(parts.columns)
    ? keysToColumns(options.keys ?? [], path, reader)
    : readTrees(parts.columns, parts.columnsPath, COLUMN_LIMITS, 'column').map((raw) => columnOf(raw, reader))
  const { subtotals } = parts
  const template = assemble(columns, rows, parts.columnsPath)
  if (subtotals && rows.length === 0)
    throw templateError(`${path}.subtotals`, 'is for row headers: "row" is missing')
  if (subtotals && template.leaves.every(({ total }) => total === undefined))
    throw templateError(`${path}.subtotals`, 'needs a column with totals')
  return { ...template, subtotals, fromKeys: isNothing(parts.columns) }
}

/** Each key is a column, and its title. */
export function templateFromKeys(keys: readonly string[], path = 'template'): Template {
  const columns = keysToColumns(keys, path, { hasRows: false, budget: new ConditionBudget() })
  return { ...assemble(columns, [], path), subtotals: false, fromKeys: true }
}

interface TemplateParts {
  columns: unknown
  columnsPath: string
  row: unknown
  subtotals: boolean
}

function splitParts(input: unknown, path: string): TemplateParts {
  const short = { columns: input, columnsPath: path, row: undefined, subtotals: false }
  if (!isJsonObject(input)) return short
  requireFewKeys(input, path, COLUMN_LIMITS)
  const entries = entriesOf(input)
  // A table may well have columns named "col" or "row": then every value is a title.
  if (entries.every(([, value]) => typeof value !== 'object' || value === null)) return short
  const keys = new Set(entries.map(([key]) => key))
  if (keys.has('ceil') && keys.has('col')) {
    throw templateError(path, '"ceil" and "col" both name the columns; give one of them')
  }
  const word = keys.has('ceil') ? 'ceil' : 'col'
  const isRowAlone = keys.has('row') && keys.size === (keys.has('subtotals') ? 2 : 1)
  if (!keys.has(word) && !isRowAlone) return short
  refuseUnknown(input, 'template', path)
  return {
    columns: memberOf(input, word),
    columnsPath: `${path}.${word}`,
    row: memberOf(input, 'row'),
    subtotals: flagOf(input, 'subtotals', path) ?? false,
  }
}

interface ColumnReader {
  hasRows: boolean
  budget: ConditionBudget
}

function keysToColumns(keys: readonly string[], path: string, reader: ColumnReader): ColumnNode[] {
  const own = keys.map(plainKey).filter((key) => !reader.hasRows || !ROW_HEAD_NAMES.has(key))
  const nodes = own.map((name) => ({ name, title: name, settings: {}, path, children: [] }))
  return nodes.map((node) => withoutAlignment(columnOf(node, reader)))
}

/** Nobody asked for centred columns here: numbers and texts are aligned as people expect. */
function withoutAlignment(node: ColumnNode): ColumnNode {
  const { align: _, ...headStyle } = node.headStyle
  const { align: __, ...style } = node.style
  return { ...node, headStyle, style }
}

function columnOf(raw: RawNode, reader: ColumnReader): ColumnNode {
  refuseUnknown(raw.settings, 'column', raw.path)
  const isLeaf = raw.children.length === 0
  const rowHead = isLeaf && reader.hasRows && raw.name !== null && ROW_HEAD_NAMES.has(raw.name)
  return {
    name: isLeaf && !rowHead ? raw.name : null,
    // The corner above the row headers stays empty rather than showing one of their technical names.
    title: rowHead && raw.title === raw.name ? '' : raw.title,
    rowHead,
    children: raw.children.map((child) => columnOf(child, reader)),
    ...columnSettings(raw.settings, raw.path, reader.budget),
  }
}

const ROW_HEAD_STYLE: CellStyle = { align: 'center', vAlign: 'middle' }

function assemble(
  declared: ColumnNode[],
  rows: RowNode[],
  path: string,
): Omit<Template, 'fromKeys' | 'subtotals'> {
  const columns = [...declared]
  const found = leavesOf(columns).filter((leaf) => leaf.rowHead).length
  if (found > 1) throw templateError(path, 'only one column can show the row headers')
  if (found === 0 && rows.length > 0) {
    columns.unshift({
      name: null,
      title: '',
      rowHead: true,
      children: [],
      headStyle: ROW_HEAD_STYLE,
      type: 'auto',
      style: ROW_HEAD_STYLE,
      conditions: [],
    })
  }
  const leaves = leavesOf(columns)
  const width = leaves.length + (rows.length > 0 ? rowDepth(rows) - 1 : 0)
  if (width > COLUMN_LIMITS.leaves) {
    throw templateError(path, `${counted(width, 'column')}, and a sheet has ${COLUMN_LIMITS.leaves}`)
  }
  refuseVastReserve(rows, width, path)
  refuseRepeats(leaves, path)
  const fields = [...new Set(leaves.flatMap((leaf) => (leaf.name === null ? [] : [leaf.name])))]
  return { columns, leaves, fields, rows }
}

/** Rows that `row_count` keeps free are written whatever the data has. */
function refuseVastReserve(rows: RowNode[], width: number, path: string): void {
  const reserved = rowLeaves(rows).reduce((sum, { reserve = 0 }) => sum + reserve, 0)
  const cells = reserved * width
  if (cells > MAX_RESERVED_CELLS) {
    throw tooCostly(path, 'cells of rows kept free by row_count', {
      cost: cells,
      limit: MAX_RESERVED_CELLS,
      per: 'template',
    })
  }
}

/** A row grows by the value of its longest field for each column that shows it. */
function refuseRepeats(leaves: ColumnNode[], path: string): void {
  const byName = Map.groupBy(leaves, ({ name }) => name)
  byName.delete(null)
  const cost = [...byName.values()].reduce((most, { length }) => Math.max(most, length), 0)
  if (cost > MAX_REPEATS)
    throw tooCostly(path, 'columns of the same name', { cost, limit: MAX_REPEATS, per: 'row' })
}

export function leavesOf(columns: readonly ColumnNode[]): ColumnNode[] {
  return columns.flatMap((column) => (column.children.length === 0 ? [column] : leavesOf(column.children)))
}
