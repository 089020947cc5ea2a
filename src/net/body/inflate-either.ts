import { pipeline, Readable } from 'node:stream'
import * as zlib from 'node:zlib'

/** `deflate` means a zlib stream, but some servers send raw deflate; the first byte tells which. */
export async function* inflateEither(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
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
