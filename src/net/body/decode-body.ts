import { Duplex, pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'
import { AppError, ERRORS } from '../../kernel/index.ts'

/** A chain of several is allowed by HTTP, used by nobody, and a cheap way to burn time here. */
const MOST_ENCODINGS = 2

const decoders = new Map<string, () => Duplex>([
  ['gzip', () => zlib.createGunzip()],
  ['x-gzip', () => zlib.createGunzip()],
  ['deflate', () => Duplex.from(inflateEither)],
  ['br', () => zlib.createBrotliDecompress()],
])
// Node 22.15 and 23.8 brought zstd; older ones simply do not offer it.
if (typeof zlib.createZstdDecompress === 'function') decoders.set('zstd', () => zlib.createZstdDecompress())

export const ACCEPT_ENCODING = ['gzip', 'deflate', 'br', 'zstd']
  .filter((name) => decoders.has(name))
  .join(', ')

/** The body as it was before the other side compressed it. An error on either end destroys the whole chain. */
export function decodeBody(body: Readable, contentEncoding: string | null): Readable {
  const names = (contentEncoding ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity')
  if (names.length === 0) return body
  if (names.length > MOST_ENCODINGS)
    throw unknownEncoding(`${names.length} content encodings on top of each other`)
  const chain = names.reverse().map((name) => {
    const make = decoders.get(name)
    if (!make) throw unknownEncoding(`the content encoding ${name}`)
    return make()
  })
  // The last stream carries the error to the reader; there is nothing more to say about it here.
  return pipeline([body, ...chain], () => undefined) as unknown as Readable
}

function unknownEncoding(what: string): AppError {
  return new AppError(ERRORS.BODY_ENCODING_BROKEN, `the answer uses ${what}, which Wharf does not read`, {
    retryable: false,
  })
}

/** `deflate` means a zlib stream, but some servers send raw deflate; the first byte shows which. */
async function* inflateEither(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const iterator = source[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done) return
  const whole = async function* () {
    yield first.value
    yield* { [Symbol.asyncIterator]: () => iterator }
  }
  const isZlib = ((first.value[0] ?? 0) & 0x0f) === 8
  // Its error reaches the reader, so there is nothing to do when it is over.
  yield* pipeline(
    Readable.from(whole()),
    isZlib ? zlib.createInflate() : zlib.createInflateRaw(),
    () => undefined,
  )
}
