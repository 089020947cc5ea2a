import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { access, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isAppError } from '../../src/kernel/index.ts'
import type { ArtifactStore } from '../../src/storage/index.ts'

export interface OpenedStore {
  store: ArtifactStore
  /** Everything that the store keeps and that no artifact accounts for: unfinished files or uploads. */
  leftovers(): Promise<string[]>
}

const CSV = { contentType: 'text/csv; charset=utf-8' }

export async function* chunks(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part
}

export async function textOf(stream: Readable): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts).toString()
}

export const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'nothing was thrown',
    (error: unknown) => (isAppError(error) ? error.code : error),
  )

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

async function keysOf(store: ArtifactStore, prefix: string): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix)) keys.push(key)
  return keys.sort()
}

async function readText(store: ArtifactStore, key: string): Promise<string> {
  return textOf((await store.open(key)).stream)
}

/** What every artifact store promises. `open` gives an empty one that is gone when the test is over. */
export function artifactStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(`${name} keeps what every artifact store promises`, () => {
    test('what was put can be opened, with all that was said about it', async () => {
      const { store } = await open()
      const options = { ...CSV, fileName: '订单 "2030" – 50%.csv' }
      const stored = await store.put('exports/42/orders.csv', chunks('a,b\n', '1,2\n'), options)
      expect(stored).toMatchObject({ size: 8, sha256: sha256('a,b\n1,2\n') })
      expect(stored.etag).toMatch(/^"[^"]+"$/)
      const { stream, ...opened } = await store.open('exports/42/orders.csv')
      expect(await textOf(stream)).toBe('a,b\n1,2\n')
      const stat = { size: 8, etag: stored.etag, contentType: CSV.contentType, fileName: options.fileName }
      expect(opened).toMatchObject({ ...stat, range: null })
      expect(await store.stat('exports/42/orders.csv')).toMatchObject(stat)
    })

    test('a file can be put by its path, and stays where it is', async () => {
      const { store } = await open()
      const path = await temporaryFile('from a file')
      expect(await store.put('a', { path }, CSV)).toMatchObject({ size: 11, sha256: sha256('from a file') })
      expect(await readText(store, 'a')).toBe('from a file')
      await access(path)
    })

    test('a file that may be moved is gone afterwards', async () => {
      const { store } = await open()
      const path = await temporaryFile('moved')
      expect(await store.put('a', { path }, { ...CSV, move: true })).toMatchObject({
        sha256: sha256('moved'),
      })
      expect(await readText(store, 'a')).toBe('moved')
      await expect(access(path)).rejects.toMatchObject({ code: 'ENOENT' })
    })

    test('a path that leads nowhere is an error and stores nothing', async () => {
      const { store, leftovers } = await open()
      for (const move of [false, true]) {
        const put = store.put('a', { path: join(tmpdir(), 'wharf-no-such-file') }, { ...CSV, move })
        await expect(put).rejects.toThrow(/no such file/)
      }
      expect(await store.stat('a')).toBeNull()
      expect(await leftovers()).toEqual([])
    })

    test('an empty artifact is an artifact', async () => {
      const { store } = await open()
      expect(await store.put('empty', chunks(), CSV)).toMatchObject({ size: 0, sha256: sha256('') })
      expect(await store.stat('empty')).toMatchObject({ size: 0, fileName: null })
      expect(await readText(store, 'empty')).toBe('')
    })

    test('what is not there is told apart from what cannot be read', async () => {
      const { store } = await open()
      expect(await store.stat('a/b')).toBeNull()
      expect(await codeOf(store.open('a/b'))).toBe('ARTIFACT_NOT_FOUND')
      expect(await keysOf(store, '')).toEqual([])
    })

    test.each([
      [{ start: 0, end: 0 }, '0', { start: 0, end: 0 }],
      [{ start: 3, end: 5 }, '345', { start: 3, end: 5 }],
      [{ start: 7 }, '789', { start: 7, end: 9 }],
      [{ start: 8, end: 1_000 }, '89', { start: 8, end: 9 }],
      [{ start: 0 }, '0123456789', { start: 0, end: 9 }],
    ])('the range %j holds "%s"', async (range, text, sent) => {
      const { store } = await open()
      await store.put('digits', chunks('01234', '56789'), CSV)
      const opened = await store.open('digits', { range })
      expect(await textOf(opened.stream)).toBe(text)
      expect(opened).toMatchObject({ size: 10, range: sent })
    })

    test.each([
      { start: 10 },
      { start: 99, end: 100 },
      { start: 5, end: 4 },
      { start: -1 },
      { start: Number.NaN },
    ])('the range %j does not exist', async (range) => {
      const { store } = await open()
      await store.put('digits', chunks('0123456789'), CSV)
      expect(await codeOf(store.open('digits', { range }))).toBe('RANGE_NOT_SATISFIABLE')
    })

    test('a reader never sees half an artifact', async () => {
      const { store } = await open()
      const { promise: gate, resolve: goOn } = Promise.withResolvers<void>()
      const { promise: halfway, resolve: reached } = Promise.withResolvers<void>()
      const source = async function* () {
        yield Buffer.from('half')
        reached()
        await gate
        yield Buffer.from(' and half')
      }
      const putting = store.put('a/b', source(), CSV)
      await halfway
      expect(await store.stat('a/b')).toBeNull()
      expect(await keysOf(store, '')).toEqual([])
      goOn()
      await putting
      expect(await readText(store, 'a/b')).toBe('half and half')
    })

    test('a second put replaces the first at once, and whoever reads the first reads it to its end', async () => {
      const { store, leftovers } = await open()
      const before = await store.put('a', chunks('x'.repeat(1_000_000)), CSV)
      const reader = await store.open('a')
      const after = await store.put('a', chunks('new'), { contentType: 'text/plain' })
      expect(after.etag).not.toBe(before.etag)
      expect(await readText(store, 'a')).toBe('new')
      expect(await store.stat('a')).toMatchObject({ size: 3, contentType: 'text/plain', etag: after.etag })
      expect(await textOf(reader.stream)).toBe('x'.repeat(1_000_000))
      expect(await leftovers()).toEqual([])
    })

    test('of many puts at the same key one wins as a whole', async () => {
      const { store } = await open()
      const texts = Array.from({ length: 8 }, (_, index) => String(index).repeat(10_000 + index))
      await Promise.all(texts.map((text) => store.put('same/key', chunks(text), CSV)))
      const winner = await readText(store, 'same/key')
      expect(texts).toContain(winner)
      expect(await store.stat('same/key')).toMatchObject({ size: winner.length })
    })

    test('a source that fails leaves the artifact as it was, and nothing behind', async () => {
      const { store, leftovers } = await open()
      await store.put('a', chunks('old'), CSV)
      const broken = async function* () {
        yield Buffer.alloc(100_000)
        throw new Error('the source broke')
      }
      for (const key of ['a', 'b/c'])
        await expect(store.put(key, broken(), CSV)).rejects.toThrow('the source broke')
      expect(await readText(store, 'a')).toBe('old')
      expect(await store.stat('b/c')).toBeNull()
      expect(await leftovers()).toEqual([])
    })

    test('an aborted put ends with the reason and leaves nothing, even while its source hangs', async () => {
      const { store, leftovers } = await open()
      const stop = new AbortController()
      const { promise: asked, resolve: ask } = Promise.withResolvers<void>()
      const hanging = async function* () {
        yield Buffer.from('half')
        ask()
        await new Promise(() => undefined)
      }
      const putting = store.put('a/b', hanging(), { ...CSV, signal: stop.signal })
      await asked
      stop.abort(new Error('cancelled'))
      await expect(putting).rejects.toThrow('cancelled')
      await expect(store.put('a', chunks('x'), { ...CSV, signal: stop.signal })).rejects.toThrow('cancelled')
      expect(await keysOf(store, '')).toEqual([])
      expect(await leftovers()).toEqual([])
    })

    test('deleting is final, and harmless when repeated', async () => {
      const { store, leftovers } = await open()
      await store.put('a/b/c', chunks('x'), CSV)
      await store.put('a/b', chunks('y'), CSV)
      await store.delete('a/b/c')
      await store.delete('a/b/c')
      await store.delete('never/there')
      expect(await store.stat('a/b/c')).toBeNull()
      expect(await codeOf(store.open('a/b/c'))).toBe('ARTIFACT_NOT_FOUND')
      expect(await readText(store, 'a/b')).toBe('y')
      expect(await leftovers()).toEqual([])
    })

    test('puts and deletes side by side do not trip over each other', async () => {
      const { store } = await open()
      const rounds = Array.from({ length: 30 }, (_, index) => index)
      await Promise.all(
        rounds.map(async (index) => {
          await store.put(`same/folder/${index}`, chunks(`${index}`), CSV)
          await store.delete(`same/folder/${index}`)
        }),
      )
      expect(await keysOf(store, '')).toEqual([])
    })

    test('a listing holds what begins with the prefix', async () => {
      const { store } = await open()
      const keys = [
        'exports/1/a.csv',
        'exports/1/b & <c>.csv',
        'exports/12/a.csv',
        'exports',
        'other/中文.csv',
      ]
      for (const key of keys) await store.put(key, chunks(key), CSV)
      expect(await keysOf(store, '')).toEqual([...keys].sort())
      expect(await keysOf(store, 'exports/1')).toEqual([...keys.slice(0, 3)].sort())
      expect(await keysOf(store, 'exports/1/')).toEqual(keys.slice(0, 2).sort())
      expect(await keysOf(store, 'exports/1/a')).toEqual(keys.slice(0, 1))
      expect(await keysOf(store, 'nothing/')).toEqual([])
      for await (const listed of store.list('other/')) {
        const { etag } = (await store.stat(listed.key)) ?? {}
        expect(listed).toMatchObject({ etag })
      }
    })

    test.each([
      ...[
        '',
        '/a',
        'a/',
        'a//b',
        '..',
        'a/../b',
        '../a',
        'a/..',
        './a',
        'a/./b',
        'a\\b',
        '..\\a',
        'a\nb',
        'a\0b',
      ],
      ...[
        'a\u007f',
        'a\u0085',
        '\ud800',
        'x'.repeat(201),
        '中'.repeat(67),
        Array(60).fill('x'.repeat(15)).join('/'),
      ],
    ])('the key %j is refused everywhere', async (key) => {
      const { store } = await open()
      expect(await codeOf(store.put(key, chunks('x'), CSV))).toBe('STORAGE_KEY_INVALID')
      expect(await codeOf(store.open(key))).toBe('STORAGE_KEY_INVALID')
      expect(await codeOf(store.stat(key))).toBe('STORAGE_KEY_INVALID')
      expect(await codeOf(store.delete(key))).toBe('STORAGE_KEY_INVALID')
      expect(await codeOf(store.publicUrl(key))).toBe('STORAGE_KEY_INVALID')
    })

    test.each([
      ...[
        'a..b',
        '...',
        'a b',
        '~',
        '-rf',
        'C:',
        'con',
        'a.card',
        'a.card/b',
        'a.d/b',
        'a.d',
        'x'.repeat(200),
      ],
      ...['%2e%2e/a', 'a?b#c', 'a+b', "it's", '报表/二月.xlsx', '😀'],
    ])('the key %j is as good as any', async (key) => {
      const { store } = await open()
      await store.put(key, chunks(key), CSV)
      const neighbour = `${key.slice(0, 190)}.x/below`
      await store.put(neighbour, chunks('other'), CSV)
      expect(await readText(store, key)).toBe(key)
      expect(await keysOf(store, key)).toContain(key)
      await store.delete(key)
      expect(await keysOf(store, '')).toEqual([neighbour])
    })

    test('a reader that gives up early is no trouble', async () => {
      const { store } = await open()
      await store.put('a', chunks(Buffer.alloc(2_000_000)), CSV)
      const { stream } = await store.open('a')
      stream.destroy()
      if (!stream.closed) await once(stream, 'close')
      await store.delete('a')
    })

    test('an aborted reader ends with an error, not with a shorter file', async () => {
      const { store } = await open()
      await store.put('a', chunks(Buffer.alloc(2_000_000)), CSV)
      const stop = new AbortController()
      const { stream } = await store.open('a', { signal: stop.signal })
      stop.abort(new Error('gone'))
      await expect(textOf(stream)).rejects.toThrow()
      expect(await codeOf(store.open('a', { signal: stop.signal }))).toBeInstanceOf(Error)
    })

    test('a sweep takes no artifact, however old', async () => {
      const { store } = await open()
      await store.put('a/b', chunks('kept'), CSV)
      expect(await store.sweepStale(-60_000)).toBe(0)
      expect(await readText(store, 'a/b')).toBe('kept')
    })

    test('a store that works says so', async () => {
      const { store, leftovers } = await open()
      expect(await store.healthy()).toEqual({ ok: true })
      expect(await leftovers()).toEqual([])
    })
  })
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

async function temporaryFile(content: string): Promise<string> {
  const path = join(await temporaryFolder(), 'source')
  await writeFile(path, content)
  return path
}
