import { expect, test } from 'vitest'
import { startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { until } from '../../support/until.ts'

/** Waits of minutes pass in a moment; nobody loses a lease over it. */
const hurried = () => ({ clock: new FastClock(200), env: { WHARF_LEASE_SECONDS: '3600' } })

test('a source that refuses for good is asked once', async () => {
  const { business, client } = await startExports('embedded', hurried())
  for (const status of [400, 401, 403, 404, 405, 410, 422]) {
    const source = business.source({
      instead: (_pull, response) => {
        response.writeHead(status).end('{"error": "no"}')
        return true
      },
    })
    const view = await client.ended((await client.start({ source_url: source.url })).task_id)
    expect({ ...view, asked: source.pulls.length }).toMatchObject({
      status: 'failed',
      attempts: 1,
      asked: 1,
      error: { code: 'SOURCE_STATUS' },
    })
    expect(view.error?.message).toContain(String(status))
  }
})

test('a source that goes on answering with a wrong page is asked six times in all', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const source = business.source({
    instead: (_pull, response) => {
      response.end('<html>please log in</html>')
      return true
    },
  })
  const view = await client.ended((await client.start({ source_url: source.url })).task_id)
  expect(view).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'SOURCE_NOT_JSON' } })
  expect(source.pulls).toHaveLength(6)
})

test('an export says that it waits for its source: between the tries for a page, and between attempts', async () => {
  const { business, client } = await startExports('embedded')
  let working = false
  const source = business.source({
    instead: (pull, response) => {
      if (working || pull.pageSize === 1) return false
      response.writeHead(503, { 'retry-after': '600' }).end('busy')
      return true
    },
  })
  const { task_id } = await client.start({ source_url: source.url })
  const view = await until('the view says so', async () => {
    const seen = await client.task(task_id)
    return seen.waiting_for && seen
  })
  expect(view).toMatchObject({
    status: 'processing',
    stage: 'fetching',
    waiting_for: { what: 'source', code: 'SOURCE_STATUS', message: 'page 0 was answered with status 503' },
  })
  const { since, next_try_at } = view.waiting_for as { since: string; next_try_at: string }
  expect(Date.parse(next_try_at)).toBeGreaterThan(Date.parse(since))
  const events = await client.items<{ waiting_for?: { what: string } }>(task_id, 'events')
  expect(events.some(({ waiting_for }) => waiting_for?.what === 'source')).toBe(true)
  working = true
})

test('an export that failed once and will be tried again says so', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const source = business.source({
    instead: (pull, response) => {
      if (pull.pageSize === 1 || pull.again >= 6) return false
      response.writeHead(500).end('oops')
      return true
    },
  })
  const { task_id } = await client.start({ source_url: source.url })
  expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded', attempts: 2, waiting_for: null })
  const events = await client.items<{ type: string }>(task_id, 'events')
  expect(events.filter(({ type }) => type === 'export.pending')[1]).toMatchObject({
    status: 'pending',
    waiting_for: { what: 'source', code: 'SOURCE_STATUS' },
  })
})
