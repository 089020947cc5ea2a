import { sql } from 'kysely'
import { expect, inject, onTestFinished, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import { availableBackends, scaledOut } from '../../support/backends.ts'
import { ExportClient, problemOf, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { newProject } from '../../support/http.ts'
import { until } from '../../support/until.ts'

test('a project with too many unfinished exports is told to wait, others are not held up', async () => {
  const { wharf, business, client } = await startExports('embedded', {
    env: { WHARF_EXPORT_PROJECT_LIMIT: '2' },
  })
  const source = business.source({ total: 1 })
  source.holdFrom(0)
  const body = { source_url: source.url }
  const first = await client.start(body)
  const second = await client.start({ ...body, operator_id: 'shares the fetch, but counts' })
  const answer = await client.post({ ...body, fresh: true })
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  const problem = await problemOf(answer)
  expect(problem).toMatchObject({ status: 429, code: 'EXPORT_LIMIT' })
  expect(problem.detail).toMatch(/2 unfinished exports.*may have 2/)
  const other = new ExportClient(wharf.ask, await newProject(wharf))
  await other.start(body)
  await client.ask('DELETE', `/api/exports/${second.task_id}`, { key: client.project.key })
  const third = await client.start({ ...body, fresh: true })
  source.release()
  for (const { task_id } of [first, third])
    expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded' })
})

test.each(availableBackends())(
  'requests at the same moment cannot exceed the limit together (%s)',
  async (backend) => {
    const { business, client } = await startExports(backend, { env: { WHARF_EXPORT_PROJECT_LIMIT: '4' } })
    const source = business.source({ total: 1 })
    source.holdFrom(0)
    const bodies = [1, 2].map((n) => ({ source_url: `${source.url}?n=${n}` }))
    for (const body of bodies) await client.start(body)
    // Some share a fetch that is under way, others need one of their own.
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, n) => client.post({ ...bodies[n % 2], fresh: n % 3 === 0 })),
    )
    const accepted = answers.filter(({ status }) => status === 202)
    expect(accepted).toHaveLength(2)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(22)
    source.release()
  },
)

