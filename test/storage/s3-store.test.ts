import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import type { S3Options } from '../../src/storage/s3/index.ts'
import { S3Store } from '../../src/storage/s3/s3-store.ts'
import { encodePath, encodeQuery, signRequest } from '../../src/storage/s3/sign-request.ts'
import { S3Server } from '../support/s3-server.ts'
import { artifactStoreContract, chunks, codeOf, textOf } from './artifact-store.contract.ts'

const CSV = { contentType: 'text/csv' }
const MIB = 1024 * 1024

async function setup(options: Partial<S3Options> = {}) {
  const server = await S3Server.start()
  onTestFinished(() => server.stop())
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server
  const store = new S3Store(
    { clock: { ...systemClock, now: () => Date.now() + 60_000 } },
    { endpoint, region, bucket, accessKeyId, secretAccessKey, partSize: 5 * MIB, maxAttempts: 2, ...options },
  )
  onTestFinished(() => store.close())
  return { server, store }
}

async function* megabytes(count: number, onEach: (produced: number) => void = () => undefined) {
  for (let index = 0; index < count; index++) {
    onEach(index + 1)
    yield Buffer.alloc(MIB, index)
  }
}

artifactStoreContract('the S3 store', async () => {
  const { server, store } = await setup()
  return { store, leftovers: async () => [...server.uploads.keys()] }
})

test('a large artifact goes up in parts, with few of them in memory', async () => {
  const { server, store } = await setup({ partsInFlight: 2 })
  const hash = createHash('sha256')
  for await (const chunk of megabytes(32)) hash.update(chunk)
  let ahead = 0
  const source = megabytes(32, (produced) => {
    ahead = Math.max(ahead, produced * MIB - server.received)
  })
  const stored = await store.put('big', source, { ...CSV, fileName: '大.csv' })
  expect(stored).toMatchObject({ size: 32 * MIB, sha256: hash.digest('hex') })
  expect(server.seen.filter((operation) => operation === 'UploadPart')).toHaveLength(7)
  // Two parts on their way, one being filled, and what the streams between hold.
  expect(ahead).toBeLessThanOrEqual(17 * MIB)
  const body = createHash('sha256')
    .update(server.objects.get('big')?.body ?? '')
    .digest('hex')
  expect(body).toBe(stored.sha256)
  expect(await store.stat('big')).toMatchObject({ size: 32 * MIB, etag: stored.etag, fileName: '大.csv' })
  expect(server.uploads.size).toBe(0)
})

test('an upload in parts that fails or is aborted is taken back', async () => {
  const { server, store } = await setup()
  const broken = async function* () {
    yield* megabytes(12)
    throw new Error('the source broke')
  }
  await expect(store.put('a', broken(), CSV)).rejects.toThrow('the source broke')
  const stop = new AbortController()
  const aborting = megabytes(20, (produced) => {
    if (produced === 14) stop.abort(new Error('cancelled'))
  })
  await expect(store.put('a', aborting, { ...CSV, signal: stop.signal })).rejects.toThrow('cancelled')
  expect(server.seen).toContain('CreateUpload')
  expect(server.objects.size).toBe(0)
  await expect.poll(() => server.uploads.size).toBe(0)
})

test('an error that passes is waited out, for whole objects and for parts', async () => {
  const { server, store } = await setup()
  server.fault = (_operation, nth) => (nth === 1 ? { status: 500, code: 'InternalError' } : undefined)
  await store.put('small', chunks('x'), CSV)
  await store.put('big', megabytes(11), CSV)
  expect(await textOf((await store.open('small')).stream)).toBe('x')
  expect(server.objects.get('big')?.body).toHaveLength(11 * MIB)
})

test('a cut connection is tried again', async () => {
  const { server, store } = await setup()
  server.fault = (_operation, nth) => (nth === 1 ? 'cut' : undefined)
  await store.put('a', chunks('x'), CSV)
  expect(await store.stat('a')).toMatchObject({ size: 1 })
})

test('a part that never gets through fails the put and leaves nothing', async () => {
  const { server, store } = await setup()
  server.fault = (operation) =>
    operation === 'UploadPart' ? { status: 500, code: 'InternalError' } : undefined
  expect(await codeOf(store.put('a', megabytes(11), CSV))).toBe('STORAGE_UNAVAILABLE')
  expect(server.objects.size).toBe(0)
  expect(server.uploads.size).toBe(0)
})

test('an answer that is cut in the middle is not mistaken for its end', async () => {
  const { server, store } = await setup()
  await store.put('a', chunks(Buffer.alloc(3 * MIB)), CSV)
  server.fault = (operation) => (operation === 'GetObject' ? 'cut in the middle' : undefined)
  expect(await codeOf(store.open('a').then(({ stream }) => textOf(stream)))).toBe('STORAGE_UNAVAILABLE')
})

