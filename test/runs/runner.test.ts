import { mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { gate } from '../support/engines.ts'
import { bodyOf, type FeedFile, startFeed, tagOf } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

describe.each(availableBackends())('a run on %s', (name) => {
  test('fetches every file of every page, byte for byte', async () => {
    const { instance, files } = await setupRuns(name)
    const one = await instance()
    const feed = await startFeed(makeFiles(25), { pageSize: 10 })
    await one.put('ann', feed.url)
    const run = await one.whole('ann')
    const bytes = feed.files.reduce((sum, { body }) => sum + body.length, 0)
    expect(run).toMatchObject({
      state: 'Done',
      error: null,
      progress: { downloaded: 25, skipped: 0, filtered: 0, failed: 0, bytes, rate: 0, page: 3, cursor: null },
    })
    expect(files('ann')).toEqual(new Map(feed.files.map((file) => [file.name as string, file.body])))
    expect(await one.account('ann')).toMatchObject({ state: 'Done', locked: false, run_id: run.run_id })
  })

  test('downloads once: a second run skips what is there', async () => {
    const { instance } = await setupRuns(name)
    const one = await instance()
    const feed = await startFeed(makeFiles(12), { pageSize: 5 })
    await one.put('ann', feed.url)
    await one.whole('ann')
    for (const kind of ['start', 'continue'] as const)
      expect(await one.whole('ann', kind)).toMatchObject({ progress: { downloaded: 0, skipped: 12 } })
    for (const { id } of feed.files) expect(feed.attempts(id)).toBe(1)
  })

  test('goes on after a shutdown from where it was, and counts nothing twice', async () => {
    const { instance, files } = await setupRuns(name)
    const one = await instance({ connections: 2 })
    const reached = gate()
    const held = makeFiles(40)
    const slow = held[23] as FeedFile
    slow.fault = (_request, response, attempt) => {
      if (attempt > 1) return false
      response.writeHead(200, { 'content-length': slow.body.length }).write(slow.body.subarray(0, 50))
      reached.open()
      return true
    }
    const feed = await startFeed(held, { pageSize: 10 })
    await one.put('ann', feed.url)
    const runId = await one.start('ann')
    await reached.passed
    await one.close()
    const two = await instance()
    expect(await two.ended(runId)).toMatchObject({
      state: 'Done',
      progress: { downloaded: 40, skipped: 0, failed: 0, bytes: sum(held), page: 4 },
    })
    expect(files('ann')).toEqual(contents(held))
    expect(held.filter(({ id }) => feed.attempts(id) > 2)).toEqual([])
  })

  test('is stopped by a cancel: parts go away, finished files stay, and the account is free', async () => {
    const { instance, files } = await setupRuns(name)
    const one = await instance({ connections: 3 })
    const { feed, reached, done } = await feedThatHangs()
    await one.put('ann', feed.url)
    const runId = await one.start('ann')
    await reached.passed
    await one.until(({ accounts }) => accounts[0]?.progress.downloaded === done.length)
    await one.cancel(runId, 'keep')
    expect(await one.ended(runId)).toMatchObject({ state: 'Cancelled', error: null })
    expect(files('ann')).toEqual(contents(done))
    expect(await one.account('ann')).toMatchObject({ state: 'Cancelled', locked: false })
    await one.put('ann', feed.url, { limit: 1 })
  })

  test('deletes only its own files when it is cancelled so', async () => {
    const { instance, files, folder } = await setupRuns(name)
    const one = await instance({ connections: 3 })
    const { feed, reached, done } = await feedThatHangs()
    const mine = Buffer.from('put here by hand')
    mkdirSync(join(folder, 'ann'), { recursive: true })
    writeFileSync(join(folder, 'ann', 'notes.txt'), mine)
    await one.put('ann', feed.url, { limit: 2 })
    const first = await one.whole('ann')
    expect(first.progress.downloaded).toBe(2)
    const before = files('ann')
    await one.put('ann', feed.url)
    const runId = await one.start('ann', 'continue')
    await reached.passed
    await one.until(({ accounts }) => accounts[0]?.progress.downloaded === done.length - 2)
    await one.cancel(runId, 'delete')
    expect(await one.ended(runId)).toMatchObject({ state: 'Cancelled' })
    expect(files('ann')).toEqual(before)
    expect(before.get('notes.txt')).toEqual(mine)

    // What was deleted is fetched again by whoever continues.
    for (const file of feed.files) delete file.fault
    await one.whole('ann', 'continue')
    expect(files('ann')).toEqual(new Map([...contents(feed.files), ['notes.txt', mine]]))
  })

  test('keeps names inside the account’s folder, whatever the feed calls its files', async () => {
    const { instance, files, folder } = await setupRuns(name)
    const one = await instance()
    const names = [
      '../../../escape.txt',
      '..',
      '/etc/passwd',
      'a/b\\c.txt',
      'CON',
      'con.txt',
      'LPT1.log',
      `${'长'.repeat(100)}.jpg`,
      'x'.repeat(300),
      'same.txt',
      'SAME.TXT',
      'same.txt',
      'download.part',
      '.hidden',
      'zero\u0000byte',
      'ends with a dot.',
      'photo\u202egpj.exe',
    ]
    const feed = await startFeed(
      names.map((name, index) => ({ id: `n${index}`, name, body: bodyOf(name, 10 + index) })),
    )
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({ state: 'Done', progress: { downloaded: names.length } })
    const kept = [...files('ann').keys()]
    expect(kept).toHaveLength(names.length)
    expect(new Set(kept.map((file) => file.toLowerCase())).size).toBe(names.length)
    for (const file of kept) {
      expect(Buffer.byteLength(file)).toBeLessThan(220)
      expect(file).not.toMatch(/^(con|lpt1)(\.|$)|^\.|[/\\\0]|\.part$|[.\s]$/i)
    }
    expect(readdirSync(folder)).toEqual(['ann'])
  })

  test('never writes through a link, nor over a file that is not the item’s', async () => {
    const { instance, folder, files } = await setupRuns(name)
    const one = await instance()
    const feed = await startFeed([
      { id: 'a', name: 'link.txt', body: bodyOf('a', 20) },
      { id: 'b', name: 'mine.txt', body: bodyOf('b', 20) },
      { id: 'c', name: 'same.txt', body: bodyOf('c', 20) },
    ])
    const outside = join(folder, 'outside.txt')
    writeFileSync(outside, 'not yours')
    mkdirSync(join(folder, 'ann'))
    symlinkSync(outside, join(folder, 'ann', 'link.txt'))
    writeFileSync(join(folder, 'ann', 'mine.txt'), 'written by hand')
    writeFileSync(join(folder, 'ann', 'same.txt'), bodyOf('c', 20))
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({ progress: { downloaded: 2, skipped: 1 } })
    expect(readlinkSync(join(folder, 'ann', 'link.txt'))).toBe(outside)
    const kept = files('ann')
    expect(kept.get('link.txt')?.toString()).toBe('not yours')
    expect(kept.get('mine.txt')?.toString()).toBe('written by hand')
    expect(kept.size).toBe(5)
  })

  test('fails when a link stands in place of the account’s folder', async () => {
    const { instance, folder } = await setupRuns(name)
    const one = await instance()
    const feed = await startFeed(makeFiles(1))
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'ann'))
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({
      state: 'Failed',
      error: { code: 'ACCOUNT_FOLDER_UNSAFE' },
    })
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
  })
})

