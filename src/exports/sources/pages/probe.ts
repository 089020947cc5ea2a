import { isSafeNumber, parse } from 'lossless-json'
import { markIntegerKeys } from '../../../kernel/index.ts'
import {
  eachElement,
  eachMember,
  KeysSeen,
  MAX_KEYS,
  type MemberLimits,
  OPEN_BRACE,
  OPEN_BRACKET,
  requireFew,
  ShapeFault,
  skipValue,
} from '../json/index.ts'
import { ROW_HEAD } from '../rows/index.ts'
import { checkEndOfPage, checkStatus, countOf, smallValue, startOfPage } from './envelope.ts'
import { checkRefusal, contentsOf } from './refusal.ts'

/** What the first answer says of the whole. Later answers do not change it. */
export interface Probe {
  total: number
  /** Plain JSON values; a number that JavaScript would round is its text. */
  template?: unknown
  header?: unknown
  footer?: unknown
  /** Keys of the rows that came with it, in the order of first sight. */
  keys: string[]
  /** The answer is wrapped as `{status, msg, data: {…}}`. */
  wrapped: boolean
  /** Rows that came with it, as a rule one. */
  rows: number
}

/** What they may hold at most. A column needs a few members, a pair of a header is a list of two. */
const LIMITS = {
  template: { each: MAX_KEYS, all: 16 * MAX_KEYS },
  header: { each: 1_000, all: 10_000 },
  footer: { each: 1_000, all: 10_000 },
} satisfies Record<string, MemberLimits>

export function readProbe(input: Buffer, end: number): Probe {
  const { members, wrapped } = readMembers(input, end)
  const total = members.get('total')
  const data = members.get('data')
  const rowless = { input, start: startOfPage(input, end, 0), end, page: 0 }
  const lacks = (name: string): never => {
    checkRefusal({ ...rowless, isList: false })
    throw new ShapeFault(`it has no ${name}${contentsOf(rowless)}`)
  }
  if (total === undefined) return lacks('total')
  if (data === undefined) return lacks('data')
  const count = countOf(smallValue(input, total, 'total'))
  if (count === 0) checkRefusal({ ...rowless, isList: true })
  const probe: Probe = {
    total: count,
    ...keysOfRows(input, data),
    wrapped,
  }
  for (const name of ['template', 'header', 'footer'] as const) {
    const at = members.get(name)
    const value = at === undefined ? null : valueAt(input, at, name)
    if (value !== null) probe[name] = value
  }
  return probe
}

/** The first rows of `data` as values. Those of row headers have the name of theirs. */
export function firstRows(input: Buffer, data: number, most: number): Record<string, unknown>[] {
  const rows: Record<string, unknown>[] = []
  const visitRows = (list: number, group?: string): number =>
    eachElement(input, list, (row) => {
      const stop = skipValue(input, row)
      if (rows.length >= most) return stop
      const values = parsed(input.toString('utf8', row, stop)) as Record<string, unknown>
      rows.push(group === undefined ? values : { ...values, [ROW_HEAD]: group })
      return stop
    })
  if (input[data] === OPEN_BRACE) eachMember(input, data, (name, list) => visitRows(list, name))
  else visitRows(data)
  return rows
}

function readMembers(input: Buffer, end: number): { members: Map<string, number>; wrapped: boolean } {
  const outer = new Map<string, number>()
  checkEndOfPage(input, collect(input, startOfPage(input, end, 0), outer), end)
  return unwrap(input, outer)
}

function unwrap(
  input: Buffer,
  outer: Map<string, number>,
): { members: Map<string, number>; wrapped: boolean } {
  const data = outer.get('data')
  if (outer.has('total')) return { members: outer, wrapped: false }
  const small = (name: string) => optional(input, outer.get(name), name)
  checkStatus(small('status'), small('msg'), 0)
  if (data === undefined || input[data] !== OPEN_BRACE) return { members: outer, wrapped: false }
  const inner = new Map<string, number>()
  collect(input, data, inner)
  return { members: inner, wrapped: true }
}

/** Where each member's value starts; of equal keys the last one counts. */
function collect(input: Buffer, at: number, into: Map<string, number>): number {
  return eachMember(input, at, (key, start) => {
    into.set(key, start)
    return skipValue(input, start)
  })
}

function optional(input: Buffer, at: number | undefined, name: string): unknown {
  return at === undefined ? undefined : smallValue(input, at, name)
}

function valueAt(input: Buffer, at: number, name: keyof typeof LIMITS): unknown {
  const end = skipValue(input, at)
  requireFew(input, at, end, { name, ...LIMITS[name] })
  // The order of keys carries meaning in templates and headers.
  return parsed(markIntegerKeys(input.toString('utf8', at, end)))
}

function parsed(text: string): unknown {
  return parse(text, undefined, {
    parseNumber: (digits) => (isSafeNumber(digits) ? Number(digits) : digits),
    onDuplicateKey: ({ newValue }) => newValue,
  })
}

function keysOfRows(input: Buffer, data: number): { keys: string[]; rows: number } {
  const keys = new KeysSeen()
  let rows = 0
  const visitRows = (list: number): number => {
    if (input[list] !== OPEN_BRACKET) throw new ShapeFault('data is not a list of rows')
    return eachElement(input, list, (row) => {
      if (input[row] !== OPEN_BRACE) throw new ShapeFault('a row is not an object')
      rows++
      return keys.readRow(input, row)
    })
  }
  if (input[data] === OPEN_BRACE) eachMember(input, data, (_, list) => visitRows(list))
  else visitRows(data)
  return { keys: keys.names, rows }
}
