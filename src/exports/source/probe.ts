import { isSafeNumber, parse } from 'lossless-json'
import { markIntegerKeys } from '../template/index.ts'
import { checkEndOfPage, checkStatus, countOf, startOfPage } from './envelope.ts'
import { eachElement, eachMember } from './json-members.ts'
import { OPEN_BRACE, OPEN_BRACKET, skipValue } from './json-scan.ts'
import { ShapeFault } from './page-fault.ts'

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

export function readProbe(input: Buffer, end: number): Probe {
  const outer = new Map<string, number>()
  checkEndOfPage(input, collect(input, startOfPage(input, end, 0), outer), end)
  const { members, wrapped } = unwrap(input, outer)
  const total = members.get('total')
  const data = members.get('data')
  if (total === undefined) throw new ShapeFault('it has no total')
  if (data === undefined) throw new ShapeFault('it has no data')
  const probe: Probe = { total: countOf(valueAt(input, total)), ...keysOfRows(input, data), wrapped }
  for (const name of ['template', 'header', 'footer'] as const) {
    const at = members.get(name)
    const value = at === undefined ? null : valueAt(input, at)
    if (value !== null) probe[name] = value
  }
  return probe
}

function unwrap(
  input: Buffer,
  outer: Map<string, number>,
): { members: Map<string, number>; wrapped: boolean } {
  const data = outer.get('data')
  if (outer.has('total')) return { members: outer, wrapped: false }
  checkStatus(optional(input, outer.get('status')), optional(input, outer.get('msg')), 0)
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

function optional(input: Buffer, at: number | undefined): unknown {
  return at === undefined ? undefined : valueAt(input, at)
}

function valueAt(input: Buffer, at: number): unknown {
  const text = input.toString('utf8', at, skipValue(input, at))
  // The order of keys carries meaning in templates and headers.
  return parse(markIntegerKeys(text), undefined, {
    parseNumber: (digits) => (isSafeNumber(digits) ? Number(digits) : digits),
    onDuplicateKey: ({ newValue }) => newValue,
  })
}

function keysOfRows(input: Buffer, data: number): { keys: string[]; rows: number } {
  const keys = new Set<string>()
  let rows = 0
  const visitRows = (list: number): number => {
    if (input[list] !== OPEN_BRACKET) throw new ShapeFault('data is not a list of rows')
    return eachElement(input, list, (row) => {
      if (input[row] !== OPEN_BRACE) throw new ShapeFault('a row is not an object')
      rows++
      return eachMember(input, row, (key, at) => {
        keys.add(key)
        return skipValue(input, at)
      })
    })
  }
  if (input[data] === OPEN_BRACE) eachMember(input, data, (_, list) => visitRows(list))
  else visitRows(data)
  return { keys: [...keys], rows }
}
