import { excelSerialMillis } from '../../sheet/index.ts'
import { XML } from '../deflate/index.ts'
import { addValue } from './column-totals.ts'
import { type CompiledColumn, KINDS, NUMBER } from './compiled-column.ts'
import type { Cursor } from './cursor.ts'
import { closeCell, openCell } from './open-cell.ts'

const out = XML
const DAY = 86_400_000

/** Writes a time on the wall clock, cut to the column's unit. False, with nothing written: Excel has no such date. */
export function writeDate(c: Cursor, column: CompiledColumn, wallClock: number, variant: number): boolean {
  const serial = excelSerialMillis(wallClock)
  if (Number.isNaN(serial)) return false
  openCell(c, column, variant * KINDS + NUMBER)
  const day = Math.floor(serial / DAY)
  let o = writeDigits(c.o, day, digitsOf(day))
  const rest = serial - day * DAY
  if (rest > 0) {
    // With the five digits before the point these are the 17 that a double needs.
    let fraction = Math.round((rest / DAY) * 1e12)
    let length = 12
    for (; fraction % 10 === 0; fraction /= 10) length -= 1
    out[o] = 0x2e
    o = writeDigits(o + 1, fraction, length)
  }
  if (column.totals >= 0) addValue(c.totals, column.totals, serial / DAY)
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
