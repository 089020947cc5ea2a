import { AppError, ERRORS } from '../../kernel/index.ts'
import { csvRecord } from './csv-text.ts'
import { FieldOrder } from './reorder.ts'
import { transcode, transcodeBound } from './transcode.ts'

export interface CsvShape {
  /** Fields of a spool record. */
  fields: number
  /** The field that each column shows; null leaves it empty. */
  order: readonly (number | null)[]
}

/** Spool is read in windows of this size, so that both ends of the copy stay in the processor's cache. */
const WINDOW = 256 * 1024
const JOIN = 16 * 1024

/**
 * Turns spool, in chunks that may end anywhere, into CSV. `push` and `end` yield views of one buffer, each good until
 * the next is asked for, and must be read to their end; chunks are not kept. One encoder reads one spool; `labels` go
 * before each of its records.
 */
export class CsvEncoder {
  readonly #order: FieldOrder
  readonly #columns: number
  readonly #prefix: Uint8Array | null
  #scratch = new Uint8Array(0)
  #reordered = new Uint8Array(0)
  /** What came after the last whole record. */
  #tail: Uint8Array[] = []
  #tailSize = 0
  /** A record that spans many chunks is looked at again only when twice as much of it is there. */
  #waitFor = 0
  #records = 0

  constructor(shape: CsvShape, labels: readonly string[] = []) {
    this.#order = new FieldOrder(Math.max(1, shape.fields), shape.order)
    this.#columns = Math.max(1, shape.order.length)
    this.#prefix = labels.length === 0 ? null : prefixOf(labels)
  }

  get records(): number {
    return this.#records
  }

  *push(chunk: Uint8Array): Generator<Uint8Array> {
    if (this.#tailSize === 0) return yield* this.#read(chunk)
    if (this.#tailSize + chunk.length < this.#waitFor) return this.#keep(chunk)
    // Of the chunk, only as much is copied as will most likely complete the record that waits.
    const tail = this.#takeTail()
    const read = yield* this.#convert(Buffer.concat([tail, chunk.subarray(0, JOIN)]))
    const isPast = read >= tail.length
    yield* this.#read(
      isPast ? chunk.subarray(read - tail.length) : Buffer.concat([tail.subarray(read), chunk]),
    )
  }

  /** What was waiting; throws if the spool stopped in the middle of a record. */
  *end(): Generator<Uint8Array> {
    yield* this.#read(this.#takeTail())
    if (this.#tailSize === 0) return
    throw new AppError(ERRORS.SPOOL_DAMAGED, `the spool ends inside record ${this.#records + 1}`, {
      retryable: false,
    })
  }

  *#read(bytes: Uint8Array): Generator<Uint8Array> {
    const read = yield* this.#convert(bytes)
    this.#waitFor = read === 0 ? 2 * bytes.length : 0
    this.#keep(bytes.subarray(read))
  }

  /** Converts all whole records and returns how many bytes they were. */
  *#convert(bytes: Uint8Array): Generator<Uint8Array, number> {
    // Never a Buffer: to the compiler it is another type, and one loop for two types of array runs at half the speed.
    const input = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    let at = 0
    let size = WINDOW
    while (at < input.length) {
      const window = input.subarray(at, at + size)
      const read = yield* this.#order.changes ? this.#rearrange(window) : this.#encode(window)
      if (read === 0 && at + size >= input.length) break
      // A record longer than the window: look further.
      size = read === 0 ? size * 2 : WINDOW
      at += read
    }
    return at
  }

  *#rearrange(window: Uint8Array): Generator<Uint8Array, number> {
    // A field may be shown by several columns, so a record may grow up to that many times.
    const room = Math.max(WINDOW, window.length * this.#columns)
    if (this.#reordered.length < Math.min(room, 4 * window.length)) {
      this.#reordered = new Uint8Array(Math.min(room, 4 * window.length))
    }
    let result = this.#order.apply(window, this.#reordered)
    if (result.read === 0 && this.#reordered.length < room) {
      this.#reordered = new Uint8Array(room)
      result = this.#order.apply(window, this.#reordered)
    }
    const spool = this.#reordered.subarray(0, result.written)
    for (let at = 0; at < spool.length; ) at += yield* this.#encode(spool.subarray(at))
    return result.read
  }

  *#encode(window: Uint8Array): Generator<Uint8Array, number> {
    const prefixes = this.#prefix ? 2 * Math.max(this.#prefix.length, window.length) : 0
    const room = transcodeBound(window.length, this.#columns) + prefixes
    if (this.#scratch.length < room) this.#scratch = new Uint8Array(room)
    const { read, written, records } = transcode(window, this.#scratch, this.#columns, this.#prefix)
    this.#records += records
    if (written > 0) yield this.#scratch.subarray(0, written)
    return read
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#tail.push(bytes.slice())
    this.#tailSize += bytes.length
  }

  #takeTail(): Uint8Array {
    const tail = this.#tail.length === 1 ? this.#tail[0]! : Buffer.concat(this.#tail)
    this.#tail = []
    this.#tailSize = 0
    return tail
  }
}

/** The labels' fields with a comma behind each. */
function prefixOf(labels: readonly string[]): Uint8Array {
  return Buffer.from(csvRecord([...labels, '']).slice(0, -2))
}
