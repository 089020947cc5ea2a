import { copyLiteral, copyNumber, copyPlain, ValueCopier } from './copy-value.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
} from './json-scan.ts'
import { ESCAPED, KeyTable } from './key-table.ts'
import { fault, ShapeFault, UnknownRowHead } from './page-fault.ts'
import { RowShape } from './row-shape.ts'
import type { SegmentBuffer } from './segment-buffer.ts'
import { spoolWidth, WIDTH_CAP } from './spool-width.ts'

/** Key of a flat row that names the row header it belongs to. */
export const ROW_HEAD = '_row_head_'

const NEWLINE = 0x0a
/** Ways of writing a row that are kept in mind. */
const SHAPES = 4
/** So many rows in a row in new shapes: the source has no habits, stop learning for a while. */
const GIVE_UP = 16
const PAUSE = 1_000

export interface RowTranscoderOptions {
  fields: readonly string[]
  /** Names of the row headers, when rows are spooled by them; one sink each. */
  rowNames?: readonly string[]
}

/**
 * Turns JSON rows into spool records, byte by byte, with no string or number made on the way.
 *
 * A row is first held against the shapes of earlier rows: equal gaps mean equal keys, and if these come in the columns'
 * order, values are written straight into the sink. Any other row is read key by key, its values are collected and then
 * put in order. Both ways check every byte of the row against the grammar.
 */
export class RowTranscoder {
  /** Widest value so far, by field. */
  readonly widths: Int32Array
  /** Rows seen in this page, those beyond the limit included. */
  rowsRead = 0
  readonly #sinks: readonly SegmentBuffer[]
  readonly #columns: number
  readonly #slotOf: Int32Array
  readonly #inOrder: boolean
  readonly #keys: KeyTable
  readonly #headSlot: number
  readonly #heads: KeyTable | undefined
  readonly #starts: Int32Array
  readonly #ends: Int32Array
  readonly #slotWidths: Int32Array
  readonly #copier = new ValueCopier()
  readonly #shapes: RowShape[] = []
  #scratch = Buffer.alloc(0)
  /** On the page being read. */
  #view: DataView = new DataView(new ArrayBuffer(0))
  #limit = Number.POSITIVE_INFINITY
  #misses = 0
  #pause = 0

  constructor(
    { fields, rowNames }: RowTranscoderOptions,
    sinks: readonly SegmentBuffer[],
    widths?: readonly number[],
  ) {
    this.#sinks = sinks
    this.#columns = fields.length
    const names = [...new Set(rowNames ? [...fields, ROW_HEAD] : fields)]
    this.#slotOf = Int32Array.from(fields, (field) => names.indexOf(field))
    this.#inOrder = this.#slotOf.every((slot, column) => slot === column)
    this.#keys = new KeyTable(names)
    this.#headSlot = rowNames ? names.indexOf(ROW_HEAD) : -1
    // Looked up by what the spool's bytes between the quotes are.
    this.#heads = rowNames && new KeyTable(rowNames.map((name) => name.replaceAll('"', '""')))
    this.#starts = new Int32Array(names.length)
    this.#ends = new Int32Array(names.length)
    this.#slotWidths = new Int32Array(names.length)
    this.widths = Int32Array.from(fields, (_, column) => widths?.[column] ?? 0)
    fields.forEach((_, column) => {
      this.#slotWidths[this.#slotOf[column]!] = this.widths[column]!
    })
  }

  /** Rows beyond `limit` are checked and counted, but not kept. */
  startPage(limit: number): void {
    this.rowsRead = 0
    this.#limit = limit
  }

