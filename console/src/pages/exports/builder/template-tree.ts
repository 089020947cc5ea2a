export type Settings = Readonly<Record<string, unknown>>

/** A node of a template: a group over its children, or, without any, a column. Settings hold whatever it says, known or not. */
export interface TreeNode {
  settings: Settings
  children: readonly TreeNode[] | null
}

export interface TemplateTree {
  columns: readonly TreeNode[]
  /** Row headers. */
  rows: readonly TreeNode[]
  subtotals: boolean
  /** How it is written: as titles by key, as a list, or with row headers beside the columns. */
  shape: 'titles' | 'list' | 'parts'
  /** What the columns are called beside row headers. */
  word: 'ceil' | 'col'
}

export type Reading =
  | { kind: 'tree'; tree: TemplateTree }
  /** A stored one, by its name. */
  | { kind: 'use'; name: string }
  /** No JSON, or nothing that the form could show without losing some of it. */
  | { kind: 'text only' }

export const EMPTY_TREE: TemplateTree = {
  columns: [],
  rows: [],
  subtotals: false,
  shape: 'list',
  word: 'ceil',
}

/** Keys that look like numbers would be sorted to the front of an object: they carry this sign while they are in one. */
const MARK = '⁣'
const TEXT_OR_NUMBER = /"((?:[^"\\]|\\.)*)"(\s*:)?|-?\d[\d.eE+-]*/g
const MOST_DIGITS = 15

export function readTemplate(text: string): Reading {
  if (text.trim() === '') return { kind: 'tree', tree: EMPTY_TREE }
  let value: unknown
  let exact = true
  try {
    const marked = text.replace(TEXT_OR_NUMBER, (whole, key?: string, colon?: string) => {
      if (key === undefined) exact &&= whole.replace(/\D/g, '').length <= MOST_DIGITS
      return colon !== undefined && /^\d+$/.test(key ?? '') ? `"${MARK}${key}"${colon}` : whole
    })
    value = JSON.parse(marked)
  } catch {
    return { kind: 'text only' }
  }
  if (!exact) return { kind: 'text only' }
  if (value === null) return { kind: 'tree', tree: EMPTY_TREE }
  if (isObject(value) && typeof value.use === 'string' && Object.keys(value).length === 1)
    return { kind: 'use', name: value.use }
  const tree = readTree(value)
  return tree ? { kind: 'tree', tree } : { kind: 'text only' }
}

function readTree(value: unknown): TemplateTree | undefined {
  const isParts =
    isObject(value) &&
    ('ceil' in value || 'col' in value || 'row' in value) &&
    Object.values(value).some((member) => typeof member === 'object' && member !== null)
  if (!isParts) {
    const columns = readNodes(value)
    const shape = isObject(value) && !listOf(value) ? 'titles' : 'list'
    return columns && { ...EMPTY_TREE, columns, shape }
  }
  const { ceil, col, row = [], subtotals = false, ...others } = value
  if (Object.keys(others).length > 0 || ('ceil' in value && 'col' in value)) return undefined
  if (typeof subtotals !== 'boolean') return undefined
  const columns = readNodes(ceil ?? col ?? [])
  const rows = readNodes(row ?? [])
  return (
    columns && rows && { columns, rows, subtotals, shape: 'parts', word: 'col' in value ? 'col' : 'ceil' }
  )
}

function readNodes(value: unknown): TreeNode[] | undefined {
  const list = listOf(value)
  if (list) return all(list.map(readNode))
  if (!isObject(value)) return undefined
  if (listOf(value.children)) return all([readNode(value)])
  return all(
    Object.entries(value).map(([name, title]) =>
      typeof title === 'object' && title !== null
        ? undefined
        : { settings: { name: plain(name), ...(title !== null && { title }) }, children: null },
    ),
  )
}

function readNode(value: unknown): TreeNode | undefined {
  if (!isObject(value)) return undefined
  const { children, ...settings } = value
  if (children === undefined || children === null) return { settings, children: null }
  const list = listOf(children)
  const nodes = list && all(list.map(readNode))
  return nodes && { settings, children: nodes.length === 0 ? null : nodes }
}

/** A list, also one that PHP has written with gaps. */
function listOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value
  if (!isObject(value)) return undefined
  const entries = Object.entries(value)
  const isList = entries.length > 0 && entries.every(([key, item]) => key.startsWith(MARK) && isObject(item))
  return isList ? entries.map(([, item]) => item) : undefined
}

function all<T>(items: (T | undefined)[]): T[] | undefined {
  return items.every((item) => item !== undefined) ? items : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const plain = (key: string) => key.replace(MARK, '')

/** JSON that says the same, a line for each column. Empty when nothing is said. */
export function writeTemplate({ columns, rows, subtotals, shape, word }: TemplateTree): string {
  if (columns.length === 0 && rows.length === 0) return ''
  if (rows.length > 0 || shape === 'parts') {
    const parts = [
      ...(columns.length > 0 ? [`  "${word}": ${listText(columns, 1)}`] : []),
      ...(rows.length > 0 ? [`  "row": ${listText(rows, 1)}`] : []),
      ...(subtotals && rows.length > 0 ? ['  "subtotals": true'] : []),
    ]
    return `{\n${parts.join(',\n')}\n}`
  }
  if (shape === 'titles' && areTitles(columns)) {
    const members = columns.map(
      ({ settings: { name, title = null } }) => `  ${JSON.stringify(String(name))}: ${JSON.stringify(title)}`,
    )
    return `{\n${members.join(',\n')}\n}`
  }
  return listText(columns, 0)
}

/** Whether each has a key of its own, a title and nothing else. A column called `use` would be the name of a template. */
function areTitles(columns: readonly TreeNode[]): boolean {
  const names = new Set(columns.map(({ settings: { name } }) => String(name)))
  return (
    names.size === columns.length &&
    !(names.size === 1 && names.has('use')) &&
    columns.every(({ settings, children }) => {
      const { name, title, ...others } = settings
      return (
        children === null &&
        name !== undefined &&
        typeof title !== 'object' &&
        Object.keys(others).length === 0
      )
    })
  )
}

function listText(nodes: readonly TreeNode[], depth: number): string {
  if (nodes.length === 0) return '[]'
  const space = '  '.repeat(depth + 1)
  const items = nodes.map((node) => `${space}${nodeText(node, depth + 1)}`)
  return `[\n${items.join(',\n')}\n${'  '.repeat(depth)}]`
}

function nodeText({ settings, children }: TreeNode, depth: number): string {
  const members = Object.entries(settings).map(([name, value]) => `${JSON.stringify(name)}: ${flat(value)}`)
  if (children !== null) members.push(`"children": ${listText(children, depth)}`)
  return `{${members.join(', ')}}`
}

/** On one line, with the blanks that people write. */
function flat(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flat).join(', ')}]`
  if (!isObject(value)) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(plain(name))}: ${flat(member)}`)
    .join(', ')}}`
}
