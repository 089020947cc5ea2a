import { type CellType, checkOf, FORMULA_START, fitsType, type Masking } from '../../sheet/index.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  copyNumber,
  copyPlain,
  ESCAPED,
  fault,
  MAX_KEYS,
  Memory,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ShapeFault,
  skipSpace,
  skipString,
  skipValue,
  tooManyKeys,
  UnknownRowHead,
  withOneMore,
} from '../json/index.ts'
import { ROW_HEAD, RowColumns } from './row-columns.ts'
import { MISFIT, NO_VALUE, type RecordCounts } from './row-counts.ts'
import type { RowKey } from './row-key.ts'
import { KnownShapes, RowShape } from './row-shape.ts'
import { escapedKey, isEmpty, RowValues } from './row-values.ts'
import type { SegmentBuffer } from './segment-buffer.ts'
import { MARGIN, ValueWriter } from './value-writer.ts'

const CR = 0x0d
const NEWLINE = 0x0a
/** Keys without a column that are remembered by name. */
const MAX_UNWANTED = 1_000

/** The state before a page. */
export interface TranscoderMark extends RecordCounts {
  fields: number
  unwanted: number
  /** By field, as the counts are. */
  widths: number[]
}

export interface RowTranscoderOptions {
  /** Null: a field that stays empty. */
  fields: readonly (string | null)[]
  /** Names of the row headers, when rows are spooled by them; one sink each. */
  rowNames?: readonly string[]
  /** Every key of a row becomes a column, except these. Without it, the fields are the only columns. */
  growExcept?: readonly string[]
  /** Notes the columns that identify a row; without it, rows are not compared. */
  key?: RowKey
  /** Write records as a CSV file has them, see `SPOOL.md`. */
  csv?: boolean
  masks?: Masking
  /** Of CSV records: types by field, so that values which do not fit are counted. */
  types?: readonly CellType[]
  /** In CSV records, leave texts that look like formulas as they are. */
  keepFormulas?: boolean
  /** Put a mark before objects and arrays, so that a reader can distinguish them from texts. */
  marked?: boolean
}

/**
 * Turns JSON rows into spool records, byte by byte, with no string or number made on the way.
 *
 * A row is first compared with the shapes of earlier rows: equal gaps mean equal keys, and if these come in the order of the
 * columns, values are written straight into the sink. Any other row is read key by key, its values are collected and then
 * put in order. Both ways check every byte of the row against the grammar.
 */
export class RowTranscoder {
  /** Rows seen in this page, those beyond the limit included. */
  rowsRead = 0
  readonly #sinks: readonly SegmentBuffer[]
  readonly #csv: boolean
  readonly #disarms: boolean
  readonly #rowNames: readonly string[] | undefined
  readonly #growExcept: readonly string[] | undefined
  readonly #key: RowKey | undefined
  #columns: RowColumns
  readonly #writer: ValueWriter
  readonly #values: RowValues
  /** By slot: what its values are checked for; null: nothing is checked. */
  readonly #checks: Uint8Array | null
  readonly #shapes = new KnownShapes()
  #limit = Number.POSITIVE_INFINITY

  constructor(
    {
      fields,
      rowNames,
      growExcept,
      key,
      masks,
      csv = false,
      keepFormulas = false,
      marked = false,
      types = [],
    }: RowTranscoderOptions,
    sinks: readonly SegmentBuffer[],
    counted: Partial<Omit<TranscoderMark, 'fields' | 'unwanted'>> = {},
  ) {
    this.#sinks = sinks
    this.#csv = csv
    this.#disarms = csv && !keepFormulas
    this.#rowNames = rowNames
    this.#growExcept = growExcept
    this.#key = key
    this.#columns = this.#columnsOf(fields)
    const { slots, slotOf } = this.#columns
    this.#writer = new ValueWriter({ csv, disarms: this.#disarms, marked, masks }, slots)
    this.#writer.useColumns(this.#columns)
    this.#values = new RowValues(slots, this.#writer, key)
    this.#checks = csv ? checksOf(types, slots, slotOf) : null
    this.#restore(counted)
  }

  /** Widest value so far, by field; of CSV records, the longest text. */
  get widths(): number[] {
    return this.#slots.map((slot) => this.#writer.meter.bySlot[slot]!)
  }

  /** By field. */
  get counts(): RecordCounts {
    return this.#writer.counts.byColumn(this.#slots)
  }

