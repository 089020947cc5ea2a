import { fitsType } from '../../sheet/index.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  ESCAPED,
  type KeyTable,
  Memory,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
  withOneMore,
} from '../json/index.ts'
import type { NestedPaths } from './nested-paths.ts'
import type { RowColumns } from './row-columns.ts'
import { MISFIT, NO_VALUE, type RowCounts } from './row-counts.ts'
import type { RowKey } from './row-key.ts'
import type { SegmentBuffer } from './segment-buffer.ts'
import { MARGIN, type ValueWriter } from './value-writer.ts'

/** The values of one row, collected because they do not come in the order of the columns. */
export class RowValues {
  /** The written values, one after the other. */
  memory = Memory.ofSize(0)
  /** Where in the memory each value is, by slot; -1 for one that the row lacks. */
  starts: Int32Array
  ends: Int32Array
  /** By slot: the row has a key of that very name, which wins over a path. */
  #literal: Uint8Array
  readonly #writer: ValueWriter
  readonly #key: RowKey | undefined

  constructor(slots: number, writer: ValueWriter, key: RowKey | undefined) {
    this.starts = new Int32Array(slots)
    this.ends = new Int32Array(slots)
    this.#literal = new Uint8Array(slots)
    this.#writer = writer
    this.#key = key
  }

  addSlot(slot: number): void {
    if (slot >= this.#literal.length) this.#literal = new Uint8Array(2 * slot + 16)
    this.starts = withOneMore(this.starts, slot, -1)
    this.ends = withOneMore(this.ends, slot, -1)
  }

  reserve(size: number): void {
    if (this.memory.bytes.length < size) this.memory = Memory.ofSize(Math.ceil(size * 1.25))
  }

  startRow({ below }: RowColumns): void {
    this.starts.fill(-1)
    if (below.length > 0) this.#literal.fill(0)
  }

  /** Writes the value of a slot at `o`. Returns where it ended; where writing ended is left in the writer's copier. */
  write(input: Buffer, at: number, o: number, slot: number): number {
    this.starts[slot] = o
    const end = this.#writer.write(input, at, this.memory, o, slot)
    this.ends[slot] = this.#writer.copier.written
    return end
  }

  markLiteral(slot: number): void {
    this.#literal[slot] = 1
  }

  /** Writes the values that paths name inside the value at `at`, which has been checked. Returns where writing ended. */
  writeInside(paths: NestedPaths, columns: RowColumns, input: Buffer, at: number, to: number): number {
    if (input[at] === OPEN_BRACKET) return this.#writeItems(paths, columns, input, at, to)
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
      if (index >= 0) o = this.#writeNamed(paths, index, columns, input, from, o)
      if (input[p] === COMMA) p = skipSpace(input, p + 1)
    }
    return o
  }

  #writeItems(paths: NestedPaths, columns: RowColumns, input: Buffer, at: number, to: number): number {
    const { indexOfPlace, countsBack } = paths
    if (indexOfPlace.size === 0) return to
    const count = countsBack ? itemsIn(input, at) : 0
    let o = to
    let p = skipSpace(input, at + 1)
    for (let place = 0; input[p] !== CLOSE_BRACKET; place++) {
      const index = indexOfPlace.get(place)
      if (index !== undefined) o = this.#writeNamed(paths, index, columns, input, p, o)
      const fromEnd = countsBack ? indexOfPlace.get(place - count) : undefined
      if (fromEnd !== undefined) o = this.#writeNamed(paths, fromEnd, columns, input, p, o)
      p = skipSpace(input, skipValue(input, p))
      if (input[p] === COMMA) p = skipSpace(input, p + 1)
    }
    return o
  }

  /** The value at `from`, whose key or place has that index, and the values named inside it. */
  #writeNamed(
    { slotOf, below }: NestedPaths,
    index: number,
    columns: RowColumns,
    input: Buffer,
    from: number,
    to: number,
  ): number {
    let o = to
    const slot = slotOf[index]!
    if (slot >= 0 && this.#literal[slot] === 0) {
      const end = this.write(input, from, o, slot)
      o = this.#writer.copier.written
      const keyColumn = columns.keyOf?.[slot] ?? -1
      if (keyColumn >= 0) this.#key?.found(keyColumn, from, end)
    } else if (slot < -1 && !this.#key!.has(-2 - slot))
      this.#key!.found(-2 - slot, from, skipValue(input, from))
    const inner = below[index]
    return inner ? this.writeInside(inner, columns, input, from, o) : o
  }

  /** Copies the values to the sink in the order of the columns. Returns where the record ends. */
  copyTo(sink: SegmentBuffer, { count, slotOf }: RowColumns): number {
    // A value that several columns show may make the record many times as long as its row.
    sink.reserve(sink.lead.length + this.#sizeOf(count, slotOf) + MARGIN)
    const out = sink.memory.bytes
    const from = this.memory.bytes
    out.set(sink.lead, sink.length)
    let o = sink.length + sink.lead.length
    for (let column = 0; column < count; column++) {
      if (column > 0) out[o++] = COMMA
      const slot = slotOf[column]!
      const start = this.starts[slot]!
      if (start < 0) continue
      const end = this.ends[slot]!
      if (end - start > 100) o += from.copy(out, o, start, end)
      else for (let p = start; p < end; p++) out[o++] = from[p]!
    }
    return o
  }

  #sizeOf(count: number, slotOf: Int32Array): number {
    let size = count
    for (let column = 0; column < count; column++) {
      const slot = slotOf[column]!
      if (this.starts[slot]! >= 0) size += this.ends[slot]! - this.starts[slot]!
    }
    return size
  }

  /** Counts a CSV record that is kept. `checks`: by slot, what the values are checked for. */
  countIn(counts: RowCounts, slots: number, checks: Uint8Array | null): void {
    const { bytes } = this.memory
    counts.keepRow()
    for (let slot = 0; slot < slots; slot++) {
      const start = this.starts[slot]!
      const end = this.ends[slot]!
      if (start < 0 || isEmpty(bytes, start, end)) counts.count(slot, NO_VALUE)
      else if (checks !== null && checks[slot]! > 0 && !fitsType(checks[slot]!, bytes, start, end))
        counts.count(slot, MISFIT)
    }
  }
}

export function escapedKey(keys: KeyTable, input: Buffer, at: number, end: number): number {
  const key = Buffer.from(String(JSON.parse(input.toString('utf8', at, end))))
  return keys.find(key, 0, key.length)
}

/** A CSV field that holds nothing, or the empty text. */
export function isEmpty(out: Uint8Array, start: number, end: number): boolean {
  return end === start || (end - start === 2 && out[start] === QUOTE)
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
