import { XML } from '../deflate/xml-buffer.ts'
import {
  AS_BOOLEAN,
  AS_DATE,
  AS_TEXT,
  BOOLEAN,
  type CompiledColumn,
  KINDS,
  NUMBER,
} from './compiled-column.ts'
import type { Cursor } from './cursor.ts'
import { excelSerialMillis, readIsoDate } from './iso-date.ts'
import { numericText } from './number-cell.ts'
import { blankCell, closeCell, openCell } from './open-cell.ts'
import { findTextEnd, rawTextCell, textCell } from './text-cell.ts'

const out = XML
const DAY = 86_400_000

/** The quoted text at the cursor, in a column whose type may make something else of it. What does not fit stays text. */
export function typedTextCell(c: Cursor, column: CompiledColumn): void {
  const start = c.i + 1
  const end = findTextEnd(c.input, start, c.end)
  if (end > start && convert(c, column, start, end)) c.i = end + 1
  else textCell(c, column)
}

function convert(c: Cursor, column: CompiledColumn, start: number, end: number): boolean {
  if (column.mode === AS_DATE) return dateText(c, column, start, end)
  if (column.mode === AS_BOOLEAN) return booleanText(c, column, start, end)
  return numericText(c, column, start, end)
}

function dateText(c: Cursor, column: CompiledColumn, start: number, end: number): boolean {
  const serial = excelSerialMillis(readIsoDate(c.input, start, end, c.zone))
  if (Number.isNaN(serial)) return false
  const variant = column.conditions?.forBytes(c.input, start, end) ?? 0
  openCell(c, column, variant * KINDS + NUMBER)
  const day = Math.floor(serial / DAY)
  let o = writeDigits(c.o, day, digitsOf(day))
  const rest = serial - day * DAY
  if (column.keepTime && rest > 0) {
    // With the five digits before the point these are the 17 that a double needs.
    let fraction = Math.round((rest / DAY) * 1e12)
    let length = 12
    for (; fraction % 10 === 0; fraction /= 10) length -= 1
    out[o] = 0x2e
    o = writeDigits(o + 1, fraction, length)
  }
  closeCell(c, o)
  return true
}

function digitsOf(value: number): number {
  let count = 1
  for (let power = 10; value >= power; power *= 10) count += 1
  return count
}

function writeDigits(at: number, value: number, length: number): number {
  let rest = value
  for (let n = at + length - 1; n >= at; n -= 1) {
    const tenth = Math.floor(rest / 10)
    out[n] = 48 + rest - tenth * 10
    rest = tenth
  }
  return at + length
}

function booleanText(c: Cursor, column: CompiledColumn, start: number, end: number): boolean {
  if (end - start > 5) return false
  const text = c.input.toString('latin1', start, end).toLowerCase()
  if (text !== 'true' && text !== 'false') return false
  writeBoolean(c, column, text === 'true')
  return true
}

/** `true`, `false` or `null` at the cursor; anything else there would be a broken spool and is kept as text. */
export function literalCell(c: Cursor, column: CompiledColumn): void {
  const { input } = c
  const start = c.i
  let end = start
  while (end < c.end && input[end]! >= 0x61 && input[end]! <= 0x7a) end += 1
  c.i = end
  const first = input[start]
  if (first === 0x6e) blankCell(c, column, column.nullVariant)
  else if (column.mode === AS_TEXT) rawTextCell(c, column, start, end)
  else writeBoolean(c, column, first === 0x74)
}

export function writeBoolean(c: Cursor, column: CompiledColumn, value: boolean): void {
  openCell(c, column, (column.conditions?.pick(value) ?? 0) * KINDS + BOOLEAN)
  out[c.o] = value ? 0x31 : 0x30
  closeCell(c, c.o + 1)
}
