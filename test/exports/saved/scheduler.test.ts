import { describe, expect, test } from 'vitest'
import { Scheduler } from '../../../src/exports/saved/index.ts'
import type { RunView } from '../../../src/exports/saved/run-view.ts'
import type { SavedView } from '../../../src/exports/saved/saved-exports.ts'
import { lastDue, nextDue } from '../../../src/exports/saved/schedule.ts'
import { AppError, ERRORS } from '../../../src/kernel/index.ts'
import { availableBackends, silentLog } from '../../support/backends.ts'
import { startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** A Wharf, and more schedulers beside its own, whose clock the test moves. What is due in half a day is due only for them. */
async function setup(name: Parameters<typeof startExports>[0]) {
  const started = await startExports(name)
  const { ledger, ask, client, business } = started
  const { key } = client.project
  const source = business.source({ total: 1 })
  const put = async (more: object = {}) => {
    const schedule = {
      cron: `0 ${(new Date(Date.now() + 8 * HOUR).getUTCHours() + 12) % 24} * * *`,
      timezone: 'Asia/Shanghai',
    }
    const body = { source_url: `${source.url}?day={{yesterday}}`, schedule, ...more }
    const answer = await ask('PUT', '/api/saved-exports/daily', { key, body })
    expect(answer.status, await answer.clone().text()).toBe(200)
  }
  const view = async () => (await (await ask('GET', '/api/saved-exports/daily', { key })).json()) as SavedView
  const runs = async () =>
    ((await (await ask('GET', '/api/saved-exports/daily/runs', { key })).json()) as { items: RunView[] })
      .items
  let at = 0
  let refusal: AppError | undefined
  const scheduler = () =>
    new Scheduler(
      { ledger, saved: started.saved, exports: { refusal: async () => refusal }, log: silentLog },
      { now: async () => at },
    )
  return {
    ...started,
    source,
    put,
    view,
    runs,
    scheduler,
    move: (to: number) => {
      at = to
    },
    refuse: (error?: AppError) => {
      refusal = error
    },
  }
}

/** In Shanghai. */
const dayBefore = (at: number) => new Date(at + 8 * HOUR - DAY).toISOString().slice(0, 10)

const signal = new AbortController().signal

describe.each(availableBackends())('schedules on %s', (name) => {
  test('what is due is started once, however many look, for the day that it was due', async () => {
    const all = await setup(name)
    const { put, view, runs, client, source, move } = all
    await put()
    const due = Date.parse((await view()).next_run_at ?? '')
    const many = Array.from({ length: 5 }, () => all.scheduler())
    move(due - 1)
    for (const one of many) expect(await one.runOnce(signal)).toMatchObject({ started: 0 })
    move(due)
    const done = await Promise.all(many.map((one) => one.runOnce(signal)))
    expect(done.reduce((sum, { started }) => sum + started, 0)).toBe(1)
    const [run, ...others] = await runs()
    expect(others).toEqual([])
    expect(run).toMatchObject({ by: 'schedule', due_at: new Date(due).toISOString() })
    expect((await view()).next_run_at).toBe(new Date(due + DAY).toISOString())
    await client.ended(run?.task_id ?? '')
    expect(source.pulls[0]?.target).toContain(`day=${dayBefore(due)}`)
    // People who wait go first.
    const jobs = all.ledger.db.selectFrom('jobs').where('kind', '=', 'export')
    expect(await jobs.select('priority').execute()).toEqual([{ priority: 1 }])
  })

  test('an old leader that comes back cannot start the same due time again', async () => {
    const all = await setup(name)
    const { put, view, runs, ledger, move } = all
    await put()
    const before = await ledger.db.selectFrom('saved_exports').selectAll().executeTakeFirstOrThrow()
    move(Date.parse((await view()).next_run_at ?? ''))
    expect(await all.scheduler().runOnce(signal)).toMatchObject({ started: 1 })
    // Even if the row said again that it is due.
    const { due_at, wake_at } = before
    await ledger.db.updateTable('saved_exports').set({ due_at, wake_at }).execute()
    expect(await all.scheduler().runOnce(signal)).toMatchObject({ started: 0 })
    expect(await runs()).toHaveLength(1)
  })

  test('what an outage has left out is made up for once, for its last due time', async () => {
    const all = await setup(name)
    const { put, view, runs, client, source, move } = all
    await put()
    const due = Date.parse((await view()).next_run_at ?? '')
    move(due + 5 * DAY + HOUR)
    const one = all.scheduler()
    expect(await one.runOnce(signal)).toMatchObject({ started: 1 })
    expect(await one.runOnce(signal)).toMatchObject({ started: 0 })
    const [run, ...others] = await runs()
    expect(others).toEqual([])
    expect(run?.due_at).toBe(new Date(due + 5 * DAY).toISOString())
    expect((await view()).next_run_at).toBe(new Date(due + 6 * DAY).toISOString())
    await client.ended(run?.task_id ?? '')
    expect(source.pulls[0]?.target).toContain(`day=${dayBefore(due + 5 * DAY)}`)
  })

  test('one that cannot be started says so; a quota is waited for, a mistake is not', async () => {
    const all = await setup(name)
    const { put, view, runs, ask, client, move, refuse } = all
    const { key } = client.project
    await ask('PUT', '/api/templates/gone', { key, body: { template: { id: 'Id' } } })
    await put({ template: { use: 'gone' } })
    const due = Date.parse((await view()).next_run_at ?? '')
    const one = all.scheduler()
    move(due)
    refuse(new AppError(ERRORS.QUOTA_ROWS, 'no rows left today'))
    expect(await one.runOnce(signal)).toMatchObject({ started: 0 })
    expect(await view()).toMatchObject({
      failing: { code: 'QUOTA_ROWS', message: 'no rows left today', since: new Date(due).toISOString() },
      next_run_at: new Date(due).toISOString(),
    })
    expect(await runs()).toEqual([])
    refuse(undefined)
    await ask('DELETE', '/api/templates/gone', { key })
    expect(await one.runOnce(signal), 'not at once').toMatchObject({ started: 0, nextInMs: 20_000 })
    move(due + 2 * 60_000)
    expect(await one.runOnce(signal)).toMatchObject({ started: 0 })
    expect(await runs()).toMatchObject([
      {
        task_id: null,
        status: 'failed',
        error: { code: 'TEMPLATE_NOT_FOUND' },
        due_at: new Date(due).toISOString(),
      },
    ])
    expect(await view()).toMatchObject({
      failing: { code: 'TEMPLATE_NOT_FOUND' },
      next_run_at: new Date(due + DAY).toISOString(),
    })
    await ask('PUT', '/api/templates/gone', { key, body: { template: { id: 'Id' } } })
    move(due + DAY)
    expect(await one.runOnce(signal)).toMatchObject({ started: 1 })
    const [last] = await runs()
    await client.ended(last?.task_id ?? '')
    expect(await view()).toMatchObject({ failing: null, last_run: { status: 'succeeded' } })
  })

  test('a failed export makes its saved export say so, and a project that is gone runs nothing', async () => {
    const all = await setup(name)
    const { put, view, runs, business, client, ledger, ask, move } = all
    const broken = business.source({
      total: 2,
      instead: (_, response) => Boolean(response.writeHead(400).end('no')),
    })
    await put({ source_url: broken.url })
    const due = Date.parse((await view()).next_run_at ?? '')
    const one = all.scheduler()
    move(due)
    await one.runOnce(signal)
    await client.ended((await runs())[0]?.task_id ?? '')
    expect(await view()).toMatchObject({
      last_run: { status: 'failed' },
      failing: { code: expect.stringMatching(/^SOURCE_/) },
    })
    await ask('DELETE', `/api/projects/${client.project.id}`, { key: ADMIN_TOKEN })
    move(due + DAY)
    expect(await one.runOnce(signal)).toMatchObject({ started: 0 })
    const { wake_at } = await ledger.db
      .selectFrom('saved_exports')
      .select('wake_at')
      .executeTakeFirstOrThrow()
    expect(wake_at).toBeNull()
  })

  test('one that fails again and again fails since the first failure after its last success', async () => {
    const all = await setup(name)
    const { put, view, runs, business, client, move } = all
    let works = true
    const source = business.source({
      total: 2,
      instead: (_, response) => !works && Boolean(response.writeHead(400).end('no')),
    })
    await put({ source_url: source.url })
    const due = Date.parse((await view()).next_run_at ?? '')
    const one = all.scheduler()
    for (const [day, isGood] of [false, true, false, false, false].entries()) {
      works = isGood
      move(due + day * DAY)
      await one.runOnce(signal)
      await client.ended((await runs())[0]?.task_id ?? '')
    }
    const [, , first] = await runs()
    expect((await view()).failing?.since).toBe(first?.finished_at)
  })

  test('a schedule that stays keeps its due time, another one is counted from now', async () => {
    const { put, view } = await setup(name)
    await put()
    const { next_run_at } = await view()
    await put({ title: 'T' })
    expect((await view()).next_run_at).toBe(next_run_at)
    await put({ schedule: { cron: '@yearly', timezone: 'UTC' } })
    expect((await view()).next_run_at).toMatch(/-01-01T00:00:00\.000Z$/)
    await put({ schedule: undefined })
    expect(await view()).toMatchObject({ next_run_at: null, schedule: null })
  })
})

test('an hour that the clocks leave out runs at its end, and one that comes twice runs once', () => {
  const newYork = (cron: string) => ({ cron, timezone: 'America/New_York' })
  const times = (cron: string, from: string, count: number) => {
    const found: string[] = []
    for (let at = Date.parse(from); found.length < count; at = Date.parse(found.at(-1) ?? ''))
      found.push(new Date(nextDue(newYork(cron), at) ?? 0).toISOString())
    return found
  }
  expect(times('30 2 * * *', '2026-03-07T12:00:00Z', 2)).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-09T06:30:00.000Z',
  ])
  expect(times('30 1 * * *', '2026-10-31T12:00:00Z', 2)).toEqual([
    '2026-11-01T05:30:00.000Z',
    '2026-11-02T06:30:00.000Z',
  ])
  expect(times('0 * * * *', '2026-11-01T05:30:00Z', 2)).toEqual([
    '2026-11-01T06:00:00.000Z',
    '2026-11-01T07:00:00.000Z',
  ])
  const last = (cron: string, at: string) =>
    new Date(lastDue(newYork(cron), Date.parse(at)) ?? 0).toISOString()
  expect(last('30 1 * * *', '2026-11-01T23:00:00Z')).toBe('2026-11-01T05:30:00.000Z')
  expect(last('30 1 * * *', '2026-11-01T05:30:00Z')).toBe('2026-11-01T05:30:00.000Z')
  expect(last('30 1 * * *', '2026-11-01T05:29:59.999Z')).toBe('2026-10-31T05:30:00.000Z')
})
