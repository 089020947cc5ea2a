import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../../src/config.ts'
import { type ArtifactStore, DiskStore, SealedStore } from '../../src/storage/index.ts'
import { S3Store } from '../../src/storage/s3/s3-store.ts'
import { CHUNK_BYTES, HEADER_BYTES, RECORD_BYTES, TAG_BYTES } from '../../src/storage/sealed/sealed-format.ts'
import { S3Server } from '../support/s3-server.ts'
import { artifactStoreContract, chunks, codeOf, temporaryFolder, textOf } from './artifact-store.contract.ts'

const CSV = { contentType: 'text/csv; charset=utf-8' }
const SEAL = { sealKey: 'a-seal-key-for-tests', encrypt: true }

async function onDisk() {
  const root = join(await temporaryFolder(), 'files')
  const plain = await DiskStore.open({}, { root })
  return { root, plain, store: new SealedStore(plain, SEAL) }
}

async function onS3() {
  const server = await S3Server.start()
  onTestFinished(() => server.stop())
  const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server
  const plain = new S3Store({}, { endpoint, region, bucket, accessKeyId, secretAccessKey, maxAttempts: 1 })
  onTestFinished(() => plain.close())
  const stored = (key: string) => {
    const object = server.objects.get(key)
    if (!object) throw new Error(`no object ${key}`)
    return object
  }
  return { server, plain, stored, store: new SealedStore(plain, SEAL) }
}

artifactStoreContract('an encrypted disk store', async () => {
  const { root, store } = await onDisk()
  const files = () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
  return {
    store,
    leftovers: async () => {
      const cards = files().filter((name) => name.endsWith('.card'))
      const blobs = cards.map((card) => String(JSON.parse(readFileSync(card, 'utf8')).blob))
      return files().filter(
        (name) => !cards.includes(name) && !blobs.some((blob) => name.endsWith(`/${blob}`)),
      )
    },
  }
})

artifactStoreContract('an encrypted S3 store', async () => {
  const { server, store } = await onS3()
  return { store, leftovers: async () => [...server.uploads.keys()] }
})

async function bytesOf(store: ArtifactStore, key: string, range?: { start: number; end?: number }) {
  const { stream } = await store.open(key, range ? { range } : {})
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}

/** Bytes of which no two chunks are alike. */
const pattern = (size: number) =>
  Buffer.from(Uint32Array.from({ length: Math.ceil(size / 4) }, (_, i) => i * 7).buffer).subarray(0, size)

test('every range of every size is the same part of the file', async () => {
  const { store } = await onDisk()
  const near = fc
    .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -2, max: 2 }))
    .map(([chunk, off]) => Math.max(0, chunk * CHUNK_BYTES + off))
  const at = fc.oneof(near, fc.integer({ min: 0, max: 3 * CHUNK_BYTES }))
  await fc.assert(
    fc.asyncProperty(near, at, at, async (size, one, other) => {
      const file = pattern(size)
      const stored = await store.put('a', chunks(file), CSV)
      expect(stored.size).toBe(size)
      expect((await bytesOf(store, 'a')).equals(file)).toBe(true)
      const [start, end] = [Math.min(one, other), Math.max(one, other)]
      if (start >= size) {
        const refused = store.open('a', { range: { start, end } })
        await expect(refused).rejects.toMatchObject({ code: 'RANGE_NOT_SATISFIABLE', details: { size } })
        return
      }
      expect((await bytesOf(store, 'a', { start, end })).equals(file.subarray(start, end + 1))).toBe(true)
    }),
    { numRuns: 60, seed: 13 },
  )
})

