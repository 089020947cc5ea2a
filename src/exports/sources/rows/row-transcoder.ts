import {
  type CellType,
  checkOf,
  disarm,
  FORMULA_START,
  fitsType,
  isFormula,
  LengthMeter,
  type Mask,
  type Masking,
  maskValue,
  NESTED,
} from '../../sheet/index.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  copyLiteral,
  copyNumber,
  copyPlain,
  ESCAPED,
  fault,
  type KeyTable,
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
  ValueCopier,
  withOneMore,
} from '../json/index.ts'
import type { NestedPaths } from './nested-paths.ts'
import { ROW_HEAD, RowColumns } from './row-columns.ts'
import { GUARDED, MISFIT, NO_VALUE, type RecordCounts, RowCounts } from './row-counts.ts'
import type { RowKey } from './row-key.ts'
import { RowShape } from './row-shape.ts'
import type { SegmentBuffer } from './segment-buffer.ts'
import { WidthMeter } from './width-meter.ts'

const CR = 0x0d
const NEWLINE = 0x0a
const SMALL_N = 0x6e
/** Ways of writing a row that are kept in mind. */
const SHAPES = 4
/** So many rows in a row in new shapes: the source has no habits, stop learning for a while. */
const GIVE_UP = 16
const PAUSE = 1_000
/** For a record's end, and for what is copied by words. */
const MARGIN = 8
/** What a hidden value may take more than its own. */
const MASK_ROOM = 64
/** Keys without a column that are remembered by name. */
const MAX_UNWANTED = 1_000

/** What was seen before a page. */
export interface TranscoderMark extends RecordCounts {
  fields: number
  unwanted: number
  /** By field, as the counts are. */
  widths: number[]
}

export interface RowTranscoderOptions {
  /** Null is a field that stays empty. */
  fields: readonly (string | null)[]
  /** Names of the row headers, when rows are spooled by them; one sink each. */
  rowNames?: readonly string[]
  /** Every key that turns up is a column, but these. Without it, the fields are all there is. */
  growExcept?: readonly string[]
  /** Where the columns that identify a row are noted; without it, rows are not compared. */
  key?: RowKey
  /** Write records as a CSV file has them, see `SPOOL.md`. */
  csv?: boolean
  /** Values that are hidden on their way. */
  masks?: Masking
  /** Of CSV records: types by field, so that values which do not fit are counted. */
  types?: readonly CellType[]
  /** In CSV records, leave texts that look like formulas as they are. */
  keepFormulas?: boolean
  /** Put a mark before objects and arrays, so that a reader can tell them from texts. */
  marked?: boolean
}

/**
 * Turns JSON rows into spool records, byte by byte, with no string or number made on the way.
 *
 * A row is first held against the shapes of earlier rows: equal gaps mean equal keys, and if these come in the columns'
 * order, values are written straight into the sink. Any other row is read key by key, its values are collected and then
 * put in order. Both ways check every byte of the row against the grammar.
 */
