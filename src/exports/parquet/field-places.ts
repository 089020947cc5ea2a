import type { RecordReader } from '../records/index.ts'

/** The bit of a kind that says: the text holds doubled quotes. */
const DOUBLED = 0x80

/**
 * Where the fields of many records are in their bytes. Values can be made of them column by column, so that only those of one
 * column are in memory, which are many times as large as their bytes.
 */
export class FieldPlaces {
  rows = 0
  #columns = 0
  #starts = new Uint32Array(0)
  #ends = new Uint32Array(0)
  #kinds = new Uint8Array(0)

  /** Forgets all records; those that follow have so many columns. */
  clear(columns: number): void {
    this.#columns = columns
    this.rows = 0
  }

  /** Reads the record that has begun. */
  add(reader: RecordReader): void {
    let at = this.rows * this.#columns
    const end = at + this.#columns
    if (end > this.#kinds.length) this.#grow(end)
    for (; at < end; at++) {
      reader.next()
      this.#starts[at] = reader.start
      this.#ends[at] = reader.end
      this.#kinds[at] = reader.doubled ? reader.kind | DOUBLED : reader.kind
    }
    this.rows++
  }

  /** What `make` returns for a column, with the reader on its field of each record. */
  map<Value>(reader: RecordReader, column: number, make: () => Value): Value[] {
    const values: Value[] = []
    for (let row = 0, at = column; row < this.rows; row++, at += this.#columns) {
      const kind = this.#kinds[at]!
      reader.start = this.#starts[at]!
      reader.end = this.#ends[at]!
      reader.kind = kind & ~DOUBLED
      reader.doubled = kind >= DOUBLED
      values.push(make())
    }
    return values
  }

  #grow(fields: number): void {
    const size = Math.max(fields, this.#kinds.length * 2, 1 << 16)
    const [starts, ends, kinds] = [this.#starts, this.#ends, this.#kinds]
    this.#starts = new Uint32Array(size)
    this.#ends = new Uint32Array(size)
    this.#kinds = new Uint8Array(size)
    this.#starts.set(starts)
    this.#ends.set(ends)
    this.#kinds.set(kinds)
  }
}
