import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { makeFiles } from './feed-files.ts'
import { bodyOf, startFeed } from './feed-server.ts'
import { setupRuns } from './runs-setup.ts'

describe.each(availableBackends())('a run on %s', (name) => {
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

  test('[planted-link] never writes through a link, nor over a file that is not the item’s', async () => {
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

  test('[planted-link] fails when a link stands in place of the account’s folder', async () => {
    const { instance, folder } = await setupRuns(name)
    const one = await instance()
    const feed = await startFeed(makeFiles(1))
    mkdirSync(join(folder, 'elsewhere'))
    chmodSync(join(folder, 'elsewhere'), 0o755)
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'ann'))
    await one.put('ann', feed.url)
    expect(await one.whole('ann')).toMatchObject({
      state: 'Failed',
      error: { code: 'ACCOUNT_FOLDER_UNSAFE' },
    })
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([])
    expect(statSync(join(folder, 'elsewhere')).mode & 0o777).toBe(0o755)
  })
})
