import { mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { bodyOf, type FeedFile, startFeed } from './feed-server.ts'
import { type Instance, setupRuns } from './runs-setup.ts'

const PAGE = { limit: 50 }
const broken: FeedFile['fault'] = (_request, response) => {
  response.writeHead(500).end()
  return true
}

describe.each(availableBackends())('an account on %s', (name) => {
  async function fetched(count: number, faulty: readonly number[]) {
    const { instance, files, folder } = await setupRuns(name)
    const one = await instance({ files: { attempts: 1 } })
    const ids = Array.from({ length: count }, (_, index) => `f${index}`)
    const feed = await startFeed(
      ids.map((id, index) => ({
        id,
        name: `${id}.txt`,
        body: bodyOf(id, 20 + index),
        ...(faulty.includes(index) && { fault: broken }),
      })),
      { pageSize: 4 },
    )
    await one.put('ann', feed.url)
    const run = await one.whole('ann')
    const names = async (of: 'files' | 'failedFiles') =>
      (await one.runs[of]('ann', PAGE)).items.map((item) => item.name)
    return { one, feed, run, files, folder, names }
  }

  test('a retry fetches what failed, asks the feed for nothing, and leaves its place in the feed alone', async () => {
    const { one, feed, run, files, names } = await fetched(10, [2, 7])
    expect(run).toMatchObject({ state: 'Done', progress: { downloaded: 8, failed: 2 } })
    const { items } = await one.runs.failedFiles('ann', PAGE)
    expect(items).toMatchObject([
      { item_id: 'f2', name: 'f2.txt', run_id: run.run_id, error: { code: 'HTTP_STATUS' } },
      { item_id: 'f7', name: 'f7.txt', url: feed.url.replace(/feed.*/, 'file/f7') },
    ])
    delete feed.files[2]?.fault
    const pages = () => feed.requests.filter(({ path }) => path.startsWith('/feed')).length
    const before = pages()
    const again = await one.whole('ann', 'retry')
    expect(again).toMatchObject({ kind: 'retry', state: 'Done', progress: { downloaded: 1, failed: 1 } })
    expect(again.progress.cursor).toBe(run.progress.cursor)
    expect(pages()).toBe(before)
    expect(await names('failedFiles')).toEqual(['f7.txt'])
    expect(files('ann').get('f2.txt')).toEqual(feed.files[2]?.body)
    delete feed.files[7]?.fault
    expect(await one.whole('ann', 'retry')).toMatchObject({ progress: { downloaded: 1, failed: 0 } })
    expect(files('ann').size).toBe(10)
    await expect(one.start('ann', 'retry')).rejects.toMatchObject({ code: 'NOTHING_FAILED' })
  })

  test('what a whole run did not meet any more is no failure to try again', async () => {
    const { one, feed, names } = await fetched(6, [1])
    expect(await names('failedFiles')).toEqual(['f1.txt'])
    feed.files.splice(1, 1)
    await one.whole('ann')
    expect(await names('failedFiles')).toEqual([])
  })

  test('its files and its runs are told page by page', async () => {
    const { one, run } = await fetched(5, [4])
    const seen: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await one.runs.files('ann', { limit: 3, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.items.map((item) => item.name))
      cursor = page.next_cursor
    }
    expect(seen).toEqual(['f0.txt', 'f1.txt', 'f2.txt', 'f3.txt'])
    const second = await one.whole('ann', 'continue')
    const newest = await one.runs.runsOf('ann', { limit: 1 })
    const oldest = await one.runs.runsOf('ann', { limit: 1, cursor: newest.next_cursor ?? '' })
    expect([...newest.items, ...oldest.items].map(({ run_id }) => run_id)).toEqual([
      second.run_id,
      run.run_id,
    ])
    expect(oldest.next_cursor).toBeNull()
  })

  test('the log of a run has its states and its warnings, newest first', async () => {
    const { one, run } = await fetched(3, [1])
    const { items } = await one.runs.log(run.run_id, PAGE)
    expect(items.map(({ state, message }) => state ?? message)).toEqual([
      'Done',
      expect.stringContaining('f1.txt'),
      'Running',
      'Queued',
    ])
    const first = await one.runs.log(run.run_id, { limit: 1 })
    const rest = await one.runs.log(run.run_id, { limit: 50, cursor: String(first.next_cursor) })
    expect([...first.items, ...rest.items]).toEqual(items)
    await expect(one.runs.log(run.run_id, { limit: 1, cursor: 'x' })).rejects.toMatchObject({
      code: 'REQUEST_INVALID',
    })
  })

  test('a file is read from its folder, and nothing that a link leads to', async () => {
    const { one, feed, folder } = await fetched(2, [])
    const read = async (handle: string, item: string) =>
      text((await (await one.runs.file(handle, item)).open()).stream)
    expect(await read('ann', 'f0')).toBe(feed.files[0]?.body.toString())
    // What was recorded is what a download is compared with.
    truncateSync(join(folder, 'ann', 'f1.txt'), 1)
    expect((await one.runs.file('ann', 'f1')).size).toBe(feed.files[1]?.body.length)
    await gone(one, 'ann', '../ann/f0.txt')
    await gone(one, 'ann', 'f0.txt')
    await expect(one.runs.file('../ann', 'f0')).rejects.toMatchObject({ code: 'ACCOUNT_NOT_FOUND' })
    const secret = join(folder, 'secret')
    writeFileSync(secret, 'not yours')
    rmSync(join(folder, 'ann', 'f0.txt'))
    symlinkSync(secret, join(folder, 'ann', 'f0.txt'))
    await gone(one, 'ann', 'f0')
    rmSync(join(folder, 'ann', 'f1.txt'))
    mkdirSync(join(folder, 'ann', 'f1.txt'))
    await gone(one, 'ann', 'f1')
    renameSync(join(folder, 'ann'), join(folder, 'elsewhere'))
    writeFileSync(join(folder, 'elsewhere', 'f9.txt'), 'x')
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'ann'))
    await gone(one, 'ann', 'f0')
  })
})

async function gone(one: Instance, handle: string, item: string): Promise<void> {
  const opened = one.runs.file(handle, item).then(({ open }) => open())
  await expect(opened).rejects.toMatchObject({ code: 'ARTIFACT_NOT_FOUND' })
}
