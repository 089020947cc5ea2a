/** Tried in this order: the one that the first line has most of. */
const DELIMITERS = [',', ';', '\t', '|']
const HEAD_BYTES = 64 * 1024
/** Excel's own first line, which names the delimiter. */
const SEP_LINE = /^\ufeff?("?)sep=([^"\r\n])\1(?:\r\n|\r|\n)/i

export interface CsvHead {
  delimiter: string
  /** Lines before the first one that names columns. */
  skipped: number
  /** All bytes from there. */
  rest: AsyncGenerator<Uint8Array>
}

/** What the first line of a CSV says of the rest. */
export async function headOf(chunks: AsyncIterator<Uint8Array>): Promise<CsvHead> {
  let head = Buffer.alloc(0)
  let ended = false
  while (!ended && head.length < HEAD_BYTES && !head.includes(0x0a)) {
    const { value, done } = await chunks.next()
    if (done) ended = true
    else head = Buffer.concat([head, value])
  }
  const text = head.toString('utf8')
  const named = SEP_LINE.exec(text)
  if (named) head = head.subarray(Buffer.byteLength(named[0]))
  async function* rest() {
    if (head.length > 0) yield head
    while (!ended) {
      const { value, done } = await chunks.next()
      if (done) return
      yield value
    }
  }
  return { delimiter: named?.[2] ?? delimiterOf(text), skipped: named ? 1 : 0, rest: rest() }
}

function delimiterOf(head: string): string {
  const line =
    head
      .replaceAll(/"(?:[^"]|"")*"/g, '')
      .split(/\r\n|\r|\n/)
      .find((text) => text !== '') ?? ''
  const count = (delimiter: string) => line.split(delimiter).length
  return DELIMITERS.reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best))
}
