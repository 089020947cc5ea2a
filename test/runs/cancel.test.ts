import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { contents, feedThatHangs } from './feed-files.ts'
import { setupRuns } from './runs-setup.ts'

describe.each(availableBackends())('a run on %s', (name) => {
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
    expect(await one.ended(runId)).toMatchObject({
      state: 'Cancelled',
      progress: { downloaded: 0, bytes: 0, page: 0, cursor: first.progress.cursor },
    })
    expect(files('ann')).toEqual(before)
    expect(before.get('notes.txt')).toEqual(mine)

    // What was deleted is fetched again by whoever continues.
    for (const file of feed.files) delete file.fault
    await one.whole('ann', 'continue')
    expect(files('ann')).toEqual(new Map([...contents(feed.files), ['notes.txt', mine]]))
  })
})
