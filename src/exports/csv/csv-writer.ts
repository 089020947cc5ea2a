import { csvHeader, csvRowLabels, type Template } from '../template/index.ts'
import { CsvEncoder, type CsvShape } from './csv-encoder.ts'
import { csvRecord } from './csv-text.ts'

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

const BOM = '\ufeff'

/**
 * Writes a CSV file (RFC 4180, UTF-8): the leaves' titles, then every record of the parts, in their order. With row
 * headers, the labels are the first columns of each record.
 */
export class CsvWriter {
  readonly #template: Template
  readonly #bom: boolean
  readonly #reuse: boolean
  #rows = 0

  constructor(template: Template, { bom = true, reuse = false }: CsvOptions = {}) {
    this.#template = template
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
    const titles = csvHeader(this.#template)
    // An empty source without a template has no columns, so there is no header to show either.
    yield Buffer.from(`${this.#bom ? BOM : ''}${titles.length === 0 ? '' : csvRecord(titles)}`)
    const labels = csvRowLabels(this.#template)
    const shape = shapeOf(this.#template)
    for await (const part of parts) {
      const encoder = new CsvEncoder(shape, this.#template.rows.length > 0 ? labelsOf(part, labels) : [])
      for await (const chunk of part.spool) {
        signal?.throwIfAborted()
        for (const bytes of encoder.push(chunk)) yield this.#reuse ? bytes : bytes.slice()
      }
      for (const bytes of encoder.end()) yield this.#reuse ? bytes : bytes.slice()
      this.#rows += encoder.records
    }
  }
}

function labelsOf(part: CsvPart, labels: ReadonlyMap<string, string[]>): string[] {
  const found = labels.get(part.row ?? '')
  if (!found) throw new RangeError(`no row header is named ${JSON.stringify(part.row)}`)
  return found
}

function shapeOf({ leaves, fields }: Template): CsvShape {
  const places = new Map(fields.map((name, i) => [name, i]))
  const shown = leaves.filter((leaf) => !leaf.rowHead)
  return {
    fields: fields.length,
    order: shown.map((leaf) => (leaf.name === null ? null : (places.get(leaf.name) ?? null))),
  }
}