describe('a runner', () => {
  test('takes only what the account wants', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance()
    const at = (day: number) => `2026-01-${String(day).padStart(2, '0')}T12:00:00Z`
    const feed = await startFeed([
      { id: 'good', name: 'good', type: 'image/png', created_at: at(10), body: bodyOf('good', 50) },
      { id: 'last', name: 'last', type: 'VIDEO', created_at: at(20), body: bodyOf('last', 60) },
      { id: 'type', name: 'type', type: 'audio', created_at: at(10), body: bodyOf('type', 50) },
      { id: 'none', name: 'none', created_at: at(10), body: bodyOf('none', 50) },
      { id: 'small', name: 'small', type: 'image', created_at: at(10), body: bodyOf('small', 5) },
      { id: 'large', name: 'large', type: 'image', created_at: at(10), body: bodyOf('large', 500) },
      // Its size is only known when its own server tells it.
      { id: 'told', name: 'told', type: 'image', created_at: at(10), size: null, body: bodyOf('told', 500) },
      { id: 'early', name: 'early', type: 'image', created_at: at(1), body: bodyOf('early', 50) },
      { id: 'late', name: 'late', type: 'image', created_at: at(21), body: bodyOf('late', 50) },
      { id: 'when', name: 'when', type: 'image', body: bodyOf('when', 50) },
    ])
    const params = {
      types: ['image', 'video'],
      min_size: 10,
      max_size: 100,
      since: '2026-01-05',
      until: '2026-01-20',
    }
    await one.put('ann', feed.url, params)
    expect(await one.whole('ann')).toMatchObject({
      params,
      progress: { downloaded: 2, filtered: 8, failed: 0 },
    })
    expect([...files('ann').keys()]).toEqual(['good', 'last'])
  })

  test('stops at its limit, and the next one continues behind it', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance()
    const feed = await startFeed(makeFiles(10), { pageSize: 4 })
    await one.put('ann', feed.url, { limit: 4 })
    for (const count of [4, 8, 10]) {
      expect(await one.whole('ann', 'continue')).toMatchObject({ state: 'Done' })
      expect(files('ann').size).toBe(count)
    }
    for (const { id } of feed.files) expect(feed.attempts(id)).toBe(1)
  })

  test('goes on past a file that keeps failing, and tells of it', async () => {
    const { instance } = await setupRuns('embedded')
    const one = await instance()
    const broken = makeFiles(5)
    for (const file of broken.slice(0, 2))
      file.fault = (_request, response) => Boolean(response.writeHead(file.id === 'f0' ? 404 : 503).end())
    const feed = await startFeed(broken)
    await one.put('ann', feed.url)
    const run = await one.whole('ann')
    expect(run).toMatchObject({ state: 'Done', progress: { downloaded: 3, failed: 2 } })
    expect([feed.attempts('f0'), feed.attempts('f1')]).toEqual([1, 3])
    const lines = (await one.engine.events.read(0, { taskId: run.run_id })).filter(
      ({ type }) => type === 'run_log',
    )
    expect(lines.map(({ data }) => data)).toEqual([
      expect.objectContaining({ handle: 'ann', level: 'warn', message: expect.stringContaining('f0.bin') }),
      expect.objectContaining({ message: expect.stringContaining('f1.bin') }),
    ])
    for (const file of broken) delete file.fault
    expect(await one.whole('ann', 'continue')).toMatchObject({ progress: { downloaded: 2, skipped: 3 } })
  })

  test.each([
    ['keeps failing', 503, 'FEED_FAILED', 3],
    ['is not there', 404, 'FEED_FAILED', 1],
    ['is no feed', 200, 'FEED_INVALID', 3],
  ])('fails with the reason when the feed %s, and keeps its place', async (_, status, code, asked) => {
    const { instance } = await setupRuns('embedded')
    const one = await instance()
    const feed = await startFeed(makeFiles(6), { pageSize: 2 })
    feed.answerPages(
      (page, response) => page === 1 && Boolean(response.writeHead(status).end('{"items": 7}')),
    )
    await one.put('ann', feed.url)
    const failed = await one.whole('ann')
    expect(failed).toMatchObject({
      state: 'Failed',
      error: { code },
      progress: { downloaded: 2, cursor: '1' },
    })
    expect(feed.requests.filter(({ path }) => path.endsWith('cursor=1'))).toHaveLength(asked)
    expect(await one.account('ann')).toMatchObject({ state: 'Failed', locked: false, error: { code } })
    feed.answerPages(() => false)
    expect(await one.whole('ann', 'continue')).toMatchObject({
      state: 'Done',
      progress: { downloaded: 4, skipped: 0 },
    })
  })

  test('does not follow a feed in a circle', async () => {
    const { instance } = await setupRuns('embedded')
    const one = await instance()
    const feed = await startFeed([])
    feed.answerPages((page, response) =>
      Boolean(response.end(JSON.stringify({ items: [], next_cursor: String(page < 5 ? page + 1 : 2) }))),
    )
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({ state: 'Failed', error: { code: 'FEED_INVALID' } })
  })

  test('downloads an item once that is listed twice, and leaves out one that is none', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance()
    const body = bodyOf('a', 30)
    const feed = await startFeed([{ id: 'a', body }])
    feed.answerPages((page, response) => {
      const item = { id: 'a', url: '/file/a', name: 'a.bin' }
      const items = page === 0 ? [item, item, { url: '/file/a' }, 7, { id: 'u', url: 'ftp://x/' }] : [item]
      return Boolean(response.end(JSON.stringify({ items, next_cursor: page < 2 ? String(page + 1) : null })))
    })
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({ progress: { downloaded: 1, skipped: 3, failed: 3 } })
    expect(files('ann')).toEqual(new Map([['a.bin', body]]))
  })

  test('asks only for the rest of a file whose connection was cut', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance()
    const body = bodyOf('big', 300_000)
    const feed = await startFeed([
      {
        id: 'big',
        body,
        fault: (request, response, attempt) => attempt === 1 && cutAfter(request, response, body, 200_000),
      },
    ])
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({ progress: { downloaded: 1, bytes: body.length } })
    const ranges = feed.requests.filter(({ path }) => path === '/file/big').map(({ range }) => range)
    expect(ranges).toEqual([undefined, expect.stringMatching(/^bytes=[1-9]\d*-$/)])
    expect(files('ann').get('big')).toEqual(body)
  })

  test('begins a file anew that has changed behind its back', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance()
    const old = bodyOf('old', 300_000)
    const file: FeedFile = { id: 'big', body: bodyOf('new', 300_000) }
    file.fault = (request, response, attempt) => attempt === 1 && cutAfter(request, response, old, 200_000)
    const feed = await startFeed([file])
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({ progress: { downloaded: 1, bytes: 300_000 } })
    expect(files('ann').get('big')).toEqual(file.body)
  })

  test('continues a part that was in flight when its instance was stopped', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance()
    const body = bodyOf('big', 300_000)
    const file: FeedFile = { id: 'big', body }
    file.fault = (_request, response, attempt) => {
      if (attempt > 1) return false
      // Same tag as the server's own answer, and then silence.
      response.writeHead(200, { 'content-length': body.length, etag: tagOf(file) })
      response.write(body.subarray(0, 200_000))
      return true
    }
    const feed = await startFeed([file])
    await one.put('ann', feed.url)
    const runId = await one.start('ann')
    await one.until(({ accounts }) => accounts[0]?.progress.bytes === 200_000)
    await one.close()
    const two = await instance()
    expect(await two.ended(runId)).toMatchObject({
      state: 'Done',
      progress: { downloaded: 1, bytes: 300_000 },
    })
    const ranges = feed.requests.filter(({ path }) => path === '/file/big').map(({ range }) => range)
    expect(ranges).toEqual([undefined, 'bytes=200000-'])
    expect(files('ann')).toEqual(new Map([['big', body]]))
  })

  test('gets two thousand files right from servers that answer 404, cut, lie about the length and stall', async () => {
    const { instance, files } = await setupRuns('embedded')
    const one = await instance({
      connections: 16,
      files: { attempts: 3, backoff: { base: 1, factor: 1, max: 1, jitter: 0 }, timeouts: { bodyMs: 300 } },
    })
    const all = makeFiles(2_000, 400)
    for (const [index, file] of all.entries()) file.fault = FAULTS[index % 20]?.(file)
    const lost = all.filter((_, index) => [1, 2, 3].includes(index % 20))
    const feed = await startFeed(all, { pageSize: 250 })
    await one.put('ann', feed.url)
    const good = all.filter((file) => !lost.includes(file))
    expect(await one.whole('ann')).toMatchObject({
      state: 'Done',
      progress: { downloaded: good.length, failed: lost.length, skipped: 0, bytes: sum(good), page: 8 },
    })
    expect(files('ann')).toEqual(contents(good))
    for (const file of all) delete file.fault
    expect(await one.whole('ann', 'continue')).toMatchObject({
      progress: { downloaded: lost.length, skipped: good.length, failed: 0 },
    })
    expect(files('ann')).toEqual(contents(all))
  })
})

