import { isUtf8 } from 'node:buffer'
import { AppError, ERRORS, excerpt } from '../../../kernel/index.ts'
import type { PageAnswer } from '../pages/index.ts'

/**
 * Labels of UTF-8, and of ASCII, which is a part of it. A TextDecoder takes ASCII for windows-1252, in which any byte is some
 * character: UTF-8 under such a label, the default of some servers, would be garbled without an error.
 */
const UTF_8 = new Set(['utf-8', 'utf8', 'unicode-1-1-utf-8', 'ascii', 'us-ascii', 'ansi_x3.4-1968'])
/** Gives each byte beyond ASCII a character for private use, which means nothing to a reader. */
const NO_TEXT = 'x-user-defined'
/** By the bytes of the mark. */
const UTF_16 = new Map([
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
])
const NEWLINE = 0x0a

/** Makes the error of a body that cannot be decoded. */
type Undecodable = (reason: string, retryable: boolean) => AppError

/** The body in UTF-8, decoded from the charset in its `Content-Type`. Without a charset it is taken as UTF-8. */
export function inUtf8({ headers, body }: PageAnswer, failure: Undecodable): PageAnswer['body'] {
  const charset = charsetOf(headers['content-type'])
  if (charset === undefined || UTF_8.has(charset.toLowerCase())) return body
  return decoded(body, decoderFor(charset, failure), failure)
}

/** The same of one answer that has all rows: without a charset, the mark that UTF-16 begins with says it too. */
export function streamInUtf8(answer: PageAnswer): AsyncIterable<Uint8Array> {
  const isNamed = charsetOf(answer.headers['content-type']) !== undefined
  return isNamed ? inUtf8(answer, streamNotText) : byMark(answer.body)
}

async function* byMark(body: PageAnswer['body']): AsyncGenerator<Uint8Array> {
  let start: Buffer = Buffer.alloc(0)
  let decoder: InstanceType<typeof TextDecoder> | null | undefined
  const text = (chunk: Uint8Array) => (decoder ? decodeChunk(decoder, streamNotText, chunk) : chunk)
  for await (const chunk of body) {
    if (decoder !== undefined) {
      yield text(chunk)
      continue
    }
    start = Buffer.concat([start, chunk])
    if (start.length < 2) continue
    const charset = UTF_16.get(start.toString('hex', 0, 2))
    decoder = charset === undefined ? null : decoderFor(charset, streamNotText)
    yield text(start)
  }
  if (decoder === undefined && start.length > 0) yield start
  if (decoder) yield decodeChunk(decoder, streamNotText)
}

/** Of one page. */
export function pageNotJson(page: number): Undecodable {
  return (reason, retryable) =>
    new AppError(ERRORS.SOURCE_NOT_JSON, `page ${page} is not JSON: ${reason}`, { retryable })
}

/** Of one answer that has all rows. */
function streamNotText(reason: string): AppError {
  return new AppError(ERRORS.SOURCE_CHARSET, `the answer is not readable as text: ${reason}`, {
    retryable: false,
  })
}

export function lineNotUtf8(line: number): AppError {
  return new AppError(
    ERRORS.SOURCE_CHARSET,
    `line ${line} is not valid UTF-8; answer in UTF-8, or name the charset in the Content-Type (charset=gbk)`,
    { retryable: false, details: { line } },
  )
}

/** The same bytes, which end with an error at the first line that is not UTF-8. */
export async function* onlyUtf8(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Buffer = Buffer.alloc(0)
  let line = 1
  for await (const chunk of body) {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : asBuffer(chunk)
    const whole = bytes.subarray(0, bytes.length - unfinished(bytes))
    if (!isUtf8(whole)) throw lineNotUtf8(line + linesBeforeFault(whole))
    rest = bytes.subarray(whole.length)
    line += newlines(whole)
    if (whole.length > 0) yield whole
  }
  if (rest.length > 0) throw lineNotUtf8(line)
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** Bytes at the end that begin a character which the next chunk may end. */
function unfinished(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}

function linesBeforeFault(bytes: Buffer): number {
  for (let lines = 0, at = 0; ; lines++) {
    const newline = bytes.indexOf(NEWLINE, at)
    const end = newline < 0 ? bytes.length : newline
    if (newline < 0 || !isUtf8(bytes.subarray(at, end))) return lines
    at = end + 1
  }
}

export function newlines(bytes: Uint8Array): number {
  let lines = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++
  return lines
}

/** Without the quotes that some put around it. */
function charsetOf(contentType = ''): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1]
}

function decoderFor(charset: string, failure: Undecodable): InstanceType<typeof TextDecoder> {
  try {
    const decoder = new TextDecoder(charset, { fatal: true })
    if (decoder.encoding !== NO_TEXT) return decoder
    throw new RangeError(`${NO_TEXT} is no charset of texts`)
  } catch {
    const shown = excerpt(charset, 40)
    throw failure(`its charset is "${shown}", which Wharf does not know; answer in UTF-8`, false)
  }
}

async function* decoded(
  body: PageAnswer['body'],
  decoder: InstanceType<typeof TextDecoder>,
  failure: Undecodable,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) yield decodeChunk(decoder, failure, chunk)
  yield decodeChunk(decoder, failure)
}

/** Without a chunk: what is left at the end. */
function decodeChunk(
  decoder: InstanceType<typeof TextDecoder>,
  failure: Undecodable,
  chunk?: Uint8Array,
): Uint8Array {
  try {
    return Buffer.from(chunk ? decoder.decode(chunk, { stream: true }) : decoder.decode())
  } catch {
    throw failure(`it is not valid ${decoder.encoding}, as its Content-Type or byte order mark says`, true)
  }
}
