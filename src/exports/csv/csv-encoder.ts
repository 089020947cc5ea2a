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

/**
 * Turns spool, in chunks that may end anywhere, into CSV. `push` and `end` return bytes that the caller owns; chunks are
 * not kept. One encoder reads one spool; `labels` go before each of its records.
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

  push(chunk: Uint8Array): Uint8Array[] {
    if (this.#tailSize === 0) return this.#convert(chunk)
    this.#keep(chunk)
    return this.#tailSize < this.#waitFor ? [] : this.#convert(this.#takeTail())
  }

  /** What was waiting; throws if the spool stopped in the middle of a record. */
  end(): Uint8Array[] {
    const rest = this.#convert(this.#takeTail())
    if (this.#tailSize === 0) return rest
    throw new AppError(ERRORS.SPOOL_DAMAGED, `the spool ends inside record ${this.#records + 1}`, {
      retryable: false,
    })
  }

  #convert(bytes: Uint8Array): Uint8Array[] {
    // Never a Buffer: to the compiler it is another type, and one loop for two types of array runs at half the speed.
    const input = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    const output: Uint8Array[] = []
    let at = 0
    let size = WINDOW
    while (at < input.length) {
      const window = input.subarray(at, at + size)
      const read = this.#order.changes ? this.#rearrange(window, output) : this.#encode(window, output)
      if (read === 0 && at + size >= input.length) break
      // A record longer than the window: look further.
      size = read === 0 ? size * 2 : WINDOW
      at += read
    }
    this.#waitFor = at === 0 ? 2 * input.length : 0
    if (at < input.length) this.#keep(input.subarray(at))
    return output
  }

  #rearrange(window: Uint8Array, output: Uint8Array[]): number {
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
    for (let at = 0; at < spool.length; ) at += this.#encode(spool.subarray(at), output)
    return result.read
  }

  #encode(window: Uint8Array, output: Uint8Array[]): number {
    const prefixes = this.#prefix ? 2 * Math.max(this.#prefix.length, window.length) : 0
    const room = transcodeBound(window.length) + prefixes
    if (this.#scratch.length < room) this.#scratch = new Uint8Array(room)
    const { read, written, records } = transcode(window, this.#scratch, this.#columns, this.#prefix)
    this.#records += records
    if (written > 0) output.push(this.#scratch.slice(0, written))
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