test.each([
  [{ status: 507, code: 'XMinioStorageFull' }, 'STORAGE_FULL'],
  [{ status: 403, code: 'QuotaExceeded' }, 'STORAGE_FULL'],
  [{ status: 403, code: 'AccessDenied' }, 'STORAGE_DENIED'],
  [{ status: 404, code: 'NoSuchBucket' }, 'STORAGE_DENIED'],
  [{ status: 400, code: 'RequestTimeout' }, 'STORAGE_UNAVAILABLE'],
  [{ status: 500, code: 'InternalError' }, 'STORAGE_UNAVAILABLE'],
  ['cut', 'STORAGE_UNAVAILABLE'],
] as const)('%j becomes %s', async (fault, code) => {
  const { server, store } = await setup({ maxAttempts: 1 })
  server.fault = () => fault
  expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe(code)
  expect(await codeOf(store.open('a'))).toBe(code)
})

test('a wrong key or bucket is refused and shows in the health', async () => {
  const stranger = (await setup({ accessKeyId: 'SOMEBODY' })).store
  expect(await codeOf(stranger.put('a', chunks('x'), CSV))).toBe('STORAGE_DENIED')
  expect(await stranger.healthy()).toMatchObject({ ok: false })
  const elsewhere = (await setup({ bucket: 'elsewhere' })).store
  expect(await elsewhere.healthy()).toMatchObject({ ok: false, reason: expect.stringContaining('elsewhere') })
})

test('a store that is down shows in the health', async () => {
  const { server, store } = await setup({ maxAttempts: 1 })
  await server.stop()
  expect(await store.healthy()).toMatchObject({ ok: false, reason: expect.stringContaining('ECONNREFUSED') })
  expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe('STORAGE_UNAVAILABLE')
})

test('a store that never answers does not keep anyone waiting forever', async () => {
  const { server, store } = await setup({ maxAttempts: 1, idleTimeoutMs: 30 })
  server.fault = () => 'silence'
  expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe('STORAGE_UNAVAILABLE')
  expect(await codeOf(store.stat('a'))).toBe('STORAGE_UNAVAILABLE')
})

test('a store that hangs is noticed long before a slow reader would be cut off', async () => {
  const { server, store } = await setup({ maxAttempts: 1, answerTimeoutMs: 30 })
  server.fault = () => 'silence'
  expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe('STORAGE_UNAVAILABLE')
})

test('an abort does not wait for a store that is silent', async () => {
  const { server, store } = await setup()
  const stop = new AbortController()
  server.fault = () => {
    stop.abort(new Error('cancelled'))
    return 'silence'
  }
  await expect(store.put('a', chunks('x'), { ...CSV, signal: stop.signal })).rejects.toThrow('cancelled')
})

test('a listing goes on over its pages', async () => {
  const { server, store } = await setup()
  server.pageSize = 2
  for (let index = 0; index < 5; index++) await store.put(`k/${index}`, chunks('x'), CSV)
  const keys: string[] = []
  for await (const { key } of store.list('k/')) keys.push(key)
  expect(keys).toEqual(['k/0', 'k/1', 'k/2', 'k/3', 'k/4'])
})

test("an object that an older version stored through Amazon's SDK is read, looked up, listed and removed", async () => {
  const { server, store } = await setup()
  const body = Buffer.from('0123456789')
  const modifiedAt = new Date('2026-10-01T00:00:00Z')
  const name = '季度 "报表".csv'
  const facts = { body, contentType: 'text/csv', disposition: 'attachment; filename="_.csv"', modifiedAt }
  const older = {
    // In one piece, without a name, and as newer versions of the SDK store it: with a checksum.
    'exports/1/whole': {
      ...{ ...facts, etag: '"781e5e245d69b566979b86e28d23f2c7"', metadata: {} },
      headers: {
        'x-amz-checksum-crc32': 'ptgUGQ==',
        'x-amz-checksum-type': 'FULL_OBJECT',
        'x-amz-server-side-encryption': 'AES256',
        'x-amz-version-id': 'null',
      },
    },
    // In parts.
    'exports/1/parts': {
      ...{ ...facts, etag: '"d41d8cd98f00b204e9800998ecf8427e-3"' },
      metadata: { 'file-name': encodeURIComponent(name) },
      headers: { 'x-amz-checksum-type': 'COMPOSITE', 'x-amz-mp-parts-count': '3', 'accept-ranges': 'bytes' },
    },
  }
  for (const [key, object] of Object.entries(older)) server.objects.set(key, object)
  for (const [key, { etag, metadata }] of Object.entries(older)) {
    const fileName = 'file-name' in metadata ? name : null
    const stat = { size: 10, etag, fileName, contentType: 'text/csv', modifiedAt: modifiedAt.getTime() }
    expect(await store.stat(key)).toEqual(stat)
    const whole = await store.open(key)
    expect([await textOf(whole.stream), whole.size, whole.etag]).toEqual(['0123456789', 10, etag])
    const part = await store.open(key, { range: { start: 3, end: 5 } })
    expect([await textOf(part.stream), part.size, part.range]).toEqual(['345', 10, { start: 3, end: 5 }])
  }
  const listed: Record<string, string> = {}
  for await (const { key, etag } of store.list('exports/1/')) listed[key] = etag
  expect(listed).toEqual({
    'exports/1/whole': older['exports/1/whole'].etag,
    'exports/1/parts': older['exports/1/parts'].etag,
  })
  for (const key of Object.keys(older)) await store.delete(key)
  expect(server.objects.size).toBe(0)
})