export class RowTranscoder {
  /** Rows seen in this page, those beyond the limit included. */
  rowsRead = 0
  readonly #sinks: readonly SegmentBuffer[]
  readonly #csv: boolean
  readonly #disarms: boolean
  readonly #marked: boolean
  readonly #rowNames: readonly string[] | undefined
  readonly #growExcept: readonly string[] | undefined
  readonly #key: RowKey | undefined
  #columns: RowColumns
  readonly #masks: Masking | undefined
  /** By slot; null: nothing is hidden. */
  #maskOf: (Mask | undefined)[] | null = null
  readonly #widths: WidthMeter | LengthMeter
  readonly #counts: RowCounts
  readonly #types: readonly CellType[]
  /** By slot: what its values are checked for; null: nothing is checked. */
  #checks: Uint8Array | null = null
  /** Where in the scratch the values of a row are, by slot; -1 for one that the row lacks. */
  #starts: Int32Array
  #ends: Int32Array
  /** By slot: the present row has a key of that very name, which wins over a path. */
  #literal: Uint8Array
  readonly #copier = new ValueCopier()
  readonly #shapes: RowShape[] = []
  #scratch = Memory.ofSize(0)
  /** The page being read. */
  #page = this.#scratch
  #limit = Number.POSITIVE_INFINITY
  #misses = 0
  #pause = 0

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
    this.#marked = marked
    this.#key = key
    this.#columns = this.#columnsOf(fields)
    this.#masks = masks
    this.#findMasks()
    this.#widths = csv ? new LengthMeter(this.#columns.slots) : new WidthMeter(this.#columns.slots)
    this.#counts = new RowCounts(this.#columns.slots)
    this.#types = csv ? types : []
    this.#findChecks()
    this.#starts = new Int32Array(this.#columns.slots)
    this.#ends = new Int32Array(this.#columns.slots)
    this.#literal = new Uint8Array(this.#columns.slots)
    this.#restore(counted)
  }

  /** Widest value so far, by field; of CSV records, the longest text. */
  get widths(): number[] {
    return this.#slots.map((slot) => this.#widths.bySlot[slot]!)
  }

  /** By field. */
  get counts(): RecordCounts {
    return this.#counts.byColumn(this.#slots)
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

  /** To be given to `rollback` if the page turns out bad. */
  mark(): TranscoderMark {
    const { fields, unwanted } = this.#columns
    return { fields: fields.length, unwanted: unwanted.length, widths: this.widths, ...this.counts }
  }

  /** Keys and values that only a refused page had: as if they had not been seen. */
  rollback(mark: TranscoderMark): void {
    const { fields, unwanted } = this.#columns
    if (fields.length !== mark.fields || unwanted.length !== mark.unwanted) {
      this.#columns = this.#columnsOf(fields.slice(0, mark.fields))
      this.leaveOut(unwanted.slice(0, mark.unwanted))
      this.#shapes.length = 0
      this.#findMasks()
    }
    this.#restore(mark)
  }

  #restore({ widths = [], ...counts }: Partial<TranscoderMark>): void {
    const slots = this.#slots
    for (const [column, width] of widths.entries()) this.#widths.bySlot[slots[column]!] = width
    this.#counts.restore(counts, slots)
  }

  #findChecks(): void {
    const { slotOf } = this.#columns
    for (const [column, type] of this.#types.entries()) {
      if (checkOf(type) === 0) continue
      this.#checks ??= new Uint8Array(this.#columns.slots)
      this.#checks[slotOf[column]!] = checkOf(type)
    }
  }

  #columnsOf(fields: readonly (string | null)[]): RowColumns {
    const grows = this.#growExcept !== undefined
    const columns = new RowColumns(fields, this.#rowNames, { grows })
    if (this.#key) columns.identify(this.#key.columns, { grows })
    return columns
  }

  #findMasks(): void {
    if (!this.#masks) return
    const { fields, slotOf } = this.#columns
    this.#maskOf = []
    for (const [column, name] of fields.entries()) if (name !== null) this.#findMask(name, slotOf[column]!)
  }

  #findMask(name: string, slot: number): void {
    if (this.#masks && Object.hasOwn(this.#masks.byName, name)) this.#maskOf![slot] = this.#masks.byName[name]
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
    const { heads } = this.#columns
    const hidden = Object.keys(this.#masks?.byName ?? {}).length * MASK_ROOM
    const room = 2 * this.#columns.overlap * (end - at) + 2 * this.#columns.count + MARGIN + hidden
    if (this.#scratch.bytes.length < room) this.#scratch = Memory.ofSize(Math.ceil(room * 1.25))
    if (this.#page.bytes !== input) this.#page = new Memory(input)
    const target = sink === undefined ? undefined : this.#sinks[sink]!
    let p = skipSpace(input, at + 1)
    if (input[p] === CLOSE_BRACKET) return p + 1
    for (;;) {
      // A row's record is at most twice its bytes (a quote in nested JSON is doubled), its commas and its end. How long
      // the row is shows only there, which is too much to set aside where each row header has a sink of its own.
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
    if (this.rowsRead >= this.#limit) return this.#uncalledRow(input, at)
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

  /** Only checked and counted: making a record of it could cost far more than its bytes. */
  #uncalledRow(input: Buffer, at: number): number {
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    this.rowsRead++
    return skipValue(input, at)
  }

  /** The row at `at` if it is written in this shape, else -1 with nothing changed. */
  #shapedRow(shape: RowShape, input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    const { code, closing } = shape
    const { view } = this.#page
    const disarms = this.#disarms
    const masked = this.#maskOf
    const csv = this.#csv
    const counts = this.#counts
    const checks = this.#checks
    const room = input.length
    const direct = shape.direct && target !== undefined
    const memory = direct ? target.memory : this.#scratch
    const { bytes: out, view: outView } = memory
    const meter = this.#widths
    const { keyOf } = this.#columns
    if (keyOf !== null) this.#key!.startRow()
    let o = direct ? target.length : 0
    let p = at
    if (!direct) this.#starts.fill(-1)
    counts.startRow()
    let c = 0
    for (let size = code[c++]!; size > 0; size = code[c++]!) {
      // Four bytes at a time; the last four may overlap those before them.
      const next = p + size
      if (next > room) return -1
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
      if (masked !== null && masked[slot] !== undefined) {
        p = this.#maskedValue(input, p, out, o, slot)
        o = this.#copier.written
      } else if (byte === QUOTE) {
        out[o++] = QUOTE
        const stop = copyPlain(view, ++p, outView, o)
        o += stop - p
        p = stop
        if (input[p] === QUOTE) {
          out[o++] = QUOTE
          p++
        } else {
          this.#copier.escaped(this.#page, p, memory, o)
          p = this.#copier.read
          o = this.#copier.written
        }
        if (disarms && FORMULA_START[out[start + 1]!] !== 0) o = this.#disarmed(slot, out, start, o)
        meter.text(slot, out, start + 1, o - 1)
      } else if (byte <= 0x39 && byte >= 0x2d) {
        const stop = copyNumber(input, p, out, o)
        o += stop - p
        p = stop
        meter.widen(slot, o - start)
      } else {
        p = this.#rareValue(input, p, out, o, slot)
        o = this.#copier.written
      }
      if (!direct) {
        this.#starts[slot] = start
        this.#ends[slot] = o
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

  /** A row of any shape, key by key. Learns the shape, unless rows keep coming in new ones. */
  #anyRow(input: Buffer, at: number, target: SegmentBuffer | undefined): number {
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    const learn = this.#pause === 0 && ++this.#misses <= GIVE_UP
    if (this.#misses > GIVE_UP && this.#pause === 0) this.#pause = PAUSE
    const { keys, slotOfKey, below } = this.#columns
    const gaps: Buffer[] = []
    const slots: number[] = []
    this.#starts.fill(-1)
    if (below.length > 0) this.#literal.fill(0)
    // A shape tells nothing of what is inside of its values.
    let flat = true
    this.#key?.startRow()
    this.#counts.startRow()
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
        this.#starts[slot] = o
        p = this.#value(input, p, o, slot)
        o = this.#copier.written
        this.#ends[slot] = o
      }
      const keyColumn = slot < 0 ? -2 - slot : (this.#columns.keyOf?.[slot] ?? -1)
      if (keyColumn >= 0) this.#key?.found(keyColumn, from, p)
      if (below.length > 0) {
        if (slot >= 0) this.#literal[slot] = 1
        if (index >= 0 && below[index]) {
          flat = false
          o = this.#inside(below[index], input, from, o)
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

  /** Values that are wanted by a path inside of the value at `at`, which has been checked. Returns where writing ended. */
  #inside(paths: NestedPaths, input: Buffer, at: number, to: number): number {
    if (input[at] === OPEN_BRACKET) return this.#insideList(paths, input, at, to)
    if (input[at] !== OPEN_BRACE) return to
    const { keys } = paths
    let o = to
    let p = skipSpace(input, at + 1)
    while (input[p] !== CLOSE_BRACE) {
      const known = keys.scan(input, p + 1)
      const keyEnd = known === ESCAPED ? skipString(input, p) : keys.end + 1
      const index = known === ESCAPED ? escapedKey(keys, input, p, keyEnd) : known
      const from = skipSpace(input, skipSpace(input, keyEnd) + 1)
      p = skipSpace(input, skipValue(input, from))
      if (index >= 0) o = this.#wanted(paths, index, input, from, o)
      if (input[p] === COMMA) p = skipSpace(input, p + 1)
    }
    return o
  }

  #insideList(paths: NestedPaths, input: Buffer, at: number, to: number): number {
    const { indexOfPlace, countsBack } = paths
    if (indexOfPlace.size === 0) return to
    const count = countsBack ? itemsIn(input, at) : 0
    let o = to
    let p = skipSpace(input, at + 1)
    for (let place = 0; input[p] !== CLOSE_BRACKET; place++) {
      const index = indexOfPlace.get(place)
      if (index !== undefined) o = this.#wanted(paths, index, input, p, o)
      const fromEnd = countsBack ? indexOfPlace.get(place - count) : undefined
      if (fromEnd !== undefined) o = this.#wanted(paths, fromEnd, input, p, o)
      p = skipSpace(input, skipValue(input, p))
      if (input[p] === COMMA) p = skipSpace(input, p + 1)
    }
    return o
  }

  /** The value at `from`, which belongs to the key or place of that index, and what is wanted inside of it. */
  #wanted({ slotOf, below }: NestedPaths, index: number, input: Buffer, from: number, to: number): number {
    let o = to
    const slot = slotOf[index]!
    if (slot >= 0 && this.#literal[slot] === 0) {
      this.#starts[slot] = o
      const end = this.#value(input, from, o, slot)
      o = this.#copier.written
      this.#ends[slot] = o
      const keyColumn = this.#columns.keyOf?.[slot] ?? -1
      if (keyColumn >= 0) this.#key?.found(keyColumn, from, end)
    } else if (slot < -1 && !this.#key!.has(-2 - slot))
      this.#key!.found(-2 - slot, from, skipValue(input, from))
    const inner = below[index]
    return inner ? this.#inside(inner, input, from, o) : o
  }

  #notARow(input: Buffer, at: number): never {
    skipValue(input, at)
    throw new ShapeFault(`row ${this.rowsRead + 1} is not an object`)
  }

  #learn(gaps: Buffer[], closing: Buffer, slots: number[]): void {
    const { inOrder, count } = this.#columns
    // A hidden value may be longer than its own, so there must be room for it first.
    const direct = inOrder && this.#maskOf === null
    this.#shapes.unshift(new RowShape(gaps, closing, slots, direct ? count : undefined))
    if (this.#shapes.length > SHAPES) this.#shapes.pop()
  }

  /** A key for the first time: a new column where the data decides on them. Returns its slot. */
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
    this.#findMask(name, slot)
    this.#widths.add(slot)
    // The rows before lack it. Shapes that were learnt from them do not know of it.
    this.#counts.add(slot, this.#csv ? this.#rows() : 0)
    this.#shapes.length = 0
    if (slot >= this.#literal.length) this.#literal = new Uint8Array(2 * slot + 16)
    this.#starts = withOneMore(this.#starts, slot, -1)
    this.#ends = withOneMore(this.#ends, slot, -1)
    return slot
  }

  #rows(): number {
    return this.#sinks.reduce((sum, sink) => sum + sink.rows, 0)
  }

  /** Writes one value to the scratch at `o`; where it ended is left in the copier. */
  #value(input: Buffer, at: number, o: number, slot: number): number {
    const { bytes: out, view } = this.#scratch
    const copier = this.#copier
    const byte = input[at]!
    if (this.#maskOf !== null && this.#maskOf[slot] !== undefined)
      return this.#maskedValue(input, at, out, o, slot)
    if (byte === QUOTE) {
      out[o] = QUOTE
      const stop = copyPlain(this.#page.view, at + 1, view, o + 1)
      copier.escaped(this.#page, stop, this.#scratch, o + stop - at)
      if (this.#disarms && FORMULA_START[out[o + 1]!] !== 0)
        copier.written = this.#disarmed(slot, out, o, copier.written)
      this.#widths.text(slot, out, o + 1, copier.written - 1)
      return copier.read
    }
    if (byte <= 0x39 && byte >= 0x2d) {
      const stop = copyNumber(input, at, out, o)
      copier.written = o + stop - at
      this.#widths.widen(slot, stop - at)
      return stop
    }
    return this.#rareValue(input, at, out, o, slot)
  }

  /** What is shown of a value that is hidden; the value itself is written nowhere. */
  #maskedValue(input: Buffer, at: number, out: Buffer, o: number, slot: number): number {
    const end = skipValue(input, at)
    const shown = maskValue(jsonValue(input, at, end), this.#maskOf![slot]!, this.#masks!.key)
    if (shown === null) {
      this.#copier.written = this.#csv ? o : o + out.write('null', o)
      return end
    }
    const guarded = this.#disarms && isFormula(shown)
    if (guarded) this.#counts.note(slot, GUARDED)
    const safe = guarded ? `'${shown}` : shown
    const field = `"${safe.replaceAll('"', '""')}"`
    if (o + Buffer.byteLength(field) + MARGIN > out.length) fault('a row has the same key too often', at)
    this.#copier.written = o + out.write(field, o)
    this.#widths.text(slot, out, o + 1, this.#copier.written - 1)
    return end
  }

  #rareValue(input: Buffer, at: number, out: Uint8Array, o: number, slot: number): number {
    const copier = this.#copier
    if (input[at] === OPEN_BRACE || input[at] === OPEN_BRACKET) {
      if (this.#marked) out[o] = NESTED
      const start = this.#marked ? o + 1 : o
      copier.nested(input, at, out, start)
      this.#widths.text(slot, out, start + 1, copier.written - 1)
      return copier.read
    }
    const stop = copyLiteral(input, at, out, o)
    const isNull = input[at] === SMALL_N
    copier.written = isNull && this.#csv ? o : o + stop - at
    if (!isNull) this.#widths.widen(slot, stop - at)
    return stop
  }

  /** A text that would pass for a formula, in a CSV record; but one that names a row header is looked up as it is. */
  #disarmed(slot: number, out: Uint8Array, start: number, end: number): number {
    if (slot === this.#columns.headSlot) return end
    const safe = disarm(out, start + 1, end)
    if (safe > end) this.#counts.note(slot, GUARDED)
    return safe
  }

  /** The collected values as one record, in the columns' order. */
  #collected(target: SegmentBuffer | undefined): void {
    const sink = target ?? this.#sinkOfRow()
    const { count, slotOf } = this.#columns
    // A value that several columns show may make the record many times as long as its row.
    sink.reserve(sink.lead.length + this.#collectedSize() + MARGIN)
    const out = sink.memory.bytes
    const scratch = this.#scratch.bytes
    out.set(sink.lead, sink.length)
    let o = sink.length + sink.lead.length
    for (let column = 0; column < count; column++) {
      if (column > 0) out[o++] = COMMA
      const slot = slotOf[column]!
      const start = this.#starts[slot]!
      if (start < 0) continue
      const end = this.#ends[slot]!
      if (end - start > 100) o += scratch.copy(out, o, start, end)
      else for (let p = start; p < end; p++) out[o++] = scratch[p]!
    }
    if (this.#commit(sink, o) && this.#csv) this.#countCollected()
  }

  /** The present row is kept: the columns that it lacks, and what was noted of it. */
  #countDirect(missing: Int32Array): void {
    for (let n = 0; n < missing.length; n++) this.#counts.count(missing[n]!, NO_VALUE)
    this.#counts.keepRow()
  }

  #countCollected(): void {
    const scratch = this.#scratch.bytes
    const checks = this.#checks
    this.#counts.keepRow()
    for (let slot = 0; slot < this.#columns.slots; slot++) {
      const start = this.#starts[slot]!
      const end = this.#ends[slot]!
      if (start < 0 || isEmpty(scratch, start, end)) this.#counts.count(slot, NO_VALUE)
      else if (checks !== null && checks[slot]! > 0 && !fitsType(checks[slot]!, scratch, start, end))
        this.#counts.count(slot, MISFIT)
    }
  }

  #collectedSize(): number {
    const { count, slotOf } = this.#columns
    let size = count
    for (let column = 0; column < count; column++) {
      const slot = slotOf[column]!
      if (this.#starts[slot]! >= 0) size += this.#ends[slot]! - this.#starts[slot]!
    }
    return size
  }

  #sinkOfRow(): SegmentBuffer {
    const scratch = this.#scratch.bytes
    const { heads, headSlot } = this.#columns
    const start = this.#starts[headSlot]!
    if (start < 0) throw new UnknownRowHead(`row ${this.rowsRead + 1} has no ${ROW_HEAD}`)
    const quoted = scratch[start] === QUOTE ? 1 : 0
    const end = this.#ends[headSlot]! - quoted
    const index = heads!.find(scratch, start + quoted, end)
    if (index >= 0) return this.#sinks[index]!
    const name = scratch.toString('utf8', start + quoted, end).replaceAll('""', '"')
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
    this.#key?.endRow(this.#page)
    sink.length = o
    sink.rows++
    if (o >= sink.sliceLimit) sink.closeSlice()
    return true
  }
}

/** Items of the list at `at`, which has been checked. */
function itemsIn(input: Buffer, at: number): number {
  let count = 0
  let p = skipSpace(input, at + 1)
  for (; input[p] !== CLOSE_BRACKET; count++) {
    p = skipSpace(input, skipValue(input, p))
    if (input[p] === COMMA) p = skipSpace(input, p + 1)
  }
  return count
}

function escapedKey(keys: KeyTable, input: Buffer, at: number, end: number): number {
  const key = Buffer.from(String(JSON.parse(input.toString('utf8', at, end))))
  return keys.find(key, 0, key.length)
}

/** A value as JSON has it; a number keeps its digits. */
function jsonValue(input: Buffer, at: number, end: number): unknown {
  const text = input.toString('utf8', at, end)
  if (/^[-\d]/.test(text)) return text
  try {
    return JSON.parse(text)
  } catch {
    return fault('a value cannot be read', at)
  }
}

/** A CSV field that holds nothing, or the empty text. */
function isEmpty(out: Uint8Array, start: number, end: number): boolean {
  return end === start || (end - start === 2 && out[start] === QUOTE)
}
