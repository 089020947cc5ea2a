import {
  boundsOf,
  type Condition,
  type ConditionBudget,
  parseCondition,
  templateError,
} from '../../condition/index.ts'
import {
  type CellStyle,
  type CellType,
  checkOf,
  type DataColumn,
  formatFault,
  MASKS,
  type Mask,
  type Total,
  textFits,
} from '../../sheet/index.ts'
import { isJsonObject, type JsonObject, listOf, memberOf, nameOf, textOf } from '../json-shape.ts'
import { refuseUnknown } from '../known-fields.ts'
import { alignmentOf, choiceOf, flagOf, paintOf, sizeOf } from './node-style.ts'

/**
 * A node of the column tree. A leaf is a column of the sheet, everything else groups what is below it: its name is
 * not looked for in the data, and its settings concern its own header cell alone (nothing is inherited).
 */
export interface ColumnNode {
  /** Key in the data's rows; null: an empty column. */
  name: string | null
  title: string
  /** The leaf that shows the row headers. */
  rowHead: boolean
  children: ColumnNode[]
  /** The header cell, without what all header cells share. */
  headStyle: CellStyle
  type: CellType
  /** The data cells. */
  style: CellStyle
  /** Its format is the node's, not its type's. */
  ownFormat?: true
  width?: number
  /** Points that every data row gets. */
  height?: number
  /** Whether long texts go on in the next line; by type when missing. */
  wrap?: boolean
  conditions: DataColumn['conditions']
  /** How its values are hidden, before they are spooled. */
  mask?: Mask
  /** What is shown below its values. */
  total?: Total
}

export const TYPES = [
  'auto',
  'string',
  'number',
  'integer',
  'money',
  'percent',
  'date',
  'datetime',
  'boolean',
  'link',
] as const satisfies readonly CellType[]

export const TOTALS = ['sum', 'avg', 'count', 'min', 'max'] as const satisfies readonly Total[]
/** Types that hold no numbers; dates are numbers whose sum means nothing. */
const UNCOUNTABLE: Partial<Record<CellType, readonly Total[]>> = {
  string: ['sum', 'avg', 'min', 'max'],
  link: ['sum', 'avg', 'min', 'max'],
  boolean: ['sum', 'avg', 'min', 'max'],
  date: ['sum'],
  datetime: ['sum'],
}

/** Number formats of the types that need one to look like what they are; a node's own `format` wins. */
export const DEFAULT_FORMATS: Partial<Record<CellType, string>> = {
  string: '@',
  integer: '0',
  money: '#,##0.00',
  percent: '0.00%',
  date: 'yyyy-mm-dd',
  datetime: 'yyyy-mm-dd hh:mm:ss',
}

/** Excel's own limits. */
const MAX_WIDTH = 255
const MAX_HEIGHT = 409
/** Each condition is tried on every cell of its column. */
const MAX_CONDITIONS = 64

/** Everything of a node but its name, title and children. */
export function columnSettings(
  node: JsonObject,
  path: string,
  budget: ConditionBudget,
): Omit<ColumnNode, 'name' | 'title' | 'rowHead' | 'children'> {
  const type = choiceOf(memberOf(node, 'type'), TYPES, `${path}.type`) ?? 'auto'
  const paint = paintOf(node, path)
  const alignment = alignmentOf(node, path)
  const { bold: _, ...headPaint } = paint
  const width = sizeOf(node, 'width', MAX_WIDTH, path)
  if (width !== undefined && isGroup(node))
    throw templateError(`${path}.width`, 'a group is as wide as its columns; give them the width')
  const mask = choiceOf(memberOf(node, 'mask'), MASKS, `${path}.mask`)
  if (mask !== undefined && isGroup(node))
    throw templateError(`${path}.mask`, 'a group has no values to hide; give the mask to its columns')
  const height = sizeOf(node, 'height', MAX_HEIGHT, path)
  const wrap = flagOf(node, 'wrap', path)
  const total = totalOf(node, type, path)
  const ownFormat = formatOf(node, path)
  const format = ownFormat ?? DEFAULT_FORMATS[type]
  return {
    type,
    headStyle: { ...headPaint, ...alignment },
    style: { ...paint, ...alignment, ...(format === undefined ? {} : { format }) },
    ...(ownFormat === undefined ? {} : { ownFormat: true as const }),
    ...(width === undefined ? {} : { width }),
    ...(height === undefined ? {} : { height }),
    ...(wrap === undefined ? {} : { wrap }),
    ...(mask === undefined ? {} : { mask }),
    ...(total === undefined ? {} : { total }),
    conditions: conditionsOf(node, path, { budget, type }),
  }
}

