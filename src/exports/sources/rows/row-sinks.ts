import { QUOTE, UnknownRowHead } from '../json/index.ts'
import { ROW_HEAD } from './row-columns.ts'
import type { RowKey } from './row-key.ts'
import type { RowTable } from './row-table.ts'
import type { SegmentBuffer } from './segment-buffer.ts'
import type { ValueWriter } from './value-writer.ts'

const CR = 0x0d
const NEWLINE = 0x0a

/** Where records go: one sink, or one for each row header. */
export class RowSinks {
  /** Rows seen in this page, those beyond the limit included. */
  rowsRead = 0
  readonly #sinks: readonly SegmentBuffer[]
  readonly #table: RowTable
  readonly #csv: boolean
  readonly #key: RowKey | undefined
  readonly #writer: ValueWriter

  constructor(sinks: readonly SegmentBuffer[], table: RowTable) {
    this.#sinks = sinks
    this.#table = table
    this.#csv = table.csv
    this.#key = table.key
    this.#writer = table.writer
  }

  /** Rows of all pages. */
  get rows(): number {
    return this.#sinks.reduce((sum, { rows }) => sum + rows, 0)
  }

  at(index: number): SegmentBuffer {
    return this.#sinks[index]!
  }

  /** Writes the collected values as one record. Without a sink, the row's own row header decides. */
  keepValues(sink: SegmentBuffer | undefined): void {
    const table = this.#table
    const target = sink ?? this.#sinkOfRow()
    this.endRecord(target, table.values.copyTo(target, table.columns))
    if (this.#csv) table.values.countIn(table.writer.counts, table.columns.slots, table.checks)
    else table.writer.counts.keepRow()
  }

  /** Ends the record after `at`. */
  endRecord(sink: SegmentBuffer, at: number): void {
    this.rowsRead++
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
  }

  #sinkOfRow(): SegmentBuffer {
    const { values, columns } = this.#table
    const { bytes } = values.memory
    const { heads, headSlot } = columns
    const start = values.starts[headSlot]!
    if (start < 0) throw new UnknownRowHead(`row ${this.rowsRead + 1} has no ${ROW_HEAD}`)
    const quoted = bytes[start] === QUOTE ? 1 : 0
    const end = values.ends[headSlot]! - quoted
    const index = heads!.find(bytes, start + quoted, end)
    if (index >= 0) return this.#sinks[index]!
    const name = bytes.toString('utf8', start + quoted, end).replaceAll('""', '"')
    throw new UnknownRowHead(`no row header is named "${name}"`)
  }
}