  /** Reads the array at `at` into the sink of that number; without one, each row's own row header decides. */
  rows(input: Buffer, at: number, end: number, sink?: number): number {
    if (input[at] !== OPEN_BRACKET) fault('expected a list of rows', at)
    const room = 2 * (end - at) + 2 * this.#columns + 2
    if (this.#scratch.length < room) this.#scratch = Buffer.allocUnsafeSlow(Math.ceil(room * 1.25))
    this.#view = new DataView(input.buffer, input.byteOffset, input.byteLength)
    const target = sink === undefined ? undefined : this.#sinks[sink]!
    let p = skipSpace(input, at + 1)
    if (input[p] === CLOSE_BRACKET) return p + 1
    for (;;) {
      // A row's record is at most twice its bytes (a quote in nested JSON is doubled) and its commas. How long the row
      // is shows only at its end, which is too much to set aside where each row header has a sink of its own.
      if (!this.#heads) target?.reserve(2 * (end - p) + this.#columns + 2)
      p = this.#row(input, p, target)
      if (input[p] !== COMMA) p = skipSpace(input, p)
      if (input[p] === COMMA) {
        p++
        if (input[p] !== OPEN_BRACE) p = skipSpace(input, p)
      } else if (input[p] === CLOSE_BRACKET) break
      else fault('expected "," or "]"', p)
    }
    for (let column = 0; column < this.#columns; column++)
      this.widths[column] = this.#slotWidths[this.#slotOf[column]!]!
    return p + 1
  }

  #row(input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    const shapes = this.#shapes
    if (this.#pause === 0)
      for (let index = 0; index < shapes.length; index++) {
        const shape = shapes[index]!
        const p = this.#shapedRow(shape, input, at, target)
        if (p < 0) continue
        if (index > 0) {
          shapes[index] = shapes[0]!
          shapes[0] = shape
        }
        this.#misses = 0
        return p
      }
    else if (--this.#pause === 0) this.#misses = 0
    return this.#anyRow(input, at, target)
  }

  /** The row at `at` if it is written in this shape, else -1 with nothing changed. */
  #shapedRow(shape: RowShape, input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    const { words, wordEnds, gapSizes, slots, commas, closing } = shape
    const view = this.#view
    const room = view.byteLength
    const direct = shape.direct && target !== undefined
    const out = direct ? target.bytes : this.#scratch
    const widths = this.#slotWidths
    const count = slots.length
    let o = direct ? target.length : 0
    let p = at
    let word = 0
    if (!direct) this.#starts.fill(-1)
    for (let index = 0; index < count; index++) {
      // Four bytes at a time; the last four may overlap those before them.
      const next = p + gapSizes[index]!
      if (next > room) return -1
      for (const last = wordEnds[index]! - 1; word < last; p += 4)
        if (view.getInt32(p, true) !== words[word++]) return -1
      if (view.getInt32(next - 4, true) !== words[word++]) return -1
      p = next
      const slot = slots[index]!
      const byte = input[p]!
      if (byte <= 0x20) return -1 // more blanks than the shape has
      if (slot < 0) {
        p = skipValue(input, p)
        continue
      }
      if (direct) for (let comma = commas[index]!; comma > 0; comma--) out[o++] = COMMA
      const start = o
      if (byte === QUOTE) {
        out[o++] = QUOTE
        const stop = copyPlain(input, ++p, out, o)
        o += stop - p
        p = stop
        if (input[p] === QUOTE) {
          out[o++] = QUOTE
          p++
        } else {
          this.#copier.escaped(input, p, out, o)
          p = this.#copier.read
          o = this.#copier.written
        }
        // A character never takes more columns than bytes, so most values need no measuring.
        const width = widths[slot]!
        if (o - start - 2 > width && width < WIDTH_CAP) this.#measure(slot, out, start + 1, o - 1)
      } else if (byte <= 0x39 && byte >= 0x2d) {
        const stop = copyNumber(input, p, out, o)
        o += stop - p
        p = stop
        if (o - start > widths[slot]!) widths[slot] = Math.min(WIDTH_CAP, o - start)
      } else {
        p = this.#rareValue(input, p, out, o, slot)
        o = this.#copier.written
      }
      if (!direct) {
        this.#starts[slot] = start
        this.#ends[slot] = o
      }
    }
    for (let index = 0; index < closing.length; index++) if (input[p++] !== closing[index]) return -1
    if (direct) {
      for (let comma = shape.trailing; comma > 0; comma--) out[o++] = COMMA
      out[o++] = NEWLINE
      this.#commit(target, o)
    } else this.#collected(target, p - at)
    return p
  }

  /** A row of any shape, key by key. Learns the shape, unless rows keep coming in new ones. */
  #anyRow(input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    const learn = this.#pause === 0 && ++this.#misses <= GIVE_UP
    if (this.#misses > GIVE_UP && this.#pause === 0) this.#pause = PAUSE
    const gaps: Buffer[] = []
    const slots: number[] = []
    this.#starts.fill(-1)
    let gapStart = at
    let o = 0
    let p = skipSpace(input, at + 1)
    while (input[p] !== CLOSE_BRACE) {
      if (input[p] !== QUOTE) fault('expected a key', p)
      const known = this.#keys.scan(input, p + 1)
      const keyEnd = known === ESCAPED ? skipString(input, p) : this.#keys.end + 1
      const slot = known === ESCAPED ? this.#escapedKey(input, p, keyEnd) : known
      p = skipSpace(input, keyEnd)
      if (input[p] !== COLON) fault('expected ":"', p)
      p = skipSpace(input, p + 1)
      if (learn) {
        gaps.push(input.subarray(gapStart, p))
        slots.push(slot)
      }
      if (slot < 0) p = skipValue(input, p)
      else {
        this.#starts[slot] = o
        p = this.#value(input, p, o, slot)
        o = this.#copier.written
        this.#ends[slot] = o
      }
      gapStart = p
      p = skipSpace(input, p)
      if (input[p] === COMMA) {
        p = skipSpace(input, p + 1)
        if (input[p] !== QUOTE) fault('expected a key', p)
      } else if (input[p] !== CLOSE_BRACE) fault('expected "," or "}"', p)
    }
    p++
    if (learn) this.#learn(gaps, input.subarray(gapStart, p), slots)
    this.#collected(target, p - at)
    return p
  }

  #notARow(input: Buffer, at: number): never {
    skipValue(input, at)
    throw new ShapeFault(`row ${this.rowsRead + 1} is not an object`)
  }

  #learn(gaps: Buffer[], closing: Buffer, slots: number[]): void {
    this.#shapes.unshift(
      new RowShape(gaps, closing, slots, this.#inOrder && !this.#heads ? this.#columns : undefined),
    )
    if (this.#shapes.length > SHAPES) this.#shapes.pop()
  }

  #escapedKey(input: Buffer, at: number, end: number): number {
    const key = Buffer.from(String(JSON.parse(input.toString('utf8', at, end))))
    return this.#keys.find(key, 0, key.length)
  }

  /** Writes one value to the scratch at `o`; where it ended is left in the copier. */
  #value(input: Buffer, at: number, o: number, slot: number): number {
    const out = this.#scratch
    const copier = this.#copier
    const byte = input[at]!
    if (byte === QUOTE) {
      out[o] = QUOTE
      const stop = copyPlain(input, at + 1, out, o + 1)
      copier.escaped(input, stop, out, o + stop - at)
      const width = this.#slotWidths[slot]!
      if (copier.written - o - 2 > width && width < WIDTH_CAP)
        this.#measure(slot, out, o + 1, copier.written - 1)
      return copier.read
    }
    if (byte <= 0x39 && byte >= 0x2d) {
      const stop = copyNumber(input, at, out, o)
      copier.written = o + stop - at
      this.#widen(slot, stop - at)
      return stop
    }
    return this.#rareValue(input, at, out, o, slot)
  }

