import type { FieldDigits } from '../../sheet/index.ts'
import {
  CLOSE_BRACKET,
  COMMA,
  fault,
  Memory,
  OPEN_BRACE,
  OPEN_BRACKET,
  ShapeFault,
  skipSpace,
  skipValue,
} from '../json/index.ts'
import { readAnyRow } from './any-row.ts'
import type { RecordCounts } from './row-counts.ts'
import { RowSinks } from './row-sinks.ts'
import { RowTable, type RowTableOptions, type TranscoderMark } from './row-table.ts'
import type { SegmentBuffer } from './segment-buffer.ts'
import { readShapedRow } from './shaped-row.ts'
import { MARGIN } from './value-writer.ts'

/**
 * Turns JSON rows into spool records, byte by byte, with no string or number made on the way.
 *
 * A row is first compared with the shapes of earlier rows: equal gaps mean equal keys, and if these come in the order of the
 * columns, values are written straight into the sink. Any other row is read key by key, its values are collected and then
 * put in order. Both ways check every byte of the row against the grammar.
 */
export class RowTranscoder {
  readonly #table: RowTable
  readonly #sinks: RowSinks
  #limit = Number.POSITIVE_INFINITY

  constructor(
    options: RowTableOptions,
    sinks: readonly SegmentBuffer[],
    counted: Partial<Omit<TranscoderMark, 'fields' | 'unwanted'>> = {},
  ) {
    this.#table = new RowTable(options, counted)
    this.#sinks = new RowSinks(sinks, this.#table)
  }

  /** Rows seen in this page, those beyond the limit included. */
  get rowsRead(): number {
    return this.#sinks.rowsRead
  }

  /** Widest value so far, by field; of CSV records, the longest text. */
  get widths(): number[] {
    return this.#table.widths
  }

  get digits(): FieldDigits[] {
    return this.#table.digits
  }

  /** By field. */
  get counts(): RecordCounts {
    return this.#table.counts
  }

  /** The columns, with those that have been added. */
  get fields(): readonly (string | null)[] {
    return this.#table.columns.fields
  }

  /** Keys that no column shows, in the order of first sight. */
  get unwanted(): readonly string[] {
    return this.#table.columns.unwanted
  }

  /** For `rollback`, if the page turns out to be invalid. */
  mark(): TranscoderMark {
    return this.#table.mark()
  }

  /** Forgets the keys and values that only a refused page had. */
  rollback(mark: TranscoderMark): void {
    this.#table.rollback(mark)
  }

  /** Keys that an earlier fetch saw. */
  leaveOut(names: readonly string[]): void {
    this.#table.leaveOut(names)
  }

  /** Rows beyond `limit` are checked and counted, but not kept. */
  startPage(limit: number): void {
    this.#sinks.rowsRead = 0
    this.#limit = limit
  }

  /** Reads the array at `at` into the sink of that number; without one, each row's own row header decides. */
  rows(input: Buffer, at: number, end: number, sink?: number): number {
    if (input[at] !== OPEN_BRACKET) fault('expected a list of rows', at)
    const { columns, values, writer } = this.#table
    const { heads, overlap } = columns
    values.reserve(2 * overlap * (end - at) + 2 * columns.count + MARGIN + writer.maskBytes)
    if (writer.page.bytes !== input) writer.page = new Memory(input)
    const target = sink === undefined ? undefined : this.#sinks.at(sink)
    let p = skipSpace(input, at + 1)
    if (input[p] === CLOSE_BRACKET) return p + 1
    for (;;) {
      // A record is at most twice as long as its row (a quote in nested JSON is doubled), plus its commas and its end. The
      // row may be all that is left of the page: too much to reserve where each row header has a sink of its own.
      if (!heads) target?.reserve(2 * (end - p) + columns.count + MARGIN)
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
    const table = this.#table
    const sinks = this.#sinks
    if (sinks.rowsRead >= this.#limit) return this.#surplusRow(input, at)
    const shapes = table.shapes.toTry()
    for (let index = 0; index < shapes.length; index++) {
      const p = readShapedRow(shapes[index]!, table, sinks, input, at, target)
      if (p < 0) continue
      table.shapes.matched(index)
      return p
    }
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    return readAnyRow(table, sinks, input, at, target)
  }

  /** Only checked and counted: making a record of it could cost far more than its bytes. */
  #surplusRow(input: Buffer, at: number): number {
    if (input[at] !== OPEN_BRACE) this.#notARow(input, at)
    this.#sinks.rowsRead++
    return skipValue(input, at)
  }

  #notARow(input: Buffer, at: number): never {
    skipValue(input, at)
    throw new ShapeFault(`row ${this.rowsRead + 1} is not an object`)
  }
}
