import { describe, expect, test } from 'vitest'
import { makeFiles } from './feed-files.ts'
import { bodyOf, startFeed } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

describe('a run', () => {
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

  test.each([
    ['has no items', () => []],
    ['has the same items again and again', () => [{ id: 'a', url: 'http://127.0.0.1:1/a', type: 'x' }]],
    [
      'has a few pages again and again',
      (page: number) => [{ id: `n${page % 3}`, url: 'http://127.0.0.1:1/a', type: 'x' }],
    ],
  ])('[endless-feed] ends with a feed that always names a next page and %s', async (_, itemsOf) => {
    const { instance } = await setupRuns('embedded')
    const one = await instance()
    const feed = await startFeed([])
    feed.answerPages((page, response) =>
      Boolean(response.end(JSON.stringify({ items: itemsOf(page), next_cursor: String(page + 1) }))),
    )
    await one.put('ann', feed.url, { types: ['image'] })
    expect(await one.whole('ann')).toMatchObject({
      state: 'Failed',
      error: { code: 'FEED_INVALID', message: expect.stringContaining('no item that is new') },
    })
    expect(feed.requests.length).toBeLessThan(1_010)
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
})
