import { type CellType, checkOf, type FieldDigits, type Masking } from '../../sheet/index.ts'
import { MAX_KEYS, tooManyKeys, withOneMore } from '../json/index.ts'
import { RowColumns } from './row-columns.ts'
import type { RecordCounts } from './row-counts.ts'
import type { RowKey } from './row-key.ts'
import { KnownShapes, RowShape } from './row-shape.ts'
import { RowValues } from './row-values.ts'
import { ValueWriter } from './value-writer.ts'

/** Keys without a column that are remembered by name. */
const MAX_UNWANTED = 1_000

/** The state before a page. */
export interface TranscoderMark extends RecordCounts {
  fields: number
  unwanted: number
  /** By field, as the counts are. */
  widths: number[]
  digits: FieldDigits[]
}

export interface RowTableOptions {
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

/** What is known of the rows: their columns, what was measured and counted, and how they are written. Readers of rows share it. */
export class RowTable {
  columns: RowColumns
  readonly key: RowKey | undefined
  readonly csv: boolean
  /** In CSV records, texts that look like formulas are guarded. */
  readonly disarms: boolean
  readonly writer: ValueWriter
  /** Of the row that is read, if they have to be put in order. */
  readonly values: RowValues
  /** By slot: what its values are checked for; null: nothing is checked. */
  readonly checks: Uint8Array | null
  readonly shapes = new KnownShapes()
  readonly #rowNames: readonly string[] | undefined
  readonly #growExcept: readonly string[] | undefined

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
    }: RowTableOptions,
    counted: Partial<Omit<TranscoderMark, 'fields' | 'unwanted'>>,
  ) {
    this.csv = csv
    this.disarms = csv && !keepFormulas
    this.#rowNames = rowNames
    this.#growExcept = growExcept
    this.key = key
    this.columns = this.#columnsOf(fields)
    const { slots, slotOf } = this.columns
    this.writer = new ValueWriter({ csv, disarms: this.disarms, marked, masks }, slots)
    this.writer.useColumns(this.columns)
    this.values = new RowValues(slots, this.writer, key)
    this.checks = csv ? checksOf(types, slots, slotOf) : null
    this.#restore(counted)
  }

  /** Widest value so far, by field; of CSV records, the longest text. */
  get widths(): number[] {
    return this.#slots.map((slot) => this.writer.meter.bySlot[slot]!)
  }

  get digits(): FieldDigits[] {
    return this.#slots.map((slot) => this.writer.meter.digitsOf(slot))
  }

  /** By field. */
  get counts(): RecordCounts {
    return this.writer.counts.byColumn(this.#slots)
  }

  /** By column. */
  get #slots(): number[] {
    const { fields, slotOf } = this.columns
    return fields.map((_, column) => slotOf[column]!)
  }

  /** For `rollback`, if the page turns out to be invalid. */
  mark(): TranscoderMark {
    const { fields, unwanted } = this.columns
    const { widths, digits, counts } = this
    return { fields: fields.length, unwanted: unwanted.length, widths, digits, ...counts }
  }

  /** Forgets the keys and values that only a refused page had. */
  rollback(mark: TranscoderMark): void {
    const { fields, unwanted } = this.columns
    if (fields.length !== mark.fields || unwanted.length !== mark.unwanted) {
      this.columns = this.#columnsOf(fields.slice(0, mark.fields))
      this.leaveOut(unwanted.slice(0, mark.unwanted))
      this.shapes.clear()
      this.writer.useColumns(this.columns)
    }
    this.#restore(mark)
  }

  #restore({ widths = [], digits = [], ...counts }: Partial<TranscoderMark>): void {
    const slots = this.#slots
    for (const [column, width] of widths.entries()) this.writer.meter.bySlot[slots[column]!] = width
    for (const [column, most] of digits.entries()) this.writer.meter.restoreDigits(slots[column]!, most)
    this.writer.counts.restore(counts, slots)
  }

  #columnsOf(fields: readonly (string | null)[]): RowColumns {
    const grows = this.#growExcept !== undefined
    const columns = new RowColumns(fields, this.#rowNames, { grows })
    if (this.key) columns.identify(this.key.columns, { grows })
    return columns
  }

  /** Keys that an earlier fetch saw. */
  leaveOut(names: readonly string[]): void {
    for (const name of names) this.columns.leaveOut(name)
  }

  /** `gaps` come before the values of a row, `closing` after the last one. */
  learn(gaps: Buffer[], closing: Buffer, slots: number[]): void {
    const { inOrder, count } = this.columns
    // A masked value may be longer than the value itself, which the reserved space of a sink does not allow for.
    const direct = inOrder && this.writer.maskOf === null
    this.shapes.add(new RowShape(gaps, closing, slots, direct ? count : undefined))
  }

  /** A key that is not known: a new column if the rows decide on the columns. `rows` so far have lacked it. Returns its slot. */
  newKey(input: Buffer, at: number, end: number, rows: number): number {
    const columns = this.columns
    if (!this.#growExcept && columns.unwanted.length >= MAX_UNWANTED) return -1
    const name = String(JSON.parse(input.toString('utf8', at, end)))
    if (!this.#growExcept || this.#growExcept.includes(name)) {
      if (columns.unwanted.length < MAX_UNWANTED) columns.leaveOut(name)
      return -1
    }
    if (columns.count >= MAX_KEYS) throw tooManyKeys('its rows have', 'different keys')
    const slot = columns.add(name)
    if (columns.keyOf) columns.keyOf = withOneMore(columns.keyOf, slot, this.key!.columns.indexOf(name))
    this.writer.addColumn(name, slot, rows)
    this.values.addSlot(slot)
    // Those that were learnt from earlier rows do not know the column.
    this.shapes.clear()
    return slot
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