describe('[sealed-files] what is in the store', () => {
  test('[sealed-files] shows nothing of the file, and the same file is never stored as the same bytes', async () => {
    const { store, stored } = await onS3()
    const text = 'a name, a number, a secret\n'.repeat(5_000)
    await store.put('a', chunks(text), CSV)
    const first = stored('a').body
    await store.put('a', chunks(text), CSV)
    for (const body of [first, stored('a').body]) expect(body.includes('secret')).toBe(false)
    expect(first.subarray(HEADER_BYTES).equals(stored('a').body.subarray(HEADER_BYTES))).toBe(false)
    expect(await textOf((await store.open('a')).stream)).toBe(text)
  })

  const record = (body: Buffer, index: number) =>
    body.subarray(HEADER_BYTES + index * RECORD_BYTES, HEADER_BYTES + (index + 1) * RECORD_BYTES)
  const header = (body: Buffer) => body.subarray(0, HEADER_BYTES)
  /** What somebody with access to the store may do to a file of four records, the last of 100 bytes. */
  const ATTACKS: Record<string, (body: Buffer, other: Buffer) => Buffer> = {
    'cut in a record': (body) => body.subarray(0, body.length - 1),
    'cut between records': (body) => body.subarray(0, HEADER_BYTES + 3 * RECORD_BYTES),
    'cut to one record': (body) => body.subarray(0, HEADER_BYTES + RECORD_BYTES),
    'without a record in the middle': (body) =>
      Buffer.concat([header(body), record(body, 0), record(body, 2), record(body, 3)]),
    'with two records swapped': (body) =>
      Buffer.concat([header(body), record(body, 1), record(body, 0), record(body, 2), record(body, 3)]),
    'with a record twice': (body) =>
      Buffer.concat([header(body), record(body, 0), record(body, 0), record(body, 2), record(body, 3)]),
    'with a record of another file': (body, other) =>
      Buffer.concat([header(body), record(body, 0), record(other, 1), record(body, 2), record(body, 3)]),
    'in the place of another file': (_body, other) => other,
    'with a bit flipped': (body) => {
      const changed = Buffer.from(body)
      changed[HEADER_BYTES + RECORD_BYTES + 5] = (changed[HEADER_BYTES + RECORD_BYTES + 5] ?? 0) ^ 1
      return changed
    },
    'with another salt': (body) => {
      const changed = Buffer.from(body)
      changed[HEADER_BYTES - 1] = (changed[HEADER_BYTES - 1] ?? 0) ^ 1
      return changed
    },
    'with bytes added': (body) => Buffer.concat([body, Buffer.alloc(RECORD_BYTES)]),
    'of nothing but a beginning': (body) => header(body),
    'of nothing': () => Buffer.alloc(0),
  }
  const SIZE = 3 * CHUNK_BYTES + 100

  test.each(Object.keys(ATTACKS))('[sealed-files] a stored file %s is refused', async (attack) => {
    const { plain, stored } = await onS3()
    const writer = new SealedStore(plain, SEAL)
    for (const key of ['a', 'b']) await writer.put(key, chunks(pattern(SIZE)), CSV)
    const { body } = stored('a')
    expect(body).toHaveLength(HEADER_BYTES + SIZE + 4 * TAG_BYTES)
    stored('a').body = ATTACKS[attack]?.(body, stored('b').body) ?? body
    // One that knows the file from before, and one that meets it now.
    for (const store of [writer, new SealedStore(plain, SEAL)]) {
      expect(await codeOf(bytesOf(store, 'a'))).toBe('ARTIFACT_DAMAGED')
      const ranged = { start: CHUNK_BYTES, end: CHUNK_BYTES + 10 }
      const read = await bytesOf(store, 'a', ranged).catch(() => undefined)
      // A range of records that nobody touched may still be read: what is read is always right.
      if (read) expect(read.equals(pattern(SIZE).subarray(ranged.start, ranged.end + 1))).toBe(true)
    }
  })

  test('[sealed-files] a file that was cut between records has no range, for who meets it now', async () => {
    const { store, stored } = await onS3()
    await store.put('a', chunks(pattern(SIZE)), CSV)
    stored('a').body = stored('a').body.subarray(0, HEADER_BYTES + 3 * RECORD_BYTES)
    expect(await codeOf(bytesOf(store, 'a', { start: 0, end: 9 }))).toBe('ARTIFACT_DAMAGED')
  })

  test('[sealed-files] another key opens nothing', async () => {
    const { store, plain } = await onDisk()
    await store.put('a', chunks('text'), CSV)
    const other = new SealedStore(plain, { ...SEAL, sealKey: 'another-seal-key' })
    expect(await codeOf(bytesOf(other, 'a'))).toBe('ARTIFACT_DAMAGED')
    expect(await codeOf(bytesOf(other, 'a', { start: 0 }))).toBe('ARTIFACT_DAMAGED')
  })
})