test('uploads that a crash left unfinished are swept once they are old enough', async () => {
  const { server, store } = await setup()
  const { promise: stuck, resolve: unstick } = Promise.withResolvers<void>()
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const source = async function* () {
    yield* megabytes(11)
    begin()
    await stuck
  }
  const putting = codeOf(store.put('a', source(), CSV))
  await begun
  await expect.poll(() => server.uploads.size).toBe(1)
  expect(await store.sweepStale(120_000)).toBe(0)
  expect(await store.sweepStale(30_000)).toBe(1)
  expect(server.uploads.size).toBe(0)
  unstick()
  expect(await putting).toBe('STORAGE_UNAVAILABLE')
})

test('the public address is that of the CDN', async () => {
  expect(await (await setup()).store.publicUrl('a')).toBeNull()
  const { store } = await setup({ cdnBaseUrl: 'https://cdn.example/files/' })
  expect(await store.publicUrl('a b/中?.csv')).toBe('https://cdn.example/files/a%20b/%E4%B8%AD%3F.csv')
})

test('browsers that come through the CDN are told the file name', async () => {
  const { server, store } = await setup()
  await store.put('a', chunks('x'), { ...CSV, fileName: '报表 "1".csv' })
  expect(server.objects.get('a')?.disposition).toBe(
    `attachment; filename="__ _1_.csv"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8%20%221%22.csv`,
  )
})

test('requests are signed as the examples of Amazon are', () => {
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    region: 'us-east-1',
  }
  const host = 'examplebucket.s3.amazonaws.com'
  const put = { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' }
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  const examples = [
    [
      'GET',
      'test.txt',
      {},
      { range: 'bytes=0-9' },
      '',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT',
      'test$file.text',
      {},
      put,
      'Welcome to Amazon S3.',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET',
      '',
      { lifecycle: '' },
      {},
      '',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'GET',
      '',
      { prefix: 'J', 'max-keys': '2' },
      {},
      '',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ] as const
  for (const [method, key, query, headers, body, signature] of examples) {
    const request = {
      method,
      path: `/${encodePath(key)}`,
      query: encodeQuery(query),
      headers: { ...headers, host },
      body,
    }
    const { authorization } = signRequest(request, credentials, new Date('2013-05-24T00:00:00Z'))
    expect(authorization).toContain(`Signature=${signature}`)
  }
})

test('keys, prefixes and names with odd characters are signed as the store reads them', async () => {
  const { server, store } = await setup()
  const keys = ["a b+c~(d)'e!*.csv", '中/文 😀?&=#%25.xlsx', 'k=v&x=<y>"z;@$,']
  for (const key of keys) await store.put(key, chunks(key), { ...CSV, fileName: key.replaceAll('/', '-') })
  server.pageSize = 1
  const found: string[] = []
  for await (const { key } of store.list('')) found.push(key)
  expect(found.sort()).toEqual([...keys].sort())
  for (const key of keys) {
    expect(await store.stat(key)).toMatchObject({ fileName: key.replaceAll('/', '-') })
    expect(await textOf((await store.open(key, { range: { start: 1 } })).stream)).toBe(
      Buffer.from(key).subarray(1).toString(),
    )
    await store.delete(key)
  }
  expect(server.objects.size).toBe(0)
})

test('a wrong secret is refused; a store whose clock is hours ahead is followed', async () => {
  const { store } = await setup({ secretAccessKey: 'not-it' })
  expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe('STORAGE_DENIED')
  const ahead = await setup()
  ahead.server.clockAheadMs = 3 * 3_600_000
  await ahead.store.put('a', chunks('x'), CSV)
  await ahead.store.put('b', chunks('x'), CSV)
  expect(ahead.server.seen).toEqual(['PutObject', 'PutObject', 'PutObject'])
})

test('an upload that the store fails to complete with status 200 is no success', async () => {
  const { server, store } = await setup({ maxAttempts: 1 })
  server.fault = (operation) =>
    operation === 'CompleteUpload' ? { status: 200, code: 'InternalError' } : undefined
  expect(await codeOf(store.put('a', megabytes(11), CSV))).toBe('STORAGE_UNAVAILABLE')
  expect(server.uploads.size).toBe(0)
})

test('a proxy that answers every request in place of the store is not believed', async () => {
  const proxy = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<h1>Please sign in</h1>'),
  )
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void proxy.close())
  const { port } = proxy.address() as AddressInfo
  const { store } = await setup({ endpoint: `http://127.0.0.1:${port}` })
  expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe('STORAGE_UNAVAILABLE')
  expect(await codeOf(store.put('a', megabytes(11), CSV))).toBe('STORAGE_UNAVAILABLE')
  expect(await codeOf(store.open('a'))).toBe('STORAGE_UNAVAILABLE')
  expect(await codeOf(store.stat('a'))).toBe('STORAGE_UNAVAILABLE')
})
