import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { gate } from '../support/engines.ts'
import { contents, makeFiles, sum } from './feed-files.ts'
import { bodyOf, type FeedFile, startFeed } from './feed-server.ts'
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
})

describe('a run', () => {
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
})
