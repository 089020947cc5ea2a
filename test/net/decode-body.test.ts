import * as zlib from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { ERRORS, isAppError } from '../../src/kernel/index.ts'
import { limitBytes } from '../../src/net/body/body-reader.ts'
import { AddressGuard, HttpClient, LOOPBACK_ONLY, readAll } from '../../src/net/index.ts'
import { startLoopback } from './loopback-server.ts'

const PLAIN = Buffer.from('{"data":["下载中心"]}'.repeat(20_000))
const BOMB_BYTES = 64 * 1024 * 1024

async function get(encoding: string, body: Buffer) {
  const server = await startLoopback((_request, response) =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body),
  )
  const client = new HttpClient({ guard: new AddressGuard(LOOPBACK_ONLY) })
  onTestFinished(() => client.close())
  return client.request({ url: server.origin })
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing was thrown',
    (error: unknown) => (isAppError(error) ? error.code : error),
  )

test.each([
  ['gzip', zlib.gzipSync(PLAIN)],
  ['x-gzip', zlib.gzipSync(PLAIN)],
  ['GZIP', zlib.gzipSync(PLAIN)],
  ['deflate', zlib.deflateSync(PLAIN)],
  ['deflate', zlib.deflateRawSync(PLAIN)],
  ['br', zlib.brotliCompressSync(PLAIN, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', zlib.zstdCompressSync(PLAIN)],
  ['identity', PLAIN],
  ['deflate, gzip', zlib.gzipSync(zlib.deflateSync(PLAIN))],
])('a body sent as %s is read as it was', async (encoding, body) => {
  expect((await readAll((await get(encoding, body)).body, PLAIN.length)).equals(PLAIN)).toBe(true)
})

test('an empty body is empty under every encoding', async () => {
  const server = await startLoopback((_request, response) =>
    response.writeHead(204, { 'content-encoding': 'gzip' }).end(),
  )
  const client = new HttpClient({ guard: new AddressGuard(LOOPBACK_ONLY) })
  onTestFinished(() => client.close())
  expect(await readAll((await client.request({ url: server.origin })).body, 10)).toHaveLength(0)
})

test.each([
  ['gzip', zlib.gzipSync(PLAIN)],
  ['deflate', zlib.deflateSync(PLAIN)],
  ['br', zlib.brotliCompressSync(PLAIN, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', zlib.zstdCompressSync(PLAIN)],
])(
  'a %s body that is cut short or something else is an error, not a shorter body',
  async (encoding, body) => {
    const cut = body.subarray(0, body.length - 20)
    expect(await codeOf(readAll((await get(encoding, cut)).body, PLAIN.length))).toBe('BODY_ENCODING_BROKEN')
    const html = Buffer.from('<html>please log in</html>')
    expect(await codeOf(readAll((await get(encoding, html)).body, 1_000))).toBe('BODY_ENCODING_BROKEN')
  },
)

test.each(['gzip', 'deflate', 'br', 'zstd'])('a %s bomb stops at the limit', async (encoding) => {
  const zeros = Buffer.alloc(BOMB_BYTES)
  const bombs: Record<string, () => Buffer> = {
    gzip: () => zlib.gzipSync(zeros),
    deflate: () => zlib.deflateSync(zeros),
    br: () => zlib.brotliCompressSync(zeros, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
    zstd: () => zlib.zstdCompressSync(zeros),
  }
  const response = await get(encoding, bombs[encoding]?.() ?? zeros)
  let seen = 0
  response.body.on('data', (chunk: Buffer) => {
    seen += chunk.length
  })
  response.body.pause()
  expect(await codeOf(readAll(response.body, 1_000_000))).toBe(ERRORS.BODY_TOO_LARGE_REMOTE.code)
  expect(response.body.destroyed).toBe(true)
  expect(seen).toBeLessThan(BOMB_BYTES / 8)
})

test.each(['compress', 'gzip, gzip, gzip'])('the encoding "%s" is refused for good', async (encoding) => {
  expect(await codeOf(get(encoding, PLAIN))).toBe('BODY_ENCODING_BROKEN')
})

test('exactly the limit is not too much', async () => {
  const body = async function* () {
    yield new Uint8Array(5)
    yield new Uint8Array(5)
  }
  expect(await readAll(body(), 10)).toHaveLength(10)
  expect(await codeOf(readAll(body(), 9))).toBe('BODY_TOO_LARGE_REMOTE')
  const passed: number[] = []
  await codeOf(
    (async () => {
      for await (const chunk of limitBytes(body(), 9)) passed.push(chunk.length)
    })(),
  )
  expect(passed).toEqual([5])
})
