import {
  disarm,
  FORMULA_START,
  isFormula,
  LengthMeter,
  type Mask,
  type Masking,
  maskValue,
  NESTED,
} from '../../sheet/index.ts'
import {
  copyLiteral,
  copyNumber,
  copyPlain,
  fault,
  hasExponent,
  Memory,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipValue,
  ValueCopier,
  wholeEnd,
} from '../json/index.ts'
import type { RowColumns } from './row-columns.ts'
import { GUARDED, REPLACED, RowCounts } from './row-counts.ts'
import { WidthMeter } from './width-meter.ts'

const SMALL_N = 0x6e
/** Bytes after a value: for the end of its record, and because copies are made by words. */
export const MARGIN = 8
/** Bytes by which a masked value may be longer than the value itself. */
const MASK_BYTES = 64

export interface ValueWriterOptions {
  csv: boolean
  /** In CSV records, put an apostrophe before texts that look like formulas. */
  disarms: boolean
  marked: boolean
  masks: Masking | undefined
}

/** Writes JSON values as fields of a record, and measures and counts them by slot. */
export class ValueWriter {
  readonly counts: RowCounts
  readonly meter: WidthMeter | LengthMeter
  /** Where reading and writing ended after a call. */
  readonly copier = new ValueCopier()
  /** By slot; null: nothing is masked. */
  maskOf: (Mask | undefined)[] | null = null
  /** The page being read. */
  page = Memory.ofSize(0)
  readonly #csv: boolean
  readonly #disarms: boolean
  readonly #marked: boolean
  readonly #masks: Masking | undefined
  #headSlot = -1

  constructor({ csv, disarms, marked, masks }: ValueWriterOptions, slots: number) {
    this.#csv = csv
    this.#disarms = disarms
    this.#marked = marked
    this.#masks = masks
    this.meter = csv ? new LengthMeter(slots) : new WidthMeter(slots)
    this.counts = new RowCounts(slots)
  }

  /** Bytes by which the masked values of a row may be longer than the row. */
  get maskBytes(): number {
    return Object.keys(this.#masks?.byName ?? {}).length * MASK_BYTES
  }

  useColumns({ fields, slotOf, headSlot }: RowColumns): void {
    this.#headSlot = headSlot
    if (!this.#masks) return
    this.maskOf = []
    for (const [column, name] of fields.entries()) if (name !== null) this.#findMask(name, slotOf[column]!)
  }

  /** `rows`: how many rows so far have lacked the new column. */
  addColumn(name: string, slot: number, rows: number): void {
    this.#findMask(name, slot)
    this.meter.add(slot)
    this.counts.add(slot, this.#csv ? rows : 0)
  }

  #findMask(name: string, slot: number): void {
    if (this.#masks && Object.hasOwn(this.#masks.byName, name)) this.maskOf![slot] = this.#masks.byName[name]
  }

  /** Writes one value to `target` at `o`. Returns where it ended; where writing ended is left in the copier. */
  write(input: Buffer, at: number, target: Memory, o: number, slot: number): number {
    const { bytes: out, view } = target
    const copier = this.copier
    const byte = input[at]!
    if (this.maskOf !== null && this.maskOf[slot] !== undefined) return this.masked(input, at, out, o, slot)
    if (byte === QUOTE) {
      out[o] = QUOTE
      const stop = copyPlain(this.page.view, at + 1, view, o + 1)
      copier.escaped(this.page, stop, target, o + stop - at)
      if (copier.halved) this.noteHalf(slot)
      if (this.#disarms && FORMULA_START[out[o + 1]!] !== 0)
        copier.written = this.disarmed(slot, out, o, copier.written)
      this.meter.text(slot, out, o + 1, copier.written - 1)
      return copier.read
    }
    if (byte <= 0x39 && byte >= 0x2d) {
      const stop = copyNumber(input, at, out, o)
      copier.written = o + stop - at
      if (hasExponent) this.meter.exponential(slot, input, at, stop)
      else this.meter.number(slot, wholeEnd - at, stop - wholeEnd)
      return stop
    }
    return this.rare(input, at, out, o, slot)
  }

  /** Writes the masked form of a value; the value itself is written nowhere. */
  masked(input: Buffer, at: number, out: Buffer, o: number, slot: number): number {
    const end = skipValue(input, at)
    const shown = maskValue(jsonValue(input, at, end), this.maskOf![slot]!, this.#masks!.key)
    if (shown === null) {
      this.copier.written = this.#csv ? o : o + out.write('null', o)
      return end
    }
    const guarded = this.#disarms && isFormula(shown)
    if (guarded) this.counts.note(slot, GUARDED)
    const safe = guarded ? `'${shown}` : shown
    const field = `"${safe.replaceAll('"', '""')}"`
    if (o + Buffer.byteLength(field) + MARGIN > out.length) fault('a row has the same key too often', at)
    this.copier.written = o + out.write(field, o)
    this.meter.text(slot, out, o + 1, this.copier.written - 1)
    return end
  }

  /** Writes a value that is neither text nor number. */
  rare(input: Buffer, at: number, out: Uint8Array, o: number, slot: number): number {
    const copier = this.copier
    if (input[at] === OPEN_BRACE || input[at] === OPEN_BRACKET) {
      if (this.#marked) out[o] = NESTED
      const start = this.#marked ? o + 1 : o
      copier.nested(input, at, out, start)
      this.meter.text(slot, out, start + 1, copier.written - 1)
      return copier.read
    }
    const stop = copyLiteral(input, at, out, o)
    const isNull = input[at] === SMALL_N
    copier.written = isNull && this.#csv ? o : o + stop - at
    if (!isNull) this.meter.widen(slot, stop - at)
    return stop
  }

  noteHalf(slot: number): void {
    this.copier.halved = false
    this.counts.note(slot, REPLACED)
  }

  /** Guards a text that a spreadsheet would take for a formula; not the name of a row header, which is looked up as it is. */
  disarmed(slot: number, out: Uint8Array, start: number, end: number): number {
    if (slot === this.#headSlot) return end
    const safe = disarm(out, start + 1, end)
    if (safe > end) this.counts.note(slot, GUARDED)
    return safe
  }
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
