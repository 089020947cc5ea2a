import { NULLS } from '../../sheet/index.ts'
import { XML, XML_VIEW } from '../deflate/index.ts'
import { BLANK, type CompiledColumn, KINDS } from './compiled-column.ts'
import type { Cursor } from './cursor.ts'

const out = XML
const view = XML_VIEW
/** `</v></c>` as one word. */
const CLOSE = Buffer.from('</v></c>').readDoubleLE(0)
const KEEPING_CLOSE = Uint8Array.from(Buffer.from('</t></is></c>'))

/** `<c r="AB12`. Returns the place after it. */
function openReference(c: Cursor, column: CompiledColumn): number {
  const { words } = column
  let o = c.o
  view.setFloat64(o, words[0]!, true)
  if (column.headLength > 8) view.setFloat64(o + 8, words[1]!, true)
  o += column.headLength
  view.setFloat64(o, c.rowWord[0]!, true)
  return o + c.rowDigits
}

/** Everything of a cell that comes before its value. */
export function openCell(c: Cursor, column: CompiledColumn, slot: number): void {
  const { words } = column
  const o = openReference(c, column)
  c.mark(o, o + column.lengths[slot]!, column.marks[slot]!)
  const word = 2 + slot * 3
  view.setFloat64(o, words[word]!, true)
  view.setFloat64(o + 8, words[word + 1]!, true)
  view.setFloat64(o + 16, words[word + 2]!, true)
  c.o = o + column.lengths[slot]!
}

export function closeCell(c: Cursor, o: number): void {
  view.setFloat64(o, CLOSE, true)
  c.valueEnd = o
  c.o = o + 8
}

/** The same for a text with blanks at its ends, which readers would drop from a value. */
export function openKeepingCell(c: Cursor, column: CompiledColumn, variant: number): void {
  const opening = column.keepingOpenings[variant]!
  const numberEnd = openReference(c, column)
  c.o = numberEnd + opening.length
  c.mark(numberEnd, c.o, column.keepingMarks[variant]!)
  out.set(opening, numberEnd)
}

export function closeKeepingCell(c: Cursor, o: number): void {
  out.set(KEEPING_CLOSE, o)
  c.valueEnd = o
  c.o = o + KEEPING_CLOSE.length
}

/** An empty cell is left out, unless its background shows. */
export function blankCell(c: Cursor, column: CompiledColumn, variant: number): void {
  c.facts[column.facts + NULLS]! += 1
  if (column.filled[variant]) openCell(c, column, variant * KINDS + BLANK)
}

/** A cell whose value is the bytes as they are, such as digits. */
export function copyCell(c: Cursor, column: CompiledColumn, slot: number, start: number, end: number): void {
  openCell(c, column, slot)
  closeCell(c, copyWords(c, start, end, c.o))
}

/**
 * Copies `from` to `to` in words of eight bytes and returns the place after them. The last word may carry bytes too many;
 * what is written next covers them. Valid UTF-8 holds no word that is a NaN, so none is changed on its way.
 */
export function copyWords(c: Cursor, from: number, to: number, at: number): number {
  const { inputView } = c
  for (let i = from, o = at; i < to; i += 8, o += 8) view.setFloat64(o, inputView.getFloat64(i, true), true)
  return at + to - from
}