type Fault = NonNullable<FeedFile['fault']>

/** Of twenty files three never come whole, and four only at the second try. */
const FAULTS: Record<number, (file: FeedFile) => Fault> = {
  1: () => (_request, response) => Boolean(response.writeHead(404).end()),
  2: (file) => (request, response) => cutAfter(request, response, file.body, 100),
  3: (file) => (_request, response) => Boolean(response.end(file.body.subarray(0, 300))),
  4: (file) => (request, response, attempt) => attempt === 1 && cutAfter(request, response, file.body, 100),
  5: () => (_request, response, attempt) => attempt === 1 && Boolean(response.writeHead(503).end()),
  6: (file) => (_request, response, attempt) =>
    attempt === 1 && Boolean(response.end(Buffer.concat([file.body, file.body]))),
  // Every hundredth stalls in the middle: each costs the time until it is noticed.
  7: (file) => (_request, response, attempt) => {
    if (attempt > 1 || !file.id.endsWith('07')) return false
    response.writeHead(200, { 'content-length': file.body.length }).write(file.body.subarray(0, 10))
    return true
  },
}

function makeFiles(count: number, size = 100): FeedFile[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `f${index}`
    return { id, name: `${id}.bin`, body: bodyOf(id, size + (index % 50)) }
  })
}

/** Six files come, then three hang in the middle, each with some bytes on the disk. */
async function feedThatHangs() {
  const all = makeFiles(20)
  const reached = gate()
  let hanging = 0
  for (const file of all.slice(6, 9)) {
    file.fault = (_request, response) => {
      response.writeHead(200, { 'content-length': file.body.length }).write(file.body.subarray(0, 10))
      if (++hanging === 3) reached.open()
      return true
    }
  }
  return { feed: await startFeed(all, { pageSize: 4 }), reached, done: all.slice(0, 6) }
}

function cutAfter(_request: IncomingMessage, response: ServerResponse, body: Buffer, bytes: number): boolean {
  response.writeHead(200, { 'content-length': body.length, etag: tagOf({ body }) })
  response.write(body.subarray(0, bytes), () => setImmediate(() => response.destroy()))
  return true
}

function sum(files: FeedFile[]): number {
  return files.reduce((total, { body }) => total + body.length, 0)
}

function contents(files: FeedFile[]): Map<string, Buffer> {
  return new Map(files.map(({ id, name, body }) => [name ?? id, body]))
}
