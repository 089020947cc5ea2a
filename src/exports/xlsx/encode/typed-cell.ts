import { LONG, MISFITS, readIsoDate } from '../../sheet/index.ts'
import { XML } from '../deflate/index.ts'
import {
  AS_BOOLEAN,
  AS_DATE,
  AS_FOUND,
  AS_TEXT,
  BOOLEAN,
  type CompiledColumn,
  KINDS,
} from './compiled-column.ts'
import type { Cursor } from './cursor.ts'
import { writeDate } from './date-cell.ts'
import { cutTo } from './date-unit.ts'
import { isLongNumber, numericText } from './number-cell.ts'
import { blankCell, closeCell, openCell } from './open-cell.ts'
import { findTextEnd, rawTextCell, textCell } from './text-cell.ts'

const out = XML

/** The quoted text at the cursor, in a column whose type may make something else of it. What does not fit stays text. */
export function typedTextCell(c: Cursor, column: CompiledColumn): void {
  const start = c.i + 1
  const end = findTextEnd(c.input, start, c.end)
  if (end > start && convert(c, column, start, end)) {
    c.i = end + 1
    return
  }
  if (end > start) {
    c.facts[column.facts + MISFITS]! += 1
    if (column.mode < AS_DATE && end - start < 400 && isLongNumber(c.input.toString('latin1', start, end)))
      c.facts[column.facts + LONG]! += 1
  }
  textCell(c, column)
}

function convert(c: Cursor, column: CompiledColumn, start: number, end: number): boolean {
  if (column.mode === AS_DATE) return dateText(c, column, start, end)
  if (column.mode === AS_BOOLEAN) return booleanText(c, column, start, end)
  return numericText(c, column, start, end)
}

function dateText(c: Cursor, column: CompiledColumn, start: number, end: number): boolean {
  const wallClock = cutTo(readIsoDate(c.input, start, end, c.zone), column.unit)
  if (Number.isNaN(wallClock)) return false
  return writeDate(c, column, wallClock, column.conditions?.forBytes(c.input, start, end, wallClock) ?? 0)
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
  else {
    if (column.mode !== AS_FOUND && column.mode !== AS_BOOLEAN) c.facts[column.facts + MISFITS]! += 1
    writeBoolean(c, column, first === 0x74)
  }
}

function writeBoolean(c: Cursor, column: CompiledColumn, value: boolean): void {
  openCell(c, column, (column.conditions?.pick(value) ?? 0) * KINDS + BOOLEAN)
  out[c.o] = value ? 0x31 : 0x30
  closeCell(c, c.o + 1)
}