describe('files of both kinds', () => {
  test('what was stored before is read as it is, and what was encrypted also after the switch', async () => {
    const { store, plain } = await onDisk()
    const off = new SealedStore(plain, { ...SEAL, encrypt: false })
    await plain.put('old', chunks('0123456789'), CSV)
    await store.put('new', chunks('0123456789'), CSV)
    await off.put('newest', chunks('0123456789'), CSV)
    for (const key of ['old', 'new', 'newest'])
      for (const reader of [store, off]) {
        expect((await bytesOf(reader, key)).toString()).toBe('0123456789')
        expect((await bytesOf(reader, key, { start: 2, end: 4 })).toString()).toBe('234')
        expect(await reader.stat(key)).toMatchObject({ size: 10, contentType: CSV.contentType })
      }
    expect((await bytesOf(plain, 'newest')).toString()).toBe('0123456789')
    await store.put('old', chunks('encrypted now'), CSV)
    expect((await bytesOf(store, 'old', { start: 0, end: 2 })).toString()).toBe('enc')
  })

  test('only one that is not encrypted has a public address', async () => {
    const server = await S3Server.start()
    onTestFinished(() => server.stop())
    const { endpoint, region, bucket, accessKeyId, secretAccessKey } = server
    const s3 = { endpoint, region, bucket, accessKeyId, secretAccessKey, cdnBaseUrl: 'https://cdn.example' }
    const plain = new S3Store({}, s3)
    onTestFinished(() => plain.close())
    await plain.put('old', chunks('x'), CSV)
    await new SealedStore(plain, SEAL).put('new', chunks('x'), CSV)
    const off = new SealedStore(plain, { ...SEAL, encrypt: false })
    expect([await off.publicUrl('old'), await off.publicUrl('new')]).toEqual([
      'https://cdn.example/old',
      null,
    ])
  })

  test('a range of a file that is replaced meanwhile is of the new one', async () => {
    const { store, plain } = await onDisk()
    await store.put('a', chunks('0123456789'), CSV)
    await bytesOf(store, 'a', { start: 0 })
    await new SealedStore(plain, SEAL).put('a', chunks('abcdefghij'), CSV)
    expect((await bytesOf(store, 'a', { start: 2, end: 4 })).toString()).toBe('cde')
    await new SealedStore(plain, SEAL).put('a', chunks('much longer than before'), CSV)
    expect((await bytesOf(store, 'a', { start: 12, end: 15 })).toString()).toBe('than')
    await new SealedStore(plain, SEAL).put('a', chunks('short'), CSV)
    expect(await codeOf(bytesOf(store, 'a', { start: 12, end: 15 }))).toBe('RANGE_NOT_SATISFIABLE')
  })
})

test('encryption needs a key that is not kept beside the files, and no CDN', () => {
  const on = { WHARF_ENCRYPT_FILES: 'on' }
  expect(() => loadConfig(on)).toThrow('WHARF_SEAL_KEY must be set too')
  const keyed = { ...on, WHARF_SEAL_KEY: 'a-seal-key-for-tests' }
  expect(loadConfig(keyed).WHARF_ENCRYPT_FILES).toBe('on')
  expect(() => loadConfig({ ...keyed, CDN_BASE_URL: 'https://cdn.example' })).toThrow(/^CDN_BASE_URL cannot/)
})
