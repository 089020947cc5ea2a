import { fitsLine, linkTarget, MISFITS, wrappedLines } from '../../sheet/index.ts'
import { XML, XML_VIEW } from '../deflate/index.ts'
import { inlineText } from '../xml-text.ts'
import { COMMA, NEWLINE, QUOTE } from './byte-classes.ts'
import { AS_TEXT, type CompiledColumn, styleAttribute } from './compiled-column.ts'
import type { Cursor } from './cursor.ts'
import { numberCell } from './number-cell.ts'
import { blankCell } from './open-cell.ts'
import { SpoolBroken } from './spool-broken.ts'
import { findTextEnd, textCell } from './text-cell.ts'
import { readText } from './text-variants.ts'
import { literalCell, typedTextCell } from './typed-cell.ts'

/** A row header's label: it is in the first row of a piece. */
export interface HeadCell {
  column: number
  text: string
  style: number
  /** Lines that its first row must be high for, if it is the only row below it. */
  lines: number
}

export interface SheetColumns {
  columns: CompiledColumn[]
  /** Whether the columns take the spool's fields from left to right, as they nearly always do. */
  inOrder: boolean
  /** What follows the row number in `<row r="7"`. */
  rowEnd: Uint8Array
  /** Rows are made as high as their texts need. */
  fits: boolean
  /** By number of lines: the attribute that gives a row its height. */
  heights: Uint8Array[]
  /** Lines that fit the tallest row. */
  mostLines: number
}

/** More lines than this do not fit the tallest row. */
export const MAX_LINES = 32

/** Writes `rows` rows, the first of them as row `firstRow` of the sheet. */
export function encodeRows(
  c: Cursor,
  sheet: SheetColumns,
  rows: number,
  firstRow: number,
  heads: HeadCell[],
): void {
  const width = sheet.columns.reduce((most, column) => Math.max(most, column.field + 1), 0)
  const starts = sheet.inOrder ? null : new Int32Array(width + 1)
  for (let n = 0; n < rows; n += 1) {
    if (c.i >= c.end) throw new SpoolBroken('the spool ends before its last row')
    openRow(c, sheet, n === 0 ? firstRow : 0)
    const labels = n === 0 ? heads : NO_HEADS
    if (starts === null) encodeInOrder(c, sheet, labels)
    else encodeByIndex(c, sheet, labels, starts)
    fitRowTag(c, sheet, labels, rows)
    closeRow(c)
  }
}

/** Rows that hold nothing but labels and backgrounds. */
export function encodeBlankRows(
  c: Cursor,
  sheet: SheetColumns,
  rows: number,
  firstRow: number,
  heads: HeadCell[],
): void {
  for (let n = 0; n < rows; n += 1) {
    openRow(c, sheet, n === 0 ? firstRow : 0)
    const labels = n === 0 ? heads : NO_HEADS
    for (let k = 0; k < sheet.columns.length; k += 1) emptyColumn(c, sheet.columns[k]!, k, labels, NO_VARIANT)
    fitRowTag(c, sheet, labels, rows)
    closeRow(c)
  }
}

const out = XML
const view = XML_VIEW
const NO_HEADS: HeadCell[] = []
/** Rows that are only kept free have no values that a condition could hold for. */
const NO_VARIANT = 0
/** The first letter of `null`. */
const NULL = 0x6e

function encodeInOrder(c: Cursor, { columns, mostLines }: SheetColumns, heads: HeadCell[]): void {
  let field = 0
  let ended = false
  for (let k = 0; k < columns.length; k += 1) {
    const column = columns[k]!
    c.makeRoom()
    while (!ended && field < column.field) {
      skipField(c)
      ended = stepOver(c)
      field += 1
    }
    if (column.field < 0 || ended) {
      emptyColumn(c, column, k, heads)
      continue
    }
    encodeCell(c, column, mostLines)
    ended = stepOver(c)
    field += 1
  }
  while (!ended) {
    skipField(c)
    ended = stepOver(c)
  }
}

function encodeByIndex(
  c: Cursor,
  { columns, mostLines }: SheetColumns,
  heads: HeadCell[],
  starts: Int32Array,
): void {
  starts.fill(-1)
  for (let field = 0, ended = false; !ended; field += 1) {
    starts[field] = c.i
    skipField(c)
    ended = stepOver(c)
  }
  const next = c.i
  for (let k = 0; k < columns.length; k += 1) {
    const column = columns[k]!
    c.makeRoom()
    const start = column.field < 0 ? -1 : starts[column.field]!
    if (start < 0) {
      emptyColumn(c, column, k, heads)
      continue
    }
    c.i = start
    encodeCell(c, column, mostLines)
  }
  c.i = next
}

function encodeCell(c: Cursor, column: CompiledColumn, mostLines: number): void {
  if (column.plain === null) encodeValue(c, column, mostLines)
  else linkCell(c, column, column.plain, mostLines)
}

