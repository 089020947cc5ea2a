import { EMPTY, FALSE, JSON_TEXT, NULL, NUMBER, type RecordReader, TEXT, TRUE } from '../records/index.ts'
import { type CellType, checkOf, textFits } from '../sheet/index.ts'
import { readTime } from './read-time.ts'

/** What a column holds, as far as its type in a Parquet file depends on it. */
export interface ColumnScan {
  booleans: number
  /**
   * Numbers; of these such as are written as fractions or are beyond 64 bits, such as are no 64-bit integers by their value, and of
   * the latter such as are whole.
   */
  numbers: number
  fractions: number
  uneven: number
  wide: number
  /** Digits before and after the point, at most, without an exponent; whether a double keeps every number. */
  intDigits: number
  scale: number
  exact: boolean
  /** Zeros with a sign. */
  signedZeros: number
  texts: number
  /** Of the texts in a column of links, those that are no addresses. */
  strays: number
  nested: number
  /** Of texts in a column of dates or times. */
  zoned: number
  local: number
  days: number
  /** Null, nothing, and the empty text. */
  nulls: number
  /** Characters of the longest text, in UTF-16 units. */
  longest: number
}

export function emptyScan(): ColumnScan {
  return {
    booleans: 0,
    numbers: 0,
    fractions: 0,
    uneven: 0,
    wide: 0,
    intDigits: 0,
    scale: 0,
    exact: true,
    signedZeros: 0,
    texts: 0,
    strays: 0,
    nested: 0,
    zoned: 0,
    local: 0,
    days: 0,
    nulls: 0,
    longest: 0,
  }
}

export function addScans(a: ColumnScan, b: ColumnScan): ColumnScan {
  const sum = { ...a }
  for (const key of Object.keys(a) as (keyof ColumnScan)[]) {
    if (key === 'exact') sum.exact = a.exact && b.exact
    else if (key === 'intDigits' || key === 'scale' || key === 'longest') sum[key] = Math.max(a[key], b[key])
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
/** Without its sign. */
const MIN_INT64 = '9223372036854775808'

/** Takes note of the reader's field. */
export function scanField(scan: ColumnScan, type: CellType, reader: RecordReader): void {
  const { kind, start, end } = reader
  if (kind === EMPTY || kind === NULL || (kind === TEXT && start === end)) {
    scan.nulls++
    // A text column keeps it apart from null.
    if (kind === TEXT && !isTyped(type)) scan.texts++
  } else if (kind === NUMBER) {
    if (!isTime(type) || !scanTime(scan, reader)) scanNumber(scan, reader.bytes, start, end)
  } else if (kind === TRUE || kind === FALSE) scan.booleans++
  else if (kind === JSON_TEXT) scan.nested++
  else if (kind === TEXT) scanText(scan, type, reader)
}

/** Types under which an empty text is no value. */
function isTyped(type: CellType): boolean {
  return isTime(type) || type === 'boolean' || NUMERIC.has(type)
}

function isTime(type: CellType): boolean {
  return type === 'date' || type === 'datetime'
}

function scanText(scan: ColumnScan, type: CellType, reader: RecordReader): void {
  if (isTime(type)) {
    if (!scanTime(scan, reader)) scan.texts++
  } else if (NUMERIC.has(type)) {
    const text = reader.value()
    if (PLAIN_NUMBER.test(text.toString('latin1'))) scanNumber(scan, text, 0, text.length)
    else scan.texts++
  } else if (type === 'boolean' && BOOLEAN_TEXT.test(reader.value().toString('latin1'))) scan.booleans++
  else {
    scan.texts++
    const { bytes, start, end } = reader
    if (type === 'link' && !textFits(LINK, bytes, start, end)) scan.strays++
  }
}

const LINK = checkOf('link')

/** False: the field is no time. */
function scanTime(scan: ColumnScan, reader: RecordReader): boolean {
  const time = readTime(reader.value().toString())
  if (!time) return false
  if (!time.timed) scan.days++
  else if (time.zoned) scan.zoned++
  else scan.local++
  return true
}

function scanNumber(scan: ColumnScan, bytes: Buffer, start: number, end: number): void {
  scan.numbers++
  if (
    bytes[start] === 0x2d &&
    bytes[start + 1] === 0x30 &&
    Number(bytes.toString('latin1', start, end)) === 0
  )
    scan.signedZeros++
  let before = 0
  let after = 0
  let point = false
  let even = true
  for (let p = bytes[start] === 0x2d ? start + 1 : start; p < end; p++) {
    const byte = bytes[p]!
    if (byte === 0x2e) point = true
    else if (byte < 0x30 || byte > 0x39) {
      scanExponent(scan, bytes.toString('latin1', start, end))
      return
    } else if (point) {
      after++
      if (byte !== 0x30) even = false
    } else before++
  }
  addDigits(scan, before, after)
  if (before + after > SAFE_DIGITS && !isKept(bytes.toString('latin1', start, end))) scan.exact = false
  const fits = fitsInt64(bytes, point ? end - after - 1 : end, before, bytes[start] === 0x2d)
  if (point || !fits) scan.fractions++
  if (!even || !fits) scan.uneven++
  if (even && !fits) scan.wide++
}

function scanExponent(scan: ColumnScan, text: string): void {
  const { digits, scale } = unscaledOf(text)
  scan.fractions++
  if (scale > 0 || digits.length - scale > MAX_INT64.length - 1) scan.uneven++
  if (scale <= 0 && digits.length - scale > MAX_INT64.length - 1) scan.wide++
  addDigits(scan, Math.max(1, digits.length - scale), Math.max(0, scale))
  if (!isKept(text)) scan.exact = false
}

function addDigits(scan: ColumnScan, before: number, after: number): void {
  if (before > scan.intDigits) scan.intDigits = before
  if (after > scan.scale) scan.scale = after
}

/** Whether a double keeps a number: it may have too many digits, be too large, or so small that it is 0. */
function isKept(text: string): boolean {
  const value = Number(text)
  return Number.isFinite(value) && unscaledOf(text).digits === unscaledOf(String(value)).digits
}

/** Digits without zeros at their ends, and how many of them are after the point; below 0: zeros follow before the point. */
export function unscaledOf(text: string): { digits: string; scale: number } {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^[-+]?(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const all = `${whole}${fraction}`.replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  if (digits === '') return { digits: '0', scale: 0 }
  return { digits, scale: fraction.length - Number(exponent) - (all.length - digits.length) }
}

function fitsInt64(bytes: Buffer, end: number, digits: number, negative: boolean): boolean {
  if (digits < MAX_INT64.length) return true
  if (digits > MAX_INT64.length) return false
  return bytes.toString('latin1', end - digits, end) <= (negative ? MIN_INT64 : MAX_INT64)
}