test.runIf(availableBackends().includes('postgres + redis'))(
  'of two requests that have both seen the last place only one takes it',
  async () => {
    const backend = await scaledOut({ postgresUrl: inject('postgresUrl') as string })
    onTestFinished(() => backend.remove())
    const env = { WHARF_EXPORT_PROJECT_LIMIT: '3' }
    const { business, client, ledger } = await startExports('postgres + redis', { env, backend })
    const source = business.source({ total: 1 })
    source.holdFrom(0)
    // They share different fetches, so that nothing but the project is common to them.
    const bodies = [1, 2].map((n) => ({ source_url: `${source.url}?n=${n}` }))
    for (const body of bodies) await client.start(body)
    // From here on whoever makes a task is held in the middle of the commit, until the test lets go of the lock.
    await sql`create function hold() returns trigger language plpgsql
      as 'begin perform pg_advisory_xact_lock_shared(1); return null; end'`.execute(ledger.db)
    await sql`create constraint trigger hold after insert on tasks deferrable initially deferred
      for each row execute function hold()`.execute(ledger.db)
    // Workers that want to write to the same jobs are held up as well, and do not count.
    const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0
        and (query ilike 'commit%' or query ilike '%for no key update%' or query ilike '%wharf_admit%')`
    const asked = await ledger.transaction(async ({ db }) => {
      await sql`select pg_advisory_xact_lock(1)`.execute(db)
      const asked = bodies.map((body) => client.post(body))
      // Not within the transaction, which would be told the same each time.
      await until('both are held', async () => (await waiting.execute(ledger.db)).rows[0]?.count === 2)
      return { answers: Promise.all(asked) }
    })
    const statuses = (await asked.answers).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([202, 429])
    source.release()
  },
)

test.each(availableBackends())(
  'fifty exports of one project do not starve the one of another (%s)',
  async (backend) => {
    const { wharf, business, client, engine } = await startExports(backend, {
      env: { WHARF_EXPORT_CONCURRENCY: '1' },
    })
    const source = business.source({ total: 1 })
    source.holdFrom(0)
    const many = await Promise.all(
      Array.from({ length: 50 }, (_, n) => client.start({ source_url: `${source.url}?n=${n}` })),
    )
    const other = new ExportClient(wharf.ask, await newProject(wharf))
    const one = await other.start({ source_url: source.url })
    source.release()
    expect(await other.ended(one.task_id)).toMatchObject({ status: 'succeeded' })
    const events = await engine.events.read(0, {}, 10_000)
    const started = events.filter(({ type }) => type === 'export.processing').map(({ taskId }) => taskId)
    expect(many).toHaveLength(50)
    // One was running already when the other project came; then it is that one's turn.
    expect(started.indexOf(one.task_id)).toBeLessThanOrEqual(1)
  },
)

test('an export in the queue knows its place, and what holds it', async () => {
  const { business, client } = await startExports('embedded', { env: { WHARF_EXPORT_CONCURRENCY: '1' } })
  const source = business.source({ total: 1 })
  source.holdFrom(0)
  const tasks: ExportView[] = []
  for (const n of [0, 1, 2]) tasks.push(await client.start({ source_url: `${source.url}?n=${n}` }))
  await source.untilHeld()
  const places = await Promise.all(
    tasks.map(async ({ task_id }) => (await client.get(task_id, '/position')).json()),
  )
  expect(places).toEqual([
    { position: 0, running: 1, limit: 1, held_by: 'nothing', quota: null },
    { position: 1, running: 1, limit: 1, held_by: 'exports_at_once', quota: null },
    { position: 2, running: 1, limit: 1, held_by: 'exports_at_once', quota: null },
  ])
  expect((await client.task(tasks[2]?.task_id ?? '')).status).toBe('pending')
  await client.ask('DELETE', `/api/exports/${tasks[1]?.task_id}`, { key: client.project.key })
  expect(await client.task(tasks[1]?.task_id ?? '')).toMatchObject({ status: 'cancelled', stage: 'done' })
  source.release()
  expect(await client.ended(tasks[2]?.task_id ?? '')).toMatchObject({ status: 'succeeded' })
  expect(source.pulls.some(({ target }) => target.includes('n=1'))).toBe(false)
})

test('an export that takes too long fails, and can be tried again', async () => {
  const clock = new FastClock(1)
  const { business, client, config } = await startExports('embedded', {
    clock,
    env: { WHARF_EXPORT_TIMEOUT_MINUTES: '1', WHARF_LEASE_SECONDS: '3600' },
  })
  const source = business.source({ total: 1 })
  source.holdFrom(0)
  const { task_id } = await client.start({ source_url: source.url })
  await source.untilHeld()
  clock.advance(61_000)
  const view = await client.ended(task_id)
  expect(view).toMatchObject({ status: 'failed', error: { code: 'JOB_TIMED_OUT' }, attempts: 1 })
  expect(view.error?.message).toMatch(/1 minute/)
  source.release()
  const again = await client.ask('POST', `/api/exports/${task_id}/retry`, { key: client.project.key })
  expect(again.status).toBe(202)
  expect(config.WHARF_EXPORT_TIMEOUT_MINUTES).toBe(1)
  const done = await until('it has succeeded', async () => {
    const task = await client.task(task_id)
    return task.status === 'succeeded' && task
  })
  expect(done).toMatchObject({ error: null, file: { rows: 1 } })
})

test('more rows or bytes than an export may have end it at once, with the reason', async () => {
  const { business, client } = await startExports('embedded', {
    env: { WHARF_EXPORT_MAX_ROWS: '300', WHARF_EXPORT_MAX_BYTES: '1048576' },
  })
  const long = business.source({ total: 301 })
  const many = await client.ended((await client.start({ source_url: long.url })).task_id)
  expect(many).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'SOURCE_TOO_LARGE' } })
  expect(many.error?.message).toMatch(/301 rows.*300/)
  expect(long.pages).toEqual([])
  const wide = business.source({ total: 300, row: (n) => ({ n, text: 'x'.repeat(10_000) }) })
  const large = await client.ended((await client.start({ source_url: wide.url, page_size: 100 })).task_id)
  expect(large).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'SOURCE_TOO_LARGE' } })
})

test('a list is turned page by page while new exports arrive, each shown once', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 1 })
  const refused = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
  const made: string[] = []
  for (let n = 0; n < 7; n++)
    made.push(
      (await client.start({ source_url: source.url, fresh: true, operator_id: n % 2 ? 'odd' : 'even' }))
        .task_id,
    )
  const failed = await client.start({ source_url: refused.url })
  for (const id of [...made, failed.task_id]) await client.ended(id)
  const list = async (query: string) => {
    const path = `/api/projects/${client.project.id}/exports?${query}`
    const answer = await client.ask('GET', path, { key: client.project.key })
    return (await answer.json()) as { items: ExportView[]; next_cursor: string | null }
  }
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Awaited<ReturnType<typeof list>> = await list(`limit=3${cursor && `&cursor=${cursor}`}`)
    expect(page.items.length).toBeLessThanOrEqual(3)
    seen.push(...page.items.map(({ task_id }) => task_id))
    cursor = page.next_cursor
    await client.start({ source_url: source.url, fresh: true })
  }
  expect(seen).toEqual([failed.task_id, ...made.reverse()])
  const odd = await list('operator_id=odd')
  expect(odd.items.map(({ operator_id }) => operator_id)).toEqual(['odd', 'odd', 'odd'])
  const bad = await list('status=failed')
  expect(bad.items).toEqual([await client.task(failed.task_id)])
  for (const query of ['limit=0', 'limit=201', 'cursor=x', 'status=lost']) {
    const path = `/api/projects/${client.project.id}/exports?${query}`
    const problem = await problemOf(client.ask('GET', path, { key: client.project.key }))
    expect({ query, code: problem.code }).toEqual({ query, code: 'REQUEST_INVALID' })
  }
})