function encodeValue(c: Cursor, column: CompiledColumn, mostLines: number): void {
  const start = c.i
  const byte = c.input[start]!
  if (byte === QUOTE) {
    const { o, marked, valueEnd } = c
    if (column.mode <= AS_TEXT) textCell(c, column)
    else typedTextCell(c, column)
    // No character is much wider on screen than in bytes: most texts need no measuring.
    if (
      column.room > 0 &&
      (c.multiline || c.i - start - 2 > column.fastRoom) &&
      fitRow(c, column, start + 1) > mostLines &&
      column.tall > 0
    ) {
      c.i = start
      c.o = o
      c.marked = marked
      c.valueEnd = valueEnd
      writeAgain(c, column)
    }
  } else if (byte === COMMA || byte === NEWLINE) {
    blankCell(c, column, column.nullVariant)
  } else if (byte >= 0x61) {
    literalCell(c, column)
  } else {
    numberCell(c, column)
  }
}

/** A label may use the height of all rows that it covers. */
function fitRowTag(c: Cursor, sheet: SheetColumns, labels: HeadCell[], rows: number): void {
  if (!sheet.fits) return
  for (const { lines } of labels) c.lines = Math.max(c.lines, Math.min(lines - rows + 1, MAX_LINES))
  if (c.lines > 1) c.insertIntoRowTag(sheet.heights[c.lines]!)
}

/** A cell of a column of links. What is none has not their look either. */
function linkCell(c: Cursor, column: CompiledColumn, plain: CompiledColumn, mostLines: number): void {
  const url = urlAt(c)
  encodeValue(c, url === null ? plain : column, mostLines)
  if (url === null) c.facts[column.facts + MISFITS]! += 1
  else if (url !== '') c.links.push({ cell: `${column.letters}${c.row}`, url })
}

/** Where the value at the cursor leads; empty if there is none, null for what is no address. */
function urlAt({ input, i, end }: Cursor): string | null {
  const byte = input[i]!
  if (byte === COMMA || byte === NEWLINE || byte === NULL) return ''
  if (byte !== QUOTE) return null
  const last = findTextEnd(input, i + 1, end)
  return last === i + 1 ? '' : linkTarget(readText(input, i + 1, last).trim())
}

/** Writes the text at the cursor from the top of its cell. It has been counted. */
function writeAgain(c: Cursor, column: CompiledColumn): void {
  const { facts, pictured, replaced } = c
  c.facts = facts.slice()
  c.again = true
  textCell(c, column)
  c.again = false
  c.multiline = false
  c.facts = facts
  c.pictured = pictured
  c.replaced = replaced
}

/** Makes the row as high as the text needs. Returns its lines. */
function fitRow(c: Cursor, column: CompiledColumn, start: number): number {
  if (!c.multiline && fitsLine(c.input, start, c.i - 1, column)) return 1
  c.multiline = false
  const lines = wrappedLines(c.input, start, c.i - 1, column, MAX_LINES)
  if (lines > c.lines) c.lines = lines
  return lines
}

/** Past the delimiter after a field; true when it was the record's end. */
function stepOver(c: Cursor): boolean {
  const byte = c.input[c.i]
  c.i += 1
  if (byte === COMMA) return false
  if (byte === NEWLINE) return true
  throw new SpoolBroken(`the spool has no delimiter where one must be (row ${c.row})`)
}

function skipField(c: Cursor): void {
  const { input, end } = c
  let i = c.i
  if (input[i] === QUOTE) {
    i = findTextEnd(input, i + 1, end) + 1
  } else {
    while (i < end && input[i] !== COMMA && input[i] !== NEWLINE) i += 1
  }
  c.i = i
}

/** Moves over whole records: a piece may begin in the middle of a slice. */
export function skipRows(c: Cursor, rows: number): void {
  for (let n = 0; n < rows; n += 1) {
    do skipField(c)
    while (!stepOver(c))
  }
}

function emptyColumn(
  c: Cursor,
  column: CompiledColumn,
  index: number,
  heads: HeadCell[],
  variant = column.nullVariant,
): void {
  c.makeRoom()
  const head = heads.length === 0 ? undefined : heads.find((label) => label.column === index)
  if (head === undefined) {
    blankCell(c, column, variant)
    return
  }
  const opening = `<c r="${column.letters}${c.row}"${styleAttribute(head.style)} t="inlineStr">`
  c.writeText(`${opening}<is>${inlineText(head.text)}</is></c>`)
}

/** `row` 0: the one after the last. */
function openRow(c: Cursor, { rowEnd, fits, columns }: SheetColumns, row: number): void {
  if (fits) c.makeRowRoom(columns.length)
  c.makeRoom()
  if (row === 0) c.nextRow()
  else c.setRow(row)
  let o = c.o
  view.setFloat64(o, ROW_OPEN, true)
  o += 8
  view.setFloat64(o, c.rowWord[0]!, true)
  o += c.rowDigits
  c.mark(o, o + rowEnd.length, 0)
  for (let n = 0; n < rowEnd.length; n += 1) out[o + n] = rowEnd[n]!
  c.o = o + rowEnd.length
  if (fits) c.beginFitting()
}

function closeRow(c: Cursor): void {
  view.setFloat64(c.o, ROW_CLOSE, true)
  c.o += 6
}

const ROW_OPEN = Buffer.from('<row r="').readDoubleLE(0)
const ROW_CLOSE = Buffer.from('</row>  ').readDoubleLE(0)