  #rareValue(input: Buffer, at: number, out: Uint8Array, o: number, slot: number): number {
    const copier = this.#copier
    if (input[at] === OPEN_BRACE || input[at] === OPEN_BRACKET) {
      copier.nested(input, at, out, o)
      this.#measure(slot, out, o + 1, copier.written - 1)
      return copier.read
    }
    const stop = copyLiteral(input, at, out, o)
    copier.written = o + stop - at
    if (input[at] !== 0x6e) this.#widen(slot, stop - at)
    return stop
  }

  #widen(slot: number, width: number): void {
    if (width > this.#slotWidths[slot]!) this.#slotWidths[slot] = Math.min(WIDTH_CAP, width)
  }

  #measure(slot: number, bytes: Uint8Array, at: number, end: number): void {
    this.#widen(slot, spoolWidth(bytes, at, end))
  }

  /** The collected values as one record, in the columns' order. */
  #collected(target: SegmentBuffer | undefined, rowBytes: number): void {
    const sink = target ?? this.#sinkOfRow()
    if (this.#heads) sink.reserve(2 * rowBytes + this.#columns + 2)
    const out = sink.bytes
    const scratch = this.#scratch
    let o = sink.length
    for (let column = 0; column < this.#columns; column++) {
      if (column > 0) out[o++] = COMMA
      const slot = this.#slotOf[column]!
      const start = this.#starts[slot]!
      if (start < 0) continue
      const end = this.#ends[slot]!
      if (end - start > 100) o += scratch.copy(out, o, start, end)
      else for (let p = start; p < end; p++) out[o++] = scratch[p]!
    }
    out[o++] = NEWLINE
    this.#commit(sink, o)
  }

  #sinkOfRow(): SegmentBuffer {
    const start = this.#starts[this.#headSlot]!
    if (start < 0) throw new UnknownRowHead(`row ${this.rowsRead + 1} has no ${ROW_HEAD}`)
    const quoted = this.#scratch[start] === QUOTE ? 1 : 0
    const end = this.#ends[this.#headSlot]! - quoted
    const index = this.#heads!.find(this.#scratch, start + quoted, end)
    if (index >= 0) return this.#sinks[index]!
    const name = this.#scratch.toString('utf8', start + quoted, end).replaceAll('""', '"')
    throw new UnknownRowHead(`no row header is named "${name}"`)
  }

  #commit(sink: SegmentBuffer, o: number): void {
    if (this.rowsRead++ >= this.#limit) return
    sink.length = o
    sink.rows++
    if (o >= sink.sliceLimit) sink.closeSlice()
  }
}
