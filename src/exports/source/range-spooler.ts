import type { CsvRecords } from './csv-records.ts'
import type { PageBody } from './page-body.ts'
import { pageError } from './page-error.ts'
import { type ExpectedPage, PageReader } from './page-reader.ts'
import { RowTranscoder } from './row-transcoder.ts'
import { SegmentBuffer } from './segment-buffer.ts'
import { SpoolFolder } from './spool-folder.ts'
import type { RangeMeta } from './spool-meta.ts'

/** Plain data: it travels to other threads. */
export interface RangeSpoolerOptions {
  directory: string
  fields: readonly (string | null)[]
  rowNames: readonly string[] | null
  csv: CsvRecords | null
  wrapped: boolean
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
}

/** What the files hold, after a flush. */
export interface Flushed extends Pick<RangeMeta, 'segments' | 'widths'> {
  /** Numbers of the segments that were written to. */
  written: number[]
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
  readonly #sinks: SegmentBuffer[]
  readonly #transcoder: RowTranscoder
  readonly #reader: PageReader

  constructor(options: RangeSpoolerOptions, start: Pick<RangeMeta, 'segments' | 'widths'>) {
    this.#folder = new SpoolFolder(options.directory)
    this.#firstSegment = options.firstSegment
    const { fields, sliceBytes, csv } = options
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
      { fields, ...rowNames, csv: csv !== null, keepFormulas: csv?.formulas === 'keep' },
      this.#sinks,
      start.widths,
    )
    this.#reader = new PageReader(this.#transcoder, { wrapped: options.wrapped, ...rowNames })
  }

  async take({ bytes, length }: Pick<PageBody, 'bytes' | 'length'>, expected: ExpectedPage): Promise<Taken> {
    const marks = this.#sinks.map((sink) => sink.mark())
    try {
      const total = this.#reader.read(bytes, length, expected)
      return {
        rows: this.#sum((sink) => sink.rows),
        bytes: this.#sum((sink) => sink.size),
        waiting: this.#sum((sink) => sink.length),
        total,
      }
    } catch (error) {
      for (const [index, mark] of marks.entries()) this.#sinks[index]!.rollback(mark)
      throw pageError(error, expected.page)
    }
  }

  async flush(): Promise<Flushed> {
    const written: number[] = []
    for (const [group, sink] of this.#sinks.entries()) {
      if (sink.length === 0) continue
      const segment = this.#firstSegment + group
      const { bytes, offset } = sink.pending()
      await this.#folder.write(segment, bytes, offset)
      sink.written()
      written.push(segment)
    }
    return {
      written,
      segments: this.#sinks.map((sink) => sink.state()),
      widths: [...this.#transcoder.widths],
    }
  }

  close(): void {
    // Nothing is held open.
  }

  #sum(of: (sink: SegmentBuffer) => number): number {
    return this.#sinks.reduce((sum, sink) => sum + of(sink), 0)
  }
}
