import type { CellType } from '../sheet/index.ts'
import { type ColumnScan, NUMERIC } from './column-scan.ts'

/** What a column of the file is. Plain data: it travels to other threads. */
export type ColumnKind =
  | { is: 'text' | 'json' | 'boolean' | 'int64' | 'date' }
  /** `signed`: it holds -0, which a dictionary of values takes for 0. */
  | { is: 'double'; signed?: true }
  | { is: 'decimal'; precision: number; scale: number }
  | { is: 'timestamp'; utc: boolean }

/** Codes of warnings. */
type TextReason =
  | 'PARQUET_MIXED_TYPES'
  | 'PARQUET_OTHER_TYPE'
  | 'PARQUET_TOO_MANY_DIGITS'
  | 'PARQUET_MIXED_TIMES'

export interface ColumnDecision {
  kind: ColumnKind
  /** Why the column is text, though that is not what was asked for. */
  reason?: TextReason
}

const MAX_DECIMAL_DIGITS = 38
/** Types under which texts are what was asked for. */
const TEXTS: ReadonlySet<CellType> = new Set(['auto', 'string', 'link'])

/** Values that are not of the column's type. */
export function misfitsIn(type: CellType, scan: ColumnScan): number {
  const { booleans, numbers, uneven, wide, texts, strays, nested } = scan
  if (type === 'date' || type === 'datetime') return booleans + numbers + texts + nested
  if (type === 'boolean') return numbers + texts + nested
  if (type === 'link') return booleans + numbers + strays + nested
  if (!NUMERIC.has(type)) return 0
  // Whole numbers beyond 64 bits are decimals in the file, with every digit.
  return booleans + texts + nested + (type === 'integer' ? uneven - wide : 0)
}

/**
 * The type of a column: the template's, as far as every value has it, else the one that all values have. A column in which values
 * of different types meet is text, and no value is changed or lost.
 */
export function decideKind(type: CellType, scan: ColumnScan): ColumnDecision {
  const { booleans, numbers, texts, nested, zoned, local, days } = scan
  const times = zoned + local + days
  const found = booleans + numbers + texts + nested + times
  if (found === 0) return { kind: emptyKind(type) }
  if (type === 'date' || type === 'datetime') return timeKind(type, scan, found)
  // A link is a text in any case; which values are no addresses is said apart.
  if (type === 'string' || type === 'link' || found === texts) return text(TEXTS.has(type))
  if (found === booleans) return booleansOnly(type)
  if (found === nested) return type === 'auto' ? { kind: { is: 'json' } } : text(false)
  if (found === numbers) return type === 'boolean' ? text(false) : numberKind(type, scan)
  if (type === 'auto') return { kind: { is: 'text' }, reason: 'PARQUET_MIXED_TYPES' }
  return text(false)
}

function emptyKind(type: CellType): ColumnKind {
  if (type === 'boolean' || type === 'date') return { is: type }
  if (type === 'integer') return { is: 'int64' }
  if (type === 'datetime') return { is: 'timestamp', utc: true }
  return { is: NUMERIC.has(type) ? 'double' : 'text' }
}

function text(asked: boolean): ColumnDecision {
  return { kind: { is: 'text' }, ...(!asked && { reason: 'PARQUET_OTHER_TYPE' }) }
}

function booleansOnly(type: CellType): ColumnDecision {
  return type === 'auto' || type === 'boolean' ? { kind: { is: 'boolean' } } : text(false)
}

function numberKind(type: CellType, scan: ColumnScan): ColumnDecision {
  const { fractions, uneven, exact, signedZeros, intDigits, scale } = scan
  if (type === 'integer' ? uneven === 0 : type === 'auto' && fractions === 0) return { kind: { is: 'int64' } }
  if (exact) return { kind: { is: 'double', ...(signedZeros > 0 && { signed: true }) } }
  const precision = intDigits + scale
  if (precision <= MAX_DECIMAL_DIGITS) return { kind: { is: 'decimal', precision, scale } }
  return { kind: { is: 'text' }, reason: 'PARQUET_TOO_MANY_DIGITS' }
}

function timeKind(type: 'date' | 'datetime', scan: ColumnScan, found: number): ColumnDecision {
  const { zoned, local, days } = scan
  if (zoned + local + days < found) return text(false)
  if (type === 'date') return { kind: { is: 'date' } }
  // A date in a column of times is its midnight, on whichever clock.
  if (zoned === found) return { kind: { is: 'timestamp', utc: true } }
  if (zoned === 0) return { kind: { is: 'timestamp', utc: false } }
  return { kind: { is: 'text' }, reason: 'PARQUET_MIXED_TIMES' }
}
