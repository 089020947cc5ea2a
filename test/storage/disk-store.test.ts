import { once } from 'node:events'
import { constants, existsSync, statSync } from 'node:fs'
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  rmdir,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/kernel/index.ts'
import type { OpenFile } from '../../src/storage/disk/blob-writer.ts'
import { DiskStore } from '../../src/storage/index.ts'
import { spawnBound } from '../support/bound-process.ts'
import { artifactStoreContract, chunks, codeOf, temporaryFolder, textOf } from './artifact-store.contract.ts'

const CSV = { contentType: 'text/csv' }
const HOUR = 3_600_000

async function setup(deps: { openFile?: OpenFile; ahead?: number } = {}) {
  const root = join(await temporaryFolder(), 'files')
  const { ahead = 0, ...rest } = deps
  const clock = { ...systemClock, now: () => Date.now() + ahead }
  return { root, store: await DiskStore.open({ clock, ...rest }, { root }) }
}

const everything = async (root: string) =>
  (await readdir(root, { recursive: true, withFileTypes: true })).filter((entry) => !entry.isDirectory())

artifactStoreContract('the disk store', async () => {
  const { root, store } = await setup()
  return {
    store,
    leftovers: async () => {
      const names = (await everything(root)).map((entry) => join(entry.parentPath, entry.name))
      const cards = names.filter((name) => name.endsWith('.card'))
      const blobs = await Promise.all(
        cards.map(async (card) => String(JSON.parse(await readFile(card, 'utf8')).blob)),
      )
      return names.filter((name) => !cards.includes(name) && !blobs.some((blob) => name.endsWith(`/${blob}`)))
    },
  }
})

describe('a full disk', () => {
  /** Writes go to the real file until the disk is "full"; from then on the kernel itself says ENOSPC. */
  const fullAfter =
    (bytes: number): OpenFile =>
    async (path, flags) => {
      const real = await open(path, flags)
      const full = await open('/dev/full', constants.O_WRONLY)
      let room = bytes
      return new Proxy(real, {
        get(target, name) {
          if (name === 'write')
            return (chunk: Buffer, offset: number) => {
              room -= chunk.length - offset
              return (room < 0 ? full : target).write(chunk, offset)
            }
          if (name === 'close') return () => Promise.all([real.close(), full.close()])
          const value: unknown = Reflect.get(target, name)
          return typeof value === 'function' ? value.bind(target) : value
        },
      }) as FileHandle
    }

  test.skipIf(process.platform !== 'linux')('stores nothing, leaves nothing and says so', async () => {
    const { root, store } = await setup({ openFile: fullAfter(1_000) })
    const put = store.put('a/b/c', chunks(Buffer.alloc(900), Buffer.alloc(900)), CSV)
    expect(await codeOf(put)).toBe('STORAGE_FULL')
    expect(await readdir(root)).toEqual([])
  })

  test.skipIf(process.platform !== 'linux')(
    'that fills up with the last small file leaves nothing either',
    async () => {
      let opened = 0
      const openFile: OpenFile = (path, flags) => fullAfter(++opened === 1 ? 10_000 : 0)(path, flags)
      const { root, store } = await setup({ openFile })
      expect(await codeOf(store.put('a', chunks('x'), CSV))).toBe('STORAGE_FULL')
      expect(await readdir(root)).toEqual([])
      expect(await store.healthy()).toMatchObject({ ok: false, reason: expect.stringContaining('ENOSPC') })
      expect(await readdir(root)).toEqual([])
    },
  )
})

