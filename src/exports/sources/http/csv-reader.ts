import { Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { AppError, counted, ERRORS } from '../../../kernel/index.ts'
import { type Warning, warn } from '../../warnings/index.ts'
import type { CsvHead } from './csv-head.ts'

const MAX_RECORD = 4 * 1024 * 1024
/** Bytes of the longest line end. */
const LINE_END = 2

export interface CsvOptions {
  /** The answer says where it ends. */
  bounded: boolean
  /** What a line lacks is null, in place of an error. */
  fills: boolean
}

interface CsvRecord {
  fields: string[]
  /** Where it begins. */
  line: number
}

/** Records of a CSV, each with as many fields as the first one. An empty line is one only where there is a single column. */
export class CsvReader {
  readonly #options: CsvOptions
  readonly #source: Readable
  readonly #records: AsyncIterator<CsvRecord>
  readonly #close: () => void
  /** Fields of the first record. */
  #width = 0
  /** The parser is ahead of the reader by what waits between them: what it has parsed. */
  #parsed: { line: number; bytes: number }
  #last: CsvRecord | undefined
  /** The last byte ends a line. */
  #ended = true
  readonly #short = { lines: 0, first: 0 }

  constructor({ delimiter, skipped, rest }: CsvHead, options: CsvOptions) {
    this.#options = options
    this.#parsed = { line: skipped, bytes: 0 }
    const parser = parse({
      bom: true,
      delimiter,
      relax_column_count: true,
      max_record_size: MAX_RECORD,
      // The types say that it gives texts; the reader below gets what it gives.
      on_record: (fields: string[], { lines, bytes }) =>
        this.#record(fields, lines + skipped, bytes) as unknown as string[] | null,
    })
    this.#source = Readable.from(this.#watched(rest), { objectMode: false })
    this.#source.on('error', (error) => parser.destroy(error)).pipe(parser)
    this.#records = parser[Symbol.asyncIterator]() as AsyncIterator<CsvRecord>
    this.#close = () => parser.destroy()
  }

  async next(): Promise<CsvRecord | undefined> {
    const found = await this.#next()
    if (found) this.#last = found
    else this.#checkEnd()
    if (found && found.fields.length !== this.#width) this.#checkWidth(found)
    return found
  }

  /** Of all that was read. */
  warnings(): Warning[] {
    const { lines, first } = this.#short
    const warnings = []
    if (lines > 0) warnings.push(warn('CSV_LINES_FILLED', { count: lines, line: first }))
    if (this.#last && !this.#ended && !this.#options.bounded)
      warnings.push(warn('CSV_MAY_BE_CUT', { line: this.#last.line }))
    return warnings
  }

  close(): void {
    this.#source.destroy()
    this.#close()
  }

  #record(fields: string[], line: number, bytes: number): CsvRecord | null {
    const { line: before, bytes: from } = this.#parsed
    this.#parsed = { line, bytes }
    const isBlank = fields.length === 1 && fields[0] === '' && bytes - from <= LINE_END
    if (isBlank && this.#width !== 1) return null
    this.#width ||= fields.length
    return { fields, line: before + 1 }
  }

  async *#watched(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      const last = chunk.at(-1)
      this.#ended = last === 0x0a || last === 0x0d
      yield chunk
    }
  }

  async #next(): Promise<CsvRecord | undefined> {
    try {
      const { value, done } = await this.#records.next()
      return done ? undefined : value
    } catch (error) {
      throw error instanceof CsvError ? this.#fault(error) : error
    }
  }

  #checkWidth({ fields: { length }, line }: CsvRecord): void {
    const has = `line ${line} has ${counted(length, 'field')}, the first line has ${this.#width}`
    if (length > this.#width) throw csvFault(`${has}; put a value that holds the delimiter into quotes`, line)
    if (!this.#options.fills)
      throw csvFault(`${has}; short_lines: "fill" reads what is missing as null`, line)
    if (this.#short.lines++ === 0) this.#short.first = line
  }

  /** A short line without an end is no line of a file whose lines may be short: it is a file that is cut. */
  #checkEnd(): void {
    if (this.#ended || !this.#last || this.#last.fields.length >= this.#width) return
    const { fields, line } = this.#last
    const has = `line ${line} has ${counted(fields.length, 'field')}, the first line has ${this.#width}`
    throw csvFault(`${has}, and it has no line end: the file is cut`, line)
  }

  /** The parser knows where it stopped, which may be far after the quote that was never closed. */
  #fault(error: CsvError): AppError {
    const line = this.#parsed.line + 1
    const { column = 0, lines = 0 } = error as { column?: number; lines?: number }
    return csvFault(`line ${line}, field ${Number(column) + 1}: ${faultOf(error.code, lines)}`, line)
  }
}

const TWICE = 'a quote within a value is written twice (""), and the value in quotes'

function faultOf(code: string, line: number): string {
  switch (code) {
    case 'CSV_QUOTE_NOT_CLOSED':
      return `the quote that opens here is never closed; ${TWICE}`
    case 'INVALID_OPENING_QUOTE':
      return `a quote comes after other characters; ${TWICE}`
    case 'CSV_INVALID_CLOSING_QUOTE':
      return `the quote that opens here is closed in line ${line}, and more characters follow; ${TWICE}`
    case 'CSV_MAX_RECORD_SIZE':
      return `the row is longer than ${MAX_RECORD} bytes; is a quote not closed? ${TWICE}`
    default:
      return code
  }
}

export function csvFault(message: string, line?: number): AppError {
  return new AppError(ERRORS.SOURCE_SHAPE, `the CSV cannot be read: ${message}`, {
    retryable: false,
    details: line === undefined ? {} : { line },
  })
}
