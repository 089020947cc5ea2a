import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { fetchToSpool, type Spool } from '../../../../src/exports/sources/index.ts'
import type { SpoolMeta } from '../../../../src/exports/sources/spool/index.ts'
import { decodeMeta } from '../../../../src/exports/sources/spool/spool-meta.ts'
import { warn } from '../../../../src/exports/warnings/index.ts'
import { type Clock, systemClock } from '../../../../src/kernel/index.ts'
import { spawnBound } from '../../../support/bound-process.ts'
import { until } from '../../../support/until.ts'
import { temporaryFolder, textOf } from './fetch-setup.ts'
import { loopbackSource } from './loopback-source.ts'
import { pageOf, sampleRows, spoolText } from './memory-source.ts'

const rows = sampleRows(6_000)

/** Kills a process that fetches when it asks for page 40, and lets another one fetch into the same folder. */
async function fetchAfterKill({ threads = false, clock = systemClock } = {}): Promise<{
  spool: Spool
  /** Pages that the second one asked for, the probe left out. */
  pages: number[]
}> {
  const reached = Promise.withResolvers<void>()
  const pages: number[] = []
  let killed = false
  const source = await loopbackSource(async (asked) => {
    // Page 40 is never answered to the process that will be killed.
    if (asked.page === 40 && !killed) return reached.resolve()
    if (killed && asked.pageSize !== 1) pages.push(asked.page)
    asked.response.end(JSON.stringify({ total: 6_000, data: pageOf(rows, asked) }))
  })
  const directory = await temporaryFolder()
  const script = new URL('./fetch-child.ts', import.meta.url).pathname
  const child = spawnBound(
    process.execPath,
    [script, source.url, directory, ...(threads ? ['threads'] : [])],
    {
      stdio: 'inherit',
    },
  )
  const ended = once(child, 'exit')
  await Promise.race([
    reached.promise,
    ended.then(() => {
      throw new Error('the process ended before it could be killed')
    }),
  ])
  // The ranges are fetched side by side: page 40 may be asked for before the first page is noted.
  await until('the first page is noted', () => (noted(directory)?.ranges[0]?.next ?? 0) > 0)
  child.kill('SIGKILL')
  await ended
  killed = true
  const spool = await fetchToSpool(
    { source, clock },
    {
      directory,
      columnsOf: () => ({ fields: ['id', 'name', 'amount'] }),
      pageSize: 100,
      signal: new AbortController().signal,
    },
  )
  return { spool, pages }
}

function noted(directory: string): SpoolMeta | undefined {
  try {
    return decodeMeta(readFileSync(join(directory, '.meta'), 'utf8'))
  } catch {
    return undefined // nothing yet
  }
}

describe('a process killed in mid-fetch', () => {
  test.each([
    ['in its main thread', false],
    ['in threads', true],
  ])('that reads pages %s loses no page and doubles none', async (_, threads) => {
    const { spool, pages } = await fetchAfterKill({ threads })
    expect(spool.resumed.resumed).toBe(true)
    expect(pages[0]).toBeGreaterThan(0)
    expect(textOf(spool)).toBe(spoolText(rows))
  })

  test('and started again after more than five minutes starts anew', async () => {
    const later: Clock = { ...systemClock, now: () => Date.now() + 5 * 60_000 + 1 }
    const { spool, pages } = await fetchAfterKill({ clock: later })
    expect(spool.resumed).toEqual({ resumed: false, reason: warn('STARTED_ANEW_TOO_OLD', {}) })
    expect(pages).toEqual(Array.from({ length: 60 }, (_, page) => page))
    expect(textOf(spool)).toBe(spoolText(rows))
  })
})