describe('what a crash left behind', () => {
  const stale = ['a.0123456789abcdef.tmp', 'f.d/a.0123456789abcdef.tmp', 'f.d/kept.0123456789abcdef.blob']

  async function crashed(ahead: number) {
    const { root, store } = await setup({ ahead })
    await store.put('f/kept', chunks('kept'), CSV)
    for (const name of stale) await writeFile(join(root, name), 'half')
    // Its age is when it came here, not when it was written.
    await utimes(join(root, 'f.d/kept.0123456789abcdef.blob'), new Date(0), new Date(0))
    await writeFile(join(root, 'README'), 'put here by a person')
    return { root, store }
  }

  test('is swept once it is old enough', async () => {
    const { root, store } = await crashed(2 * HOUR)
    expect(await store.sweepStale(HOUR)).toBe(3)
    expect(await textOf((await store.open('f/kept')).stream)).toBe('kept')
    expect((await everything(root)).map((entry) => entry.name)).toHaveLength(3)
  })

  test('is left alone while somebody may still be writing it', async () => {
    const { store } = await crashed(HOUR / 2)
    expect(await store.sweepStale(HOUR)).toBe(0)
  })

  test('is never listed or opened', async () => {
    const { store } = await crashed(0)
    const keys: string[] = []
    for await (const { key } of store.list('')) keys.push(key)
    expect(keys).toEqual(['f/kept'])
  })

  test('does not stop a sweep that is told to stop', async () => {
    const { store } = await crashed(2 * HOUR)
    await expect(store.sweepStale(HOUR, AbortSignal.abort(new Error('stop')))).rejects.toThrow('stop')
  })
})

describe('a link that leads out of the store', () => {
  test('as a folder is neither written nor read through', async () => {
    const { root, store } = await setup()
    const outside = await temporaryFolder()
    await mkdir(join(outside, 'x.d'))
    await symlink(outside, join(root, 'a.d'))
    expect(await codeOf(store.put('a/b', chunks('x'), CSV))).toBe('STORAGE_DENIED')
    expect(await codeOf(store.put('a/x/b', chunks('x'), CSV))).toBe('STORAGE_DENIED')
    expect(await codeOf(store.put('a/new/b', chunks('x'), CSV))).toBe('STORAGE_DENIED')
    expect(await codeOf(store.open('a/b'))).toBe('STORAGE_DENIED')
    expect(await readdir(outside, { recursive: true })).toEqual(['x.d'])
    for await (const { key } of store.list('')) expect.unreachable(key)
  })

  test('as a blob is not read', async () => {
    const { root, store } = await setup()
    const secret = join(await temporaryFolder(), 'secret')
    await writeFile(secret, 'secret')
    await symlink(secret, join(root, 'a.0123456789abcdef.blob'))
    const card = {
      blob: 'a.0123456789abcdef.blob',
      size: 6,
      sha256: '',
      contentType: '',
      fileName: null,
      modifiedAt: 0,
    }
    await writeFile(join(root, 'a.card'), JSON.stringify(card))
    expect(await codeOf(store.open('a'))).toBe('STORAGE_DENIED')
  })

  test.each(['../../secret', '/etc/passwd', 'b.0123456789abcdef.blob', 'a/../x.0123456789abcdef.blob'])(
    'in a card that names %s is not followed',
    async (blob) => {
      const { root, store } = await setup()
      await writeFile(join(root, 'a.card'), JSON.stringify({ blob, size: 6 }))
      expect(await codeOf(store.open('a'))).toBe('STORAGE_UNAVAILABLE')
    },
  )
})

test('a process that is killed in the middle of a put leaves the artifact as it was', async () => {
  const { root, store } = await setup({ ahead: 2 * HOUR })
  await store.put('f/a', chunks('old'), CSV)
  const program = `
    const { DiskStore } = await import(${JSON.stringify(new URL('../../src/storage/index.ts', import.meta.url).href)})
    const store = await DiskStore.open({}, { root: ${JSON.stringify(root)} })
    const source = async function* () {
      for (let sent = 0; ; sent++) {
        if (sent === 10) process.stdout.write('half')
        yield Buffer.alloc(100_000)
        if (sent >= 10) await new Promise(() => process.stdin.resume())
      }
    }
    await store.put('f/a', source(), { contentType: 'text/csv' })`
  const child = spawnBound(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout as Readable, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await everything(root)).some((entry) => entry.name.endsWith('.tmp'))).toBe(true)
  expect(await textOf((await store.open('f/a')).stream)).toBe('old')
  expect(await store.sweepStale(HOUR)).toBe(1)
  expect((await everything(root)).map((entry) => entry.name)).toHaveLength(2)
})

