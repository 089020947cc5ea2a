import { describe, expect, test } from 'vitest'
import { contents, cutAfter, makeFiles, sum } from './feed-files.ts'
import { bodyOf, type FeedFile, startFeed, tagOf } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

describe('a run', () => {
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
      files: { attempts: 3, backoff: { base: 1, factor: 1, max: 1, jitter: 0 }, timeouts: { bodyMs: 3_000 } },
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
  // A few stall in the middle: each costs the time until it is noticed.
  7: (file) => (_request, response, attempt) => {
    if (attempt > 1 || !file.id.endsWith('007')) return false
    response.writeHead(200, { 'content-length': file.body.length }).write(file.body.subarray(0, 10))
    return true
  },
}