  /** By column. */
  get #slots(): number[] {
    const { fields, slotOf } = this.#columns
    return fields.map((_, column) => slotOf[column]!)
  }

  /** The columns, with those that have been added. */
  get fields(): readonly (string | null)[] {
    return this.#columns.fields
  }

  /** Keys that no column shows, in the order of first sight. */
  get unwanted(): readonly string[] {
    return this.#columns.unwanted
  }

  /** For `rollback`, if the page turns out to be invalid. */
  mark(): TranscoderMark {
    const { fields, unwanted } = this.#columns
    return { fields: fields.length, unwanted: unwanted.length, widths: this.widths, ...this.counts }
  }

  /** Forgets the keys and values that only a refused page had. */
  rollback(mark: TranscoderMark): void {
    const { fields, unwanted } = this.#columns
    if (fields.length !== mark.fields || unwanted.length !== mark.unwanted) {
      this.#columns = this.#columnsOf(fields.slice(0, mark.fields))
      this.leaveOut(unwanted.slice(0, mark.unwanted))
      this.#shapes.clear()
      this.#writer.useColumns(this.#columns)
    }
    this.#restore(mark)
  }

  #restore({ widths = [], ...counts }: Partial<TranscoderMark>): void {
    const slots = this.#slots
    for (const [column, width] of widths.entries()) this.#writer.meter.bySlot[slots[column]!] = width
    this.#writer.counts.restore(counts, slots)
  }

  #columnsOf(fields: readonly (string | null)[]): RowColumns {
    const grows = this.#growExcept !== undefined
    const columns = new RowColumns(fields, this.#rowNames, { grows })
    if (this.#key) columns.identify(this.#key.columns, { grows })
    return columns
  }

  /** Keys that an earlier fetch saw. */
  leaveOut(names: readonly string[]): void {
    for (const name of names) this.#columns.leaveOut(name)
  }

  /** Rows beyond `limit` are checked and counted, but not kept. */
  startPage(limit: number): void {
    this.rowsRead = 0
    this.#limit = limit
  }

  /** Reads the array at `at` into the sink of that number; without one, each row's own row header decides. */
  rows(input: Buffer, at: number, end: number, sink?: number): number {
    if (input[at] !== OPEN_BRACKET) fault('expected a list of rows', at)
    const { heads, overlap, count } = this.#columns
    this.#values.reserve(2 * overlap * (end - at) + 2 * count + MARGIN + this.#writer.maskBytes)
    if (this.#writer.page.bytes !== input) this.#writer.page = new Memory(input)
    const target = sink === undefined ? undefined : this.#sinks[sink]!
    let p = skipSpace(input, at + 1)
    if (input[p] === CLOSE_BRACKET) return p + 1
    for (;;) {
      // A record is at most twice as long as its row (a quote in nested JSON is doubled), plus its commas and its end. The
      // row may be all that is left of the page: too much to reserve where each row header has a sink of its own.
      if (!heads) target?.reserve(2 * (end - p) + this.#columns.count + MARGIN)
      p = this.#row(input, p, target)
      if (input[p] !== COMMA) p = skipSpace(input, p)
      if (input[p] === COMMA) {
        p++
        if (input[p] !== OPEN_BRACE) p = skipSpace(input, p)
      } else if (input[p] === CLOSE_BRACKET) break
      else fault('expected "," or "]"', p)
    }
    return p + 1
  }

  #row(input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    if (this.rowsRead >= this.#limit) return this.#surplusRow(input, at)
    const known = this.#shapes
    const shapes = known.toTry()
    for (let index = 0; index < shapes.length; index++) {
      const p = this.#shapedRow(shapes[index]!, input, at, target)
      if (p < 0) continue
      known.matched(index)
      return p
    }
    return this.#anyRow(input, at, target)
  }

  /** Only checked and counted: making a record of it could cost far more than its bytes. */
  #surplusRow(input: Buffer, at: number): number {
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    this.rowsRead++
    return skipValue(input, at)
  }

  /** The row at `at` if it is written in this shape, else -1 with nothing changed. */
  #shapedRow(shape: RowShape, input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    const { code, closing } = shape
    const writer = this.#writer
    const { page, maskOf, counts, meter, copier } = writer
    const { view } = page
    const disarms = this.#disarms
    const csv = this.#csv
    const checks = this.#checks
    const size = input.length
    const direct = shape.direct && target !== undefined
    const values = this.#values
    const memory = direct ? target.memory : values.memory
    const { bytes: out, view: outView } = memory
    const { keyOf } = this.#columns
    if (keyOf !== null) this.#key!.startRow()
    let o = direct ? target.length : 0
    let p = at
    if (!direct) values.starts.fill(-1)
    counts.startRow()
    let c = 0
    for (let gap = code[c++]!; gap > 0; gap = code[c++]!) {
      // Four bytes at a time; the last four may overlap those before them.
      const next = p + gap
      if (next > size) return -1
      for (let words = code[c++]!; words > 0; words--, p += 4)
        if (view.getInt32(p, true) !== code[c++]) return -1
      if (view.getInt32(next - 4, true) !== code[c++]) return -1
      p = next
      const slot = code[c++]!
      const commas = code[c++]!
      const byte = input[p]!
      if (byte <= 0x20) return -1 // more blanks than the shape has
      if (slot < 0) {
        const from = p
        p = skipValue(input, p)
        if (slot < -1) this.#key!.found(-2 - slot, from, p)
        continue
      }
      const from = p
      if (direct) for (let comma = commas; comma > 0; comma--) out[o++] = COMMA
      const start = o
      if (maskOf !== null && maskOf[slot] !== undefined) {
        p = writer.masked(input, p, out, o, slot)
        o = copier.written
      } else if (byte === QUOTE) {
        out[o++] = QUOTE
        const stop = copyPlain(view, ++p, outView, o)
        o += stop - p
        p = stop
        if (input[p] === QUOTE) {
          out[o++] = QUOTE
          p++
        } else {
          copier.escaped(page, p, memory, o)
          p = copier.read
          o = copier.written
        }
        if (disarms && FORMULA_START[out[start + 1]!] !== 0) o = writer.disarmed(slot, out, start, o)
        meter.text(slot, out, start + 1, o - 1)
      } else if (byte <= 0x39 && byte >= 0x2d) {
        const stop = copyNumber(input, p, out, o)
        o += stop - p
        p = stop
        meter.widen(slot, o - start)
      } else {
        p = writer.rare(input, p, out, o, slot)
        o = copier.written
      }
      if (!direct) {
        values.starts[slot] = start
        values.ends[slot] = o
      } else if (csv) {
        if (o - start <= 2 && isEmpty(out, start, o)) counts.note(slot, NO_VALUE)
        else if (checks !== null && checks[slot]! > 0 && !fitsType(checks[slot]!, out, start, o))
          counts.note(slot, MISFIT)
      }
      if (keyOf !== null && keyOf[slot]! >= 0) this.#key!.found(keyOf[slot]!, from, p)
    }
    for (let index = 0; index < closing.length; index++) if (input[p++] !== closing[index]) return -1
    if (direct) {
      for (let comma = shape.trailing; comma > 0; comma--) out[o++] = COMMA
      if (this.#commit(target, o) && csv) this.#countDirect(shape.missing)
    } else this.#collected(target)
    return p
  }

  /** Reads a row of any shape, key by key. Learns the shape, unless each row has a new one. */
  #anyRow(input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    const learn = this.#shapes.missed()
    const { keys, slotOfKey, below } = this.#columns
    const gaps: Buffer[] = []
    const slots: number[] = []
    const values = this.#values
    const { counts, copier } = this.#writer
    values.startRow(this.#columns)
    // A shape says nothing about what is inside its values.
    let flat = true
    this.#key?.startRow()
    counts.startRow()
    let gapStart = at
    let o = 0
    let p = skipSpace(input, at + 1)
    for (let count = 1; input[p] !== CLOSE_BRACE; count++) {
      if (count > MAX_KEYS) throw tooManyKeys()
      if (input[p] !== QUOTE) fault('expected a key', p)
      const known = keys.scan(input, p + 1)
      const keyEnd = known === ESCAPED ? skipString(input, p) : keys.end + 1
      const index = known === ESCAPED ? escapedKey(keys, input, p, keyEnd) : known
      const slot = index < 0 ? this.#newKey(input, p, keyEnd) : slotOfKey[index]!
      p = skipSpace(input, keyEnd)
      if (input[p] !== COLON) fault('expected ":"', p)
      p = skipSpace(input, p + 1)
      if (learn) {
        gaps.push(input.subarray(gapStart, p))
        slots.push(slot)
      }
      const from = p
      if (slot < 0) p = skipValue(input, p)
      else {
        p = values.write(input, p, o, slot)
        o = copier.written
      }
      const keyColumn = slot < 0 ? -2 - slot : (this.#columns.keyOf?.[slot] ?? -1)
      if (keyColumn >= 0) this.#key?.found(keyColumn, from, p)
      if (below.length > 0) {
        if (slot >= 0) values.markLiteral(slot)
        if (index >= 0 && below[index]) {
          flat = false
          o = values.writeInside(below[index], this.#columns, input, from, o)
        }
      }
      gapStart = p
      p = skipSpace(input, p)
      if (input[p] === COMMA) {
        p = skipSpace(input, p + 1)
        if (input[p] !== QUOTE) fault('expected a key', p)
      } else if (input[p] !== CLOSE_BRACE) fault('expected "," or "}"', p)
    }
    p++
    if (learn && flat) this.#learn(gaps, input.subarray(gapStart, p), slots)
    this.#collected(target)
    return p
  }

  #notARow(input: Buffer, at: number): never {
    skipValue(input, at)
    throw new ShapeFault(`row ${this.rowsRead + 1} is not an object`)
  }

  #learn(gaps: Buffer[], closing: Buffer, slots: number[]): void {
    const { inOrder, count } = this.#columns
    // A masked value may be longer than the value itself, which the reserved space of a sink does not allow for.
    const direct = inOrder && this.#writer.maskOf === null
    this.#shapes.add(new RowShape(gaps, closing, slots, direct ? count : undefined))
  }

  /** A key that is not known: a new column if the rows decide on the columns. Returns its slot. */
  #newKey(input: Buffer, at: number, end: number): number {
    const columns = this.#columns
    if (!this.#growExcept && columns.unwanted.length >= MAX_UNWANTED) return -1
    const name = String(JSON.parse(input.toString('utf8', at, end)))
    if (!this.#growExcept || this.#growExcept.includes(name)) {
      if (columns.unwanted.length < MAX_UNWANTED) columns.leaveOut(name)
      return -1
    }
    if (columns.count >= MAX_KEYS) throw tooManyKeys('its rows have', 'different keys')
    const slot = columns.add(name)
    if (columns.keyOf) columns.keyOf = withOneMore(columns.keyOf, slot, this.#key!.columns.indexOf(name))
    // The rows before it lack the column, and shapes that were learnt from them do not know it.
    const rows = this.#sinks.reduce((sum, { rows }) => sum + rows, 0)
    this.#writer.addColumn(name, slot, rows)
    this.#values.addSlot(slot)
    this.#shapes.clear()
    return slot
  }

  /** Writes the collected values as one record. */
  #collected(target: SegmentBuffer | undefined): void {
    const sink = target ?? this.#sinkOfRow()
    const end = this.#values.copyTo(sink, this.#columns)
    if (this.#commit(sink, end) && this.#csv)
      this.#values.countIn(this.#writer.counts, this.#columns.slots, this.#checks)
  }

  /** The row is kept: counts the columns that it lacks, and what was noted about it. */
  #countDirect(missing: Int32Array): void {
    for (let n = 0; n < missing.length; n++) this.#writer.counts.count(missing[n]!, NO_VALUE)
    this.#writer.counts.keepRow()
  }

  #sinkOfRow(): SegmentBuffer {
    const { bytes } = this.#values.memory
    const { heads, headSlot } = this.#columns
    const start = this.#values.starts[headSlot]!
    if (start < 0) throw new UnknownRowHead(`row ${this.rowsRead + 1} has no ${ROW_HEAD}`)
    const quoted = bytes[start] === QUOTE ? 1 : 0
    const end = this.#values.ends[headSlot]! - quoted
    const index = heads!.find(bytes, start + quoted, end)
    if (index >= 0) return this.#sinks[index]!
    const name = bytes.toString('utf8', start + quoted, end).replaceAll('""', '"')
    throw new UnknownRowHead(`no row header is named "${name}"`)
  }

  /** Ends the record after `at`. False: the row is beyond the limit, and not kept. */
  #commit(sink: SegmentBuffer, at: number): boolean {
    if (this.rowsRead++ >= this.#limit) return false
    const out = sink.memory.bytes
    let o = at
    if (this.#csv) {
      // Some readers skip blank lines.
      if (o === sink.length) {
        out[o++] = QUOTE
        out[o++] = QUOTE
      }
      out[o++] = CR
    }
    out[o++] = NEWLINE
    this.#key?.endRow(this.#writer.page)
    sink.length = o
    sink.rows++
    if (o >= sink.sliceLimit) sink.closeSlice()
    return true
  }
}

/** By slot; null: no column has a type that is checked. */
function checksOf(types: readonly CellType[], slots: number, slotOf: Int32Array): Uint8Array | null {
  if (types.every((type) => checkOf(type) === 0)) return null
  const checks = new Uint8Array(slots)
  for (const [column, type] of types.entries())
    if (checkOf(type) !== 0) checks[slotOf[column]!] = checkOf(type)
  return checks
}
