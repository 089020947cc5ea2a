import type { Masking } from '../../sheet/index.ts'
import type { Print } from '../duplicates/page-prints.ts'
import { PrintLog } from '../duplicates/print-log.ts'
import { type ExpectedPage, type PageBody, PageReader, pageError } from '../pages/index.ts'
import { type CsvRecords, type RecordCounts, RowKey, RowTranscoder, SegmentBuffer } from '../rows/index.ts'
import { type RangeMeta, type SpoolFile, SpoolFolder } from '../spool/index.ts'

/** Plain data: it travels to other threads. */
export interface RangeSpoolerOptions {
  directory: string
  fields: readonly (string | null)[]
  rowNames: readonly string[] | null
  /** Every key that turns up is a field, but these. Null: the fields are all there is. */
  growExcept: readonly string[] | null
  csv: CsvRecords | null
  masks: Masking | null
  marked?: boolean
  /** Columns that identify a row; null: rows are not compared. */
  key: readonly string[] | null
  wrapped: boolean
  range: number
  /** Number of the range's first segment. */
  firstSegment: number
  sliceBytes: number
}

/** How much the range has, after a page. */
export interface Taken {
  rows: number
  bytes: number
  /** Of these, not yet in the files. */
  waiting: number
  /** What the page itself stated. */
  total: number | undefined
  /** Of the page's rows. */
  print: Print
}

/** How far a range has come, without its pages. */
export type RangeState = Pick<
  RangeMeta,
  'segments' | 'widths' | 'digits' | keyof RecordCounts | 'added' | 'unwanted' | 'pages' | 'keys'
>

/** What the files hold, after a flush. */
export interface Flushed extends RangeState {
  /** Files that were written to. */
  written: SpoolFile[]
}

/** Where a range's pages go, in their order: a `RangeSpooler`, here or in another thread. */
export interface PageSink {
  /** Takes a page as a whole or, when it is not what was expected, not at all. The body's bytes are free afterwards. */
  take(body: PageBody, expected: ExpectedPage): Promise<Taken>
  /** Writes what is in memory. */
  flush(): Promise<Flushed>
  close(): void
}

/** Turns the pages of one range into spool records, and these into segments. */
export class RangeSpooler implements PageSink {
  readonly #folder: SpoolFolder
  readonly #firstSegment: number
  readonly #fields: number
  readonly #sinks: SegmentBuffer[]
  readonly #transcoder: RowTranscoder
  readonly #reader: PageReader
  readonly #range: number
  readonly #pages: PrintLog
  readonly #keys: PrintLog

  constructor(options: RangeSpoolerOptions, start: RangeState) {
    this.#folder = new SpoolFolder(options.directory)
    this.#firstSegment = options.firstSegment
    const { fields, sliceBytes, csv, growExcept } = options
    this.#fields = fields.length
    this.#range = options.range
    this.#pages = new PrintLog(start.pages)
    this.#keys = new PrintLog(start.keys)
    this.#sinks = start.segments.map(
      (state, place) =>
        new SegmentBuffer(state, {
          sliceBytes,
          lead: csv?.leads[place] ?? '',
          head: options.firstSegment + place === 0 ? (csv?.head ?? '') : '',
        }),
    )
    const rowNames = options.rowNames ? { rowNames: options.rowNames } : {}
    this.#transcoder = new RowTranscoder(
      {
        fields: [...fields, ...start.added],
        ...rowNames,
        ...(growExcept && { growExcept }),
        ...(options.key && { key: new RowKey(options.key, this.#keys) }),
        ...(options.masks && { masks: options.masks }),
        csv: csv !== null,
        keepFormulas: csv?.formulas === 'keep',
        ...(csv?.types && { types: csv.types }),
        marked: options.marked ?? false,
      },
      this.#sinks,
      start,
    )
    this.#transcoder.leaveOut(start.unwanted)
    this.#reader = new PageReader(this.#transcoder, { wrapped: options.wrapped, ...rowNames })
  }

  async take({ bytes, length }: Pick<PageBody, 'bytes' | 'length'>, expected: ExpectedPage): Promise<Taken> {
    const marks = this.#sinks.map((sink) => sink.mark())
    const seen = this.#transcoder.mark()
    const keys = this.#keys.mark()
    try {
      const total = this.#reader.read(bytes, length, expected)
      const { print } = this.#reader
      this.#pages.push(...print)
      return {
        rows: this.#sum((sink) => sink.rows),
        bytes: this.#sum((sink) => sink.size),
        waiting: this.#sum((sink) => sink.length),
        total,
        print,
      }
    } catch (error) {
      for (const [index, mark] of marks.entries()) this.#sinks[index]!.rollback(mark)
      this.#transcoder.rollback(seen)
      this.#keys.rollback(keys)
      throw pageError(error, expected.page)
    }
  }

  async flush(): Promise<Flushed> {
    const written: SpoolFile[] = []
    for (const [group, sink] of this.#sinks.entries()) {
      if (sink.length === 0) continue
      const segment = this.#firstSegment + group
      const { bytes, offset } = sink.pending()
      await this.#folder.write(segment, bytes, offset)
      sink.written()
      written.push(segment)
    }
    for (const [name, log] of [
      [`pages-${this.#range}`, this.#pages],
      [`keys-${this.#range}`, this.#keys],
    ] as const) {
      const { bytes, offset } = log.pending()
      if (bytes.length === 0) continue
      await this.#folder.write(name, bytes, offset)
      log.written()
      written.push(name)
    }
    return {
      written,
      segments: this.#sinks.map((sink) => sink.state()),
      widths: this.#transcoder.widths,
      digits: this.#transcoder.digits,
      added: this.#transcoder.fields.slice(this.#fields) as string[],
      unwanted: [...this.#transcoder.unwanted],
      pages: this.#pages.state(),
      keys: this.#keys.state(),
      ...this.#transcoder.counts,
    }
  }

  close(): void {
    // Nothing is held open.
  }

  #sum(of: (sink: SegmentBuffer) => number): number {
    return this.#sinks.reduce((sum, sink) => sum + of(sink), 0)
  }
}
