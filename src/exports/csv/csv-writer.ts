import type { Template } from '../template/index.ts'
import { CsvEncoder } from './csv-encoder.ts'
import { CsvLayout } from './csv-layout.ts'

/** The spooled rows of a table, or those of one row header. */
export interface CsvPart {
  spool: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
  /** Name of the row leaf whose rows these are. */
  row?: string
}

export interface CsvOptions {
  /** Excel takes a CSV file for UTF-8 only with a byte order mark. */
  bom?: boolean
  /**
   * true: what is yielded is good only until the next is asked for. Right for a loop that awaits each write: it spares a
   * gigabyte of garbage a gigabyte. Wrong for streams, which keep what they have not passed on.
   */
  reuse?: boolean
}

/**
 * Writes a CSV file (RFC 4180, UTF-8): the leaves' titles, then every record of the parts, in their order. With row
 * headers, the labels are the first columns of each record.
 */
export class CsvWriter {
  readonly #layout: CsvLayout
  readonly #bom: boolean
  readonly #reuse: boolean
  #rows = 0

  constructor(template: Template, { bom = true, reuse = false }: CsvOptions = {}) {
    this.#layout = new CsvLayout(template)
    this.#bom = bom
    this.#reuse = reuse
  }

  /** Data records written so far. */
  get rows(): number {
    return this.#rows
  }

  async *write(
    parts: AsyncIterable<CsvPart> | Iterable<CsvPart>,
    signal?: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    yield this.#layout.head(this.#bom)
    for await (const part of parts) {
      const encoder = new CsvEncoder(this.#layout.shape, this.#layout.labelsOf(part.row))
      for await (const chunk of part.spool) {
        signal?.throwIfAborted()
        for (const bytes of encoder.push(chunk)) yield this.#reuse ? bytes : bytes.slice()
      }
      for (const bytes of encoder.end()) yield this.#reuse ? bytes : bytes.slice()
      this.#rows += encoder.records
    }
  }
}
