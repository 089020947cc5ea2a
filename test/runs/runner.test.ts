import { mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { gate } from '../support/engines.ts'
import { bodyOf, type FeedFile, sendFile, startFeed } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

function makeFiles(count: number, size = 100): FeedFile[] {
  return Array.from({ length: count }, (_, index) => {
    const id = `f${index}`
    return { id, name: `${id}.bin`, body: bodyOf(id, size + index) }
  })
}

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
})
