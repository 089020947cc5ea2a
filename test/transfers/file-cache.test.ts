import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import type { OpenedArtifact } from '../../src/storage/index.ts'
import { FileCache } from '../../src/transfers/repository/file-cache.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

const CONTENT = Buffer.from('cached')
const SIGNATURE = createHash('sha256').update(CONTENT).digest('hex')
const { signal } = new AbortController()

function setup(stream: (opened: number) => Readable = () => Readable.from([CONTENT])) {
  const directory = mkdtempSync(join(tmpdir(), 'wharf-cache-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const clock = new ManualClock(Date.now())
  const opened = { count: 0 }
  const open = async () => ({ stream: stream(++opened.count), size: CONTENT.length }) as OpenedArtifact
  const cache = new FileCache({ store: { open }, clock }, { directory, keepMs: 1_000 })
  return { cache, clock, directory, opened }
}

test('however many ask, the file is fetched once', async () => {
  const { cache, opened, directory } = setup()
  const files = await Promise.all(Array.from({ length: 20 }, () => cache.get(SIGNATURE, 'key', signal)))
  await cache.get(SIGNATURE, 'key', signal)
  expect(opened.count).toBe(1)
  expect(new Set(files.map(({ path }) => path))).toEqual(new Set([join(directory, SIGNATURE)]))
  expect(readFileSync(join(directory, SIGNATURE)).equals(CONTENT)).toBe(true)
})

test('bytes that are not the signature’s never get its name', async () => {
  const { cache, directory } = setup(() => Readable.from([Buffer.from('forged')]))
  await expect(cache.get(SIGNATURE, 'key', signal)).rejects.toMatchObject({
    code: 'TRANSFER_SIGNATURE_MISMATCH',
    retryable: false,
  })
  expect(readdirSync(directory)).toEqual([])
})

test('a file that was damaged on disk is removed and fetched again', async () => {
  const { cache, directory, opened } = setup()
  await cache.get(SIGNATURE, 'key', signal)
  for (const damaged of [Buffer.from('cachet'), Buffer.from('cac'), Buffer.alloc(0)]) {
    writeFileSync(join(directory, SIGNATURE), damaged)
    await expect(cache.get(SIGNATURE, 'key', signal)).resolves.toMatchObject({ size: CONTENT.length })
    expect(readFileSync(join(directory, SIGNATURE)).equals(CONTENT)).toBe(true)
  }
  expect(opened.count).toBe(4)
})

test('one who gives up does not take the fetch from the others; the last one does', async () => {
  const slow = new Readable({ read() {} })
  const { cache, opened, directory } = setup((count) => (count === 1 ? slow : Readable.from([CONTENT])))
  const [one, two] = [new AbortController(), new AbortController()]
  const first = cache.get(SIGNATURE, 'key', one.signal)
  const second = cache.get(SIGNATURE, 'key', two.signal)
  await until('the slow one is open', () => opened.count === 1)
  one.abort(new Error('no more patience'))
  await expect(first).rejects.toThrow('no more patience')
  expect(slow.destroyed).toBe(false)
  two.abort(new Error('none here either'))
  await expect(second).rejects.toThrow('none here either')
  await expect(cache.get(SIGNATURE, 'key', signal)).resolves.toMatchObject({ size: CONTENT.length })
  expect(opened.count).toBe(2)
  await until('nothing half is left', () => readdirSync(directory).join() === SIGNATURE)
})

test('what nobody used for long goes, and what a crash left behind with it', async () => {
  const { cache, clock, directory } = setup()
  await cache.get(SIGNATURE, 'key', signal)
  writeFileSync(join(directory, `${'0'.repeat(64)}-x.part`), 'half')
  clock.advance(10_000)
  await cache.get(SIGNATURE, 'key', signal)
  expect(await cache.runOnce(signal)).toEqual({ removed: 1 })
  expect(readdirSync(directory)).toEqual([SIGNATURE])
  clock.advance(10_000)
  expect(await cache.runOnce(signal)).toEqual({ removed: 1 })
})
