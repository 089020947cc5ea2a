import { noFacts, type Timezone } from '../../sheet/index.ts'
import { FILL, MARK_WORDS, MARKS, RowDeflater, XML } from '../deflate/index.ts'
import type { CellLink } from '../parts/index.ts'
import { type DeflatedBlock, emptyBlock } from '../zip/deflate-block.ts'
import { noTotals } from './column-totals.ts'

/** Words are read whole, so that many bytes after the input's end must be readable. */
export const PADDING = 8

/**
 * Where a thread reads and where it writes. Plain fields, because cells are written by the ten million: each function
 * takes what it needs into locals and puts the positions back.
 */
export class Cursor {
  /** Spool bytes; what is to be read ends at `end`. */
  input: Buffer = Buffer.alloc(0)
  /** The same bytes, followed by `PADDING` more. */
  inputView: DataView = new DataView(new ArrayBuffer(0))
  i = 0
  end = 0

  /** Place in `XML`. */
  o = 0
  /** Words in use of `MARKS`, and where the last value ended. */
  marked = 0
  valueEnd = 0

  /** Digits of the present row number as one 8-byte word. */
  readonly rowWord = new Float64Array(1)
  rowDigits = 0
  row = 0

  /** What each byte means inside a text, see `byte-classes.ts`. */
  classes: Uint8Array = new Uint8Array(256)
  zone: Timezone

  /** By column, see `column-facts.ts`, and the first cell whose text was cut. */
  facts = noFacts(0)
  /** See `column-totals.ts`. */
  totals = noTotals(0)
  firstCut: string | null = null
  /** Texts with control characters, which are shown by pictures. */
  pictured = 0
  firstPictured: string | null = null
  /** The cell is written again, as one whose text no row is tall enough for. */
  again = false
  /** Texts with what is no character (U+FFFE, U+FFFF). */
  replaced = 0
  firstReplaced: string | null = null

  /** Cells that lead to an address. */
  links: CellLink[] = []

  /** The last text that was written has a line end. */
  multiline = false
  /** Lines of the present row's tallest cell. */
  lines = 1
  /** Place of the `>` that ends the present row's tag, and of its first cell's mark; -1 once that has been compressed. */
  #rowTagEnd = -1
  #rowMark = 0

  #block = emptyBlock()
  readonly #deflater = new RowDeflater()
  readonly #digits = new DataView(new ArrayBuffer(8))

  constructor(zone: Timezone) {
    this.zone = zone
  }

  begin(
    input: Buffer,
    end: number,
    {
      classes,
      zone,
      columns,
      totals,
    }: { classes: Uint8Array; zone: Timezone; columns: number; totals: boolean },
  ): void {
    this.input = input
    this.inputView = new DataView(input.buffer, input.byteOffset)
    this.i = 0
    this.end = end
    this.classes = classes
    this.zone = zone
    this.#clear()
    this.facts = noFacts(columns)
    this.totals = noTotals(totals ? columns : 0)
    this.firstCut = null
    this.pictured = 0
    this.firstPictured = null
    this.replaced = 0
    this.firstReplaced = null
    this.links = []
    this.multiline = false
    this.#block = emptyBlock()
    this.#deflater.begin()
  }

  setRow(row: number): void {
    this.row = row
    const digits = String(row)
    this.rowDigits = digits.length
    for (let n = 0; n < digits.length; n += 1) this.#digits.setUint8(n, digits.charCodeAt(n))
    this.rowWord[0] = this.#digits.getFloat64(0, true)
  }

  /** The row after the present one. Most often that changes one digit. */
  nextRow(): void {
    const last = this.rowDigits - 1
    const digit = this.#digits.getUint8(last)
    if (digit === 0x39) {
      this.setRow(this.row + 1)
      return
    }
    this.row += 1
    this.#digits.setUint8(last, digit + 1)
    this.rowWord[0] = this.#digits.getFloat64(0, true)
  }

  /** Called before every cell, so that a cell never meets the buffer's end. */
  makeRoom(): void {
    if (this.o > fill || this.marked === marks.length) this.flush()
  }

  /** Called before every row whose height may grow: a row that is not very long stays in the buffer until its end. */
  makeRowRoom(columns: number): void {
    if (this.o > rowFill || this.marked + (columns + 1) * MARK_WORDS > marks.length) this.flush()
  }

  /** The cursor is after the `>` of a row's tag. */
  beginFitting(): void {
    this.#rowTagEnd = this.o - 1
    this.#rowMark = this.marked
    this.lines = 1
  }

  /** Puts an attribute into the present row's tag, unless that has been compressed already: then the reader fits the row. */
  insertIntoRowTag(attribute: Uint8Array): void {
    const at = this.#rowTagEnd
    if (at < 0) return
    const added = attribute.length
    XML.copyWithin(at + added, at, this.o)
    XML.set(attribute, at)
    this.o += added
    this.valueEnd += added
    marks[this.#rowMark - 2]! += added
    for (let m = this.#rowMark; m < this.marked; m += MARK_WORDS) {
      marks[m]! += added
      marks[m + 1]! += added
      marks[m + 2]! += added
    }
  }

  flush(): void {
    this.#deflater.deflateInto(this.#block, this.o, this.marked)
    this.#clear()
  }

  #clear(): void {
    this.o = 0
    this.marked = 0
    this.valueEnd = 0
    this.#rowTagEnd = -1
  }

  /** Leaves a mark for the deflater, see `MARKS`. */
  mark(numberEnd: number, valueStart: number, kind: number): void {
    const { marked } = this
    marks[marked] = this.valueEnd
    marks[marked + 1] = numberEnd
    marks[marked + 2] = valueStart
    marks[marked + 3] = kind
    this.marked = marked + MARK_WORDS
    this.valueEnd = valueStart
  }

  finish(): DeflatedBlock {
    this.flush()
    return this.#block
  }

  /** Slow and general: for markup that is not worth a path of its own. */
  writeText(text: string): void {
    const { written } = encoder.encodeInto(text, XML.subarray(this.o))
    this.o += written
  }
}

const fill = FILL
const rowFill = FILL - (FILL >> 2)
const marks = MARKS
const encoder = new TextEncoder()
