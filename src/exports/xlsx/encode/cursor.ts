import { type DeflatedBlock, deflateInto, emptyBlock } from '../zip/deflate-block.ts'
import type { Timezone } from './timezone.ts'

/** XML is compressed whenever this much has come together: it fits a processor's cache, and memory stays bounded. */
const FILL = 1 << 20
/** More than one cell can take: 32,767 units, each at most 7 bytes long once escaped, and the markup around them. */
const SLACK = 1 << 18
/** Words are read whole, so that many bytes behind the input's end must be readable. */
export const PADDING = 8

/**
 * Where a thread reads and where it writes. Plain fields, because cells are written by the ten million: each function
 * takes what it needs into locals and puts the positions back.
 */
export class Cursor {
  /** Spool bytes; what is to be read ends at `end`. */
  input: Buffer = Buffer.alloc(0)
  /** The same bytes, and `PADDING` more behind them. */
  inputView: DataView = new DataView(new ArrayBuffer(0))
  i = 0
  end = 0

  readonly out = new Uint8Array(FILL + SLACK)
  readonly view = new DataView(this.out.buffer)
  o = 0

  /** Digits of the present row number as one 8-byte word. */
  readonly rowWord = new Float64Array(1)
  rowDigits = 0
  row = 0

  /** What each byte means inside a text, see `byte-classes.ts`. */
  classes: Uint8Array = new Uint8Array(256)
  zone: Timezone

  /** Texts that were cut, and the first cell that has one. */
  cuts = 0
  firstCut: string | null = null

  #block = emptyBlock()
  readonly #digits = new DataView(new ArrayBuffer(8))

  constructor(zone: Timezone) {
    this.zone = zone
  }

  begin(input: Buffer, end: number, classes: Uint8Array, zone: Timezone): void {
    this.input = input
    this.inputView = new DataView(input.buffer, input.byteOffset)
    this.i = 0
    this.end = end
    this.classes = classes
    this.zone = zone
    this.o = 0
    this.cuts = 0
    this.firstCut = null
    this.#block = emptyBlock()
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
    if (this.o > FILL) this.flush()
  }

  flush(): void {
    deflateInto(this.#block, this.out.subarray(0, this.o))
    this.o = 0
  }

  finish(): DeflatedBlock {
    this.flush()
    return this.#block
  }

  /** Slow and general: for markup that is not worth a path of its own. */
  writeText(text: string): void {
    const { written } = encoder.encodeInto(text, this.out.subarray(this.o))
    this.o += written
  }
}

const encoder = new TextEncoder()
