import { EMPTY, FALSE, JSON_TEXT, NULL, NUMBER, type RecordReader, TEXT, TRUE } from '../records/index.ts'
import type { CellType } from '../sheet/index.ts'
import { readTime } from './read-time.ts'

/** What a column holds, as far as its type in a Parquet file depends on it. */
export interface ColumnScan {
  booleans: number
  /** Numbers, of these fractions or beyond 64 bits, and written with an exponent. */
  numbers: number
  fractions: number
  exponents: number
  /** Digits before and after the point, at most; whether a number has more digits than a double keeps. */
  intDigits: number
  scale: number
  exact: boolean
  texts: number
  nested: number
  /** Of texts in a column of dates or times. */
  zoned: number
  local: number
  days: number
}

export function emptyScan(): ColumnScan {
  return {
    booleans: 0,
    numbers: 0,
    fractions: 0,
    exponents: 0,
    intDigits: 0,
    scale: 0,
    exact: true,
    texts: 0,
    nested: 0,
    zoned: 0,
    local: 0,
    days: 0,
  }
}

export function addScans(a: ColumnScan, b: ColumnScan): ColumnScan {
  const sum = { ...a }
  for (const key of Object.keys(a) as (keyof ColumnScan)[]) {
    if (key === 'exact') sum.exact = a.exact && b.exact
    else if (key === 'intDigits' || key === 'scale') sum[key] = Math.max(a[key], b[key])
    else sum[key] = a[key] + b[key]
  }
  return sum
}

/** Types under which a text that is a number counts as one. */
export const NUMERIC: ReadonlySet<CellType> = new Set(['number', 'integer', 'money', 'percent'])
const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const BOOLEAN_TEXT = /^(?:true|false)$/i
/** Of a double. */
const SAFE_DIGITS = 15
const MAX_INT64 = '9223372036854775807'

/** Takes note of the reader's field. */
export function scanField(scan: ColumnScan, type: CellType, reader: RecordReader): void {
  const { kind } = reader
  if (kind === EMPTY || kind === NULL) return
  if (kind === NUMBER) scanNumber(scan, reader.bytes, reader.start, reader.end)
  else if (kind === TRUE || kind === FALSE) scan.booleans++
  else if (kind === JSON_TEXT) scan.nested++
  else if (kind === TEXT) scanText(scan, type, reader)
}

function scanText(scan: ColumnScan, type: CellType, reader: RecordReader): void {
  if (type === 'date' || type === 'datetime') {
    const time = readTime(reader.value().toString())
    if (!time) scan.texts++
    else if (!time.timed) scan.days++
    else if (time.zoned) scan.zoned++
    else scan.local++
  } else if (NUMERIC.has(type)) {
    const text = reader.value()
    if (PLAIN_NUMBER.test(text.toString('latin1'))) scanNumber(scan, text, 0, text.length)
    else scan.texts++
  } else if (type === 'boolean' && BOOLEAN_TEXT.test(reader.value().toString('latin1'))) scan.booleans++
  else scan.texts++
}

function scanNumber(scan: ColumnScan, bytes: Buffer, start: number, end: number): void {
  scan.numbers++
  let before = 0
  let after = 0
  let point = false
  for (let p = bytes[start] === 0x2d ? start + 1 : start; p < end; p++) {
    const byte = bytes[p]!
    if (byte === 0x2e) point = true
    else if (byte < 0x30 || byte > 0x39) {
      scan.exponents++
      if (!isKept(bytes.toString('latin1', start, end), before + after)) scan.exact = false
      return
    } else if (point) after++
    else before++
  }
  if (before > scan.intDigits) scan.intDigits = before
  if (after > scan.scale) scan.scale = after
  if (before + after > SAFE_DIGITS) scan.exact = false
  if (point || !fitsInt64(bytes, end, before)) scan.fractions++
}

/** Whether a double keeps a number with an exponent: it may be too large, or so small that it is 0. */
function isKept(digits: string, count: number): boolean {
  const value = Number(digits)
  return count <= SAFE_DIGITS && Number.isFinite(value) && (value !== 0 || !/^[^e]*[1-9]/i.test(digits))
}

function fitsInt64(bytes: Buffer, end: number, digits: number): boolean {
  if (digits < MAX_INT64.length) return true
  if (digits > MAX_INT64.length) return false
  return bytes.toString('latin1', end - digits, end) <= MAX_INT64
}