function isGroup(node: JsonObject): boolean {
  return Boolean(listOf(memberOf(node, 'children'))?.length)
}

function totalOf(node: JsonObject, type: CellType, path: string): Total | undefined {
  const total = choiceOf(memberOf(node, 'totals'), TOTALS, `${path}.totals`)
  if (total === undefined) return undefined
  if (isGroup(node)) throw templateError(`${path}.totals`, 'only a column has a total')
  if (UNCOUNTABLE[type]?.includes(total))
    throw templateError(`${path}.totals`, `a column of the type ${type} has no ${total}`)
  return total
}

function formatOf(node: JsonObject, path: string): string | undefined {
  const format = textOf(memberOf(node, 'format'), `${path}.format`)
  const fault = format ? formatFault(format) : undefined
  if (fault) throw templateError(`${path}.format`, `${JSON.stringify(format)} is no number format: ${fault}`)
  return format || undefined
}

/** `condition_style` is a list, or one entry without a list around it. */
function conditionsOf(
  node: JsonObject,
  path: string,
  column: { budget: ConditionBudget; type: CellType },
): DataColumn['conditions'] {
  const value = memberOf(node, 'condition_style')
  if (value === undefined) return []
  const list = listOf(value)
  if (list && list.length > MAX_CONDITIONS) {
    throw templateError(`${path}.condition_style`, `a column may have ${MAX_CONDITIONS} condition styles`)
  }
  const conditions = list
    ? list.map((entry, i) => conditionOf(entry, `${path}.condition_style[${i}]`, column))
    : [conditionOf(value, `${path}.condition_style`, column)]
  column.budget.takeCell(
    conditions.map(({ when }) => when),
    `${path}.condition_style`,
  )
  return conditions
}

function conditionOf(
  entry: unknown,
  path: string,
  { budget, type }: { budget: ConditionBudget; type: CellType },
): DataColumn['conditions'][number] {
  if (!isJsonObject(entry)) {
    throw templateError(path, `expected an object with a condition and a style, found ${nameOf(entry)}`)
  }
  refuseUnknown(entry, 'condition', path)
  const text = textOf(memberOf(entry, 'condition'), `${path}.condition`)
  if (text === undefined) throw templateError(`${path}.condition`, 'a condition such as ">= 0" is missing')
  budget.takeText(text, `${path}.condition`)
  const when = parseCondition(text, `${path}.condition`)
  if (type === 'date' || type === 'datetime') requireDates(when, `${path}.condition`)
  const style = paintOf(entry, path)
  if (Object.keys(style).length === 0)
    throw templateError(path, 'the condition changes nothing; add color, bg_color or bold')
  return { when, style }
}

/** Nothing but a date is earlier or later than one. (It may well be equal to `'unknown'`, where a cell has that.) */
function requireDates(condition: Condition, path: string): void {
  for (const bound of boundsOf(condition)) {
    const text = Buffer.from(typeof bound === 'object' ? (bound?.digits ?? 'null') : String(bound))
    if (text.length === 0 || !textFits(checkOf('date'), text, 0, text.length))
      throw templateError(path, `${JSON.stringify(String(text))} is no date; write it as '2026-06-30'`)
  }
}
