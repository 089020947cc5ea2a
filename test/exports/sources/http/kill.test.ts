import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { decodeMeta } from '../../../../src/exports/sources/spool/spool-meta.ts'
import { systemClock } from '../../../../src/kernel/index.ts'
import { startExportProcess } from '../../../support/export-process.ts'
import { until } from '../../../support/until.ts'
import { startApi } from './api-server.ts'

const TOTAL = 1_250
const SIZE = 50
/** Several of these are longer than the time between two notes of what is safe. */
const PAGE_MS = 200

/** Rows with a key that only some of them have, so that columns turn up late. */
const row = (id: number) => ({ id, name: `行 ${id}`, ...(id % 400 === 399 && { note: 'x' }) })

/** Pages that lead on by a cursor or an address, let go one at a time or freely. */
async function heldSource() {
  const waiting: (() => void)[] = []
  let free = false
  const asked: number[] = []
  const api = await startApi(async (request) => {
    const from = request.number('after', 0)
    asked.push(from / SIZE)
    if (!free) await new Promise<void>((resolve) => waiting.push(resolve))
    const data = Array.from({ length: Math.min(SIZE, TOTAL - from) }, (_, n) => row(from + n))
    const more = from + SIZE < TOTAL
    return {
      body: { data, next_cursor: more ? from + SIZE : null, next: more ? `/?after=${from + SIZE}` : null },
    }
  })
  return {
    ...api,
    pages: asked,
    held: () => waiting.length > 0,
    releaseOne: () => waiting.shift()?.(),
    release() {
      free = true
      for (const go of waiting.splice(0)) go()
    },
  }
}

/** Pages that are safe, by export. */
function safePages(dataDir: string): number[] {
  const folder = join(dataDir, 'spool')
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.meta'))
      .map((name) => decodeMeta(readFileSync(join(folder, name), 'utf8'))?.ranges[0]?.next ?? 0)
  } catch {
    return [] // nothing yet, or renamed in this very moment
  }
}

const SHAPES = [
  { paging: { style: 'cursor', cursor_param: 'after', size: SIZE }, total: null },
  { paging: { style: 'link', cursor: 'next' } },
]

test('killed while fetching, a server goes on behind the last safe page and makes the same files; a stream starts anew', async () => {
  const sources = [await heldSource(), await heldSource()] as const
  let held = true
  const stream = await startApi(async () => {
    if (held) await new Promise(() => undefined)
    return { body: Array.from({ length: 100 }, (_, id) => JSON.stringify({ id })).join('\n') }
  })
  const server = await startExportProcess()
  const client = await server.newClient()
  const bodies = sources.map(({ origin }, index) => ({
    source: { kind: 'http', url: origin, ...SHAPES[index] },
    file_name: 'all',
    key: ['id'],
  }))
  const tasks = await Promise.all(bodies.map((body) => client.start(body)))
  const streamed = await client.start({ source: { kind: 'http', preset: 'ndjson', url: stream.origin } })
  await until('pages are safe on disk', async () => {
    for (const source of sources) source.releaseOne()
    await systemClock.sleep(PAGE_MS)
    const safe = safePages(server.dataDir)
    return safe.length === 2 && safe.every((pages) => pages >= 6)
  })
  await until(
    'next pages are asked for',
    () => sources.every((source) => source.held()) && stream.asked.length > 0,
  )
  await server.kill()
  const safe = safePages(server.dataDir)
  const before = sources.map(({ pages }) => pages.length)
  for (const source of sources) source.release()
  held = false
  await server.start()
  for (const [index, { task_id }] of tasks.entries()) {
    const view = await client.ended(task_id)
    expect(view).toMatchObject({ status: 'succeeded', file: { rows: TOTAL }, warnings: [] })
    const later = sources[index]!.pages.slice(before[index])
    expect(safe).toContain(later[0])
    expect(later).toEqual(Array.from({ length: TOTAL / SIZE - later[0]! }, (_, n) => later[0]! + n))
    const whole = await client.run({ ...bodies[index], fresh: true })
    expect(view.file?.sha256).toBe(whole.file?.sha256)
    expect(await client.lines(task_id)).toHaveLength(TOTAL + 1)
  }
  const resumed = server.logged('fetching pages').filter((entry) => entry.resumed)
  expect(resumed.map(({ fetched }) => fetched).sort()).toEqual(safe.map((pages) => pages * SIZE).sort())
  expect(await client.ended(streamed.task_id)).toMatchObject({
    file: { rows: 100 },
    warnings: [expect.stringMatching(/started anew: rows that come once/)],
  })
})
