import { RowTranscoder } from '../../../src/exports/source/row-transcoder.ts'
import { SegmentBuffer } from '../../../src/exports/source/segment-buffer.ts'

/** A page as the scanners want it: with a zero byte behind. */
export function pageBytes(text: string | Buffer): Buffer {
  return Buffer.concat([typeof text === 'string' ? Buffer.from(text) : text, Buffer.of(0)])
}

/** Each text is one page of rows. */
export function transcode(fields: string[], ...pages: string[]): string {
  const sink = new SegmentBuffer()
  const transcoder = new RowTranscoder({ fields }, [sink])
  for (const page of pages) {
    const bytes = pageBytes(page)
    transcoder.startPage(Number.POSITIVE_INFINITY)
    const end = transcoder.rows(bytes, 0, bytes.length - 1, 0)
    if (end !== bytes.length - 1) throw new Error(`stopped at ${end} of ${bytes.length - 1}`)
  }
  return sink.pending().bytes.toString()
}
