import type { SpoolColumns } from '../../../../src/exports/sources/index.ts'
import { PAGE_MARGIN } from '../../../../src/exports/sources/pages/index.ts'
import { RowTranscoder, SegmentBuffer } from '../../../../src/exports/sources/rows/index.ts'

/** A page as the scanners want it: with the margin behind. */
export function pageBytes(text: string | Buffer): Buffer {
  return Buffer.concat([typeof text === 'string' ? Buffer.from(text) : text, Buffer.alloc(PAGE_MARGIN)])
}

/** Each text is one page of rows; typed records come out. */
export function transcode(fields: string[], ...pages: string[]): string {
  const sink = new SegmentBuffer()
  readPages(new RowTranscoder({ fields }, [sink]), pages, 0)
  return sink.pending().bytes.toString()
}

/** A CSV file, by row header where there are any. */
export function transcodeToCsv({ fields, rowNames, csv }: SpoolColumns, ...pages: string[]): string {
  const { head, leads } = csv!
  const sinks = leads.map(
    (lead, index) => new SegmentBuffer(undefined, { lead, head: index === 0 ? head : '' }),
  )
  const transcoder = new RowTranscoder({ fields, ...(rowNames && { rowNames }), csv: true }, sinks)
  readPages(transcoder, pages, rowNames ? undefined : 0)
  return sinks.map((sink) => sink.pending().bytes.toString()).join('')
}

function readPages(transcoder: RowTranscoder, pages: string[], sink: number | undefined): void {
  for (const page of pages) {
    const bytes = pageBytes(page)
    transcoder.startPage(Number.POSITIVE_INFINITY)
    const end = transcoder.rows(bytes, 0, bytes.length - PAGE_MARGIN, sink)
    if (end !== bytes.length - PAGE_MARGIN)
      throw new Error(`stopped at ${end} of ${bytes.length - PAGE_MARGIN}`)
  }
}
