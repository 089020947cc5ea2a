import { counted } from '../../../kernel/index.ts'
import { templateError } from '../../condition/index.ts'
import {
  entriesOf,
  isJsonObject,
  isNothing,
  type JsonObject,
  listOf,
  memberPath,
  nameOf,
} from '../json-shape.ts'

export type PairValue = string | number | boolean | null
export interface Pair {
  label: string
  value: PairValue
}

/** What a header or footer asks for: pairs to be arranged, rows that are arranged already, or a text. */
export type HeaderContent =
  | { kind: 'pairs'; pairs: Pair[] }
  | { kind: 'rows'; rows: Pair[][] }
  | { kind: 'text'; text: string }

/** All areas together must leave room for data. */
const MAX_PAIRS = 1_000

/**
 * Reads a header or footer, or null when there is none.
 *
 * - `{label: value, …}` and `[[label, value], …]` are pairs. The second form keeps any order; the first keeps that of labels
 *   which look like integers (`"2024"`) only when it was read by `parseKeepingOrder`.
 * - `[{label: value, …}, …]` and `[[[label, value], …], …]` are rows.
 * - A text is laid out like the summary.
 */
export function parseHeader(value: unknown, path: string): HeaderContent | null {
  if (isNothing(value)) return null
  if (typeof value === 'string') return { kind: 'text', text: value }
  if (typeof value === 'object' && value !== null) requireFew(Object.keys(value).length, path)
  const list = listOf(value)
  if (list) return readList(list, path)
  if (!isJsonObject(value)) {
    throw templateError(
      path,
      `expected {label: value}, a list of such rows, or a text, found ${nameOf(value)}`,
    )
  }
  return { kind: 'pairs', pairs: limited(pairsOfObject(value, path), path) }
}

function readList(list: unknown[], path: string): HeaderContent {
  if (list.every(isPair)) {
    const pairs = list.map((pair, i) => pairOf(pair, `${path}[${i}]`))
    return { kind: 'pairs', pairs: limited(pairs, path) }
  }
  const rows = list.map((row, i) => rowOf(row, `${path}[${i}]`))
  limited(rows.flat(), path)
  return { kind: 'rows', rows }
}

function rowOf(row: unknown, path: string): Pair[] {
  if (isNothing(row)) return []
  const list = listOf(row)
  if (list) {
    return list.flatMap((item, i) =>
      isPair(item) ? [pairOf(item, `${path}[${i}]`)] : pairsOfRow(item, `${path}[${i}]`),
    )
  }
  return pairsOfRow(row, path)
}

function pairsOfRow(row: unknown, path: string): Pair[] {
  if (!isJsonObject(row)) throw templateError(path, `expected {label: value}, found ${nameOf(row)}`)
  return pairsOfObject(row, path)
}

function pairsOfObject(object: JsonObject, path: string): Pair[] {
  requireFew(Object.keys(object).length, path)
  return entriesOf(object).map(([label, value]) => ({
    label,
    value: scalarOf(value, memberPath(path, label)),
  }))
}

function isPair(value: unknown): value is [unknown, unknown] {
  return Array.isArray(value) && value.length === 2 && (typeof value[0] !== 'object' || value[0] === null)
}

function pairOf([label, value]: [unknown, unknown], path: string): Pair {
  if (typeof label !== 'string' && typeof label !== 'number') {
    throw templateError(`${path}[0]`, `expected a label, found ${nameOf(label)}`)
  }
  return { label: String(label), value: scalarOf(value, `${path}[1]`) }
}

function scalarOf(value: unknown, path: string): PairValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  throw templateError(path, `expected a text, a number, true, false or null, found ${nameOf(value)}`)
}

function limited(pairs: Pair[], path: string): Pair[] {
  requireFew(pairs.length, path)
  return pairs
}

/** Asked before anything is made of them, too. */
function requireFew(count: number, path: string): void {
  if (count > MAX_PAIRS) throw templateError(path, `${counted(count, 'pair')}, and at most ${MAX_PAIRS} fit`)
}