test('a damaged card can be replaced and deleted', async () => {
  const { root, store } = await setup()
  await writeFile(join(root, 'a.card'), '{"blob":')
  expect(await codeOf(store.stat('a'))).toBe('STORAGE_UNAVAILABLE')
  await store.put('a', chunks('new'), CSV)
  expect(await textOf((await store.open('a')).stream)).toBe('new')
  await writeFile(join(root, 'a.card'), '')
  await store.delete('a')
  expect(await store.stat('a')).toBeNull()
})

test('a folder that a delete removes at the last moment is made again', async () => {
  let removed = 0
  const openFile: OpenFile = async (path, flags) => {
    if (removed++ === 0) await rmdir(dirname(path))
    return open(path, flags)
  }
  const { store } = await setup({ openFile })
  await store.put('a/b', chunks('x'), CSV)
  expect(await textOf((await store.open('a/b')).stream)).toBe('x')
})

const MEMORY = '/dev/shm'
const otherDisk = existsSync(MEMORY) && statSync(MEMORY).dev !== statSync(tmpdir()).dev

test.skipIf(!otherDisk)('a file on another disk is copied and then removed', async () => {
  const { store } = await setup()
  const folder = await mkdtemp(join(MEMORY, 'wharf-store-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'f'), 'from afar')
  const stored = await store.put('a', { path: join(folder, 'f') }, { ...CSV, move: true })
  expect(stored.size).toBe(9)
  expect(await textOf((await store.open('a')).stream)).toBe('from afar')
  expect(await readdir(folder)).toEqual([])
})

test('a file on the same disk is moved, not copied', async () => {
  const { root, store } = await setup()
  const path = join(await temporaryFolder(), 'f')
  await writeFile(path, 'near')
  const { ino } = await stat(path)
  await store.put('a', { path }, { ...CSV, move: true })
  const [blob] = (await readdir(root)).filter((name) => name.endsWith('.blob'))
  expect((await stat(join(root, blob ?? ''))).ino).toBe(ino)
})

test('a deleted artifact leaves no empty folders', async () => {
  const { root, store } = await setup()
  await store.put('a/b/c/d', chunks('x'), CSV)
  await store.delete('a/b/c/d')
  expect(await readdir(root)).toEqual([])
})

test('a folder has no public address', async () => {
  expect(await (await setup()).store.publicUrl('a')).toBeNull()
})

test('a root that is a file is an error in our words', async () => {
  const file = join(await temporaryFolder(), 'file')
  await writeFile(file, '')
  expect(await codeOf(DiskStore.open({}, { root: file }))).toBe('STORAGE_UNAVAILABLE')
})

test('a file is untouched until somebody writes to it, replaces it or copies it, even with the same bytes', async () => {
  const { root, store } = await setup()
  await store.put('a', chunks('text'), CSV)
  const look = async () => {
    const { stream, untouched, version } = await store.open('a')
    stream.destroy()
    return { untouched, version }
  }
  const first = await look()
  expect(first.untouched).toBe(true)
  expect(await look()).toEqual(first)
  const blob = (await everything(root)).find(({ name }) => name.endsWith('.blob'))
  const path = join(blob?.parentPath ?? '', blob?.name ?? '')
  const { atime, mtime } = await stat(path)
  await writeFile(path, 'text')
  // Setting the time back does not hide it.
  await utimes(path, atime, mtime)
  const second = await look()
  expect(second.untouched).toBe(false)
  expect(second.version).not.toBe(first.version)
})
