import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { jobsToNotice, Overview } from '../../src/jobs/index.ts'
import { OPEN_JOBS } from '../../src/jobs/overview/overview.ts'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { availableBackends } from '../support/backends.ts'
import { fleet, type Instance, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { until } from '../support/until.ts'

const MINUTE = 60_000
const never = new AbortController().signal

describe.each(availableBackends())('the overview on %s', (name) => {
  async function setup() {
    const { instance, advance } = await fleet(name)
    const exports = ledByHand('export')
    const callbacks = ledByHand('callback')
    const first = await instance([
      { ...exports.kind, pool: 'export', maxAttempts: 1, keepMs: MINUTE },
      { ...callbacks.kind, pool: 'callback' },
    ])
    const overview = new Overview(first.engine, {
      exports: { kind: 'export' },
      processing: { kind: 'processing', depth: async () => ({ queued: 7, running: 8 }) },
    })
    const begin = async (number: number) => {
      const { jobId } = await submit(first, 'export')
      return { jobId, run: await exports.nth(number) }
    }
    return { instance, advance, first, overview, begin, callbacks }
  }

  test('an idle installation has an hour of empty minutes', async () => {
    const { overview, first } = await setup()
    const { at, domains } = await overview.read()
    const { per_minute: minutes, ...rest } = domains.exports
    expect(rest).toEqual({
      queued: 0,
      running: 0,
      finished_last_hour: 0,
      failed_last_hour: 0,
      duration_ms: null,
    })
    expect(minutes).toHaveLength(60)
    const now = await first.ledger.now()
    expect(at).toBe(new Date(now).toISOString())
    expect(minutes.at(-1)).toEqual({ minute: new Date(now).toISOString(), finished: 0, failed: 0 })
    expect(minutes[0]?.minute).toBe(new Date(now - 59 * MINUTE).toISOString())
  })

  test('what is open, what ended and how long it took are told by domain', async () => {
    const { overview, first, begin, advance } = await setup()
    for (const [index, seconds] of [1, 2, 10].entries()) {
      const { jobId, run } = await begin(index + 1)
      await advance(seconds * 1_000)
      run.finish()
      await ended(first.ledger, jobId)
    }
    const broken = await begin(4)
    broken.run.fail(new AppError(ERRORS.SOURCE_UNREACHABLE, 'away', { retryable: false }))
    await ended(first.ledger, broken.jobId)
    await begin(5)
    await submit(first, 'export', { dueAt: (await first.ledger.now()) + MINUTE })
    const { domains } = await overview.read()
    expect(domains.exports).toMatchObject({
      queued: 1,
      running: 1,
      finished_last_hour: 3,
      failed_last_hour: 1,
      duration_ms: { p50: 2_000, p95: 10_000 },
    })
    expect(domains.exports.per_minute.at(-1)).toMatchObject({ finished: 3, failed: 1 })
    expect(domains.processing).toMatchObject({ queued: 7, running: 8, finished_last_hour: 0 })
  })

  test('an end is told for an hour, also when its job has been deleted, and then forgotten', async () => {
    const { overview, first, begin, advance } = await setup()
    const { jobId, run } = await begin(1)
    run.finish()
    await ended(first.ledger, jobId)
    await advance(59 * MINUTE)
    await first.engine.retention.runOnce(never)
    expect(await first.ledger.db.selectFrom('jobs').select('id').execute()).toEqual([])
    const { per_minute: minutes, finished_last_hour: finished } = (await overview.read()).domains.exports
    expect([minutes[0]?.finished, finished]).toEqual([1, 1])
    await advance(MINUTE + 1)
    expect((await overview.read()).domains.exports.finished_last_hour).toBe(0)
    await first.engine.retention.runOnce(never)
    expect(await first.ledger.db.selectFrom('ended_work').selectAll().execute()).toEqual([])
  })

  test('what ended is told for a month, in steps that are long enough, and its single ends are forgotten', async () => {
    const { overview, first, advance } = await setup()
    const { ledger } = first
    const note = async (failed: number) =>
      ledger.db
        .insertInto('ended_work')
        .values({ kind: 'export', at: await ledger.now(), failed, duration_ms: 1 })
        .execute()
    const began = await ledger.now()
    const told = async (range: 'hour' | 'day' | 'month') => {
      const { domains } = await overview.history(({ hour: '1h', day: '24h', month: '30d' } as const)[range])
      const { finished, failed, steps } = domains.exports
      expect(steps.reduce((sum, step) => sum + step.finished + step.failed, 0)).toBe(finished + failed)
      return [finished, failed]
    }
    await note(0)
    await note(1)
    expect([await told('hour'), await told('day'), await told('month')]).toEqual(Array(3).fill([1, 1]))
    // One at a time, as a leader does: what was added up is not added up again.
    for (let hours = 0; hours < 3; hours++) {
      await advance(60 * MINUTE)
      await first.engine.retention.runOnce(never)
      await first.engine.retention.runOnce(never)
    }
    expect(await ledger.db.selectFrom('ended_work').selectAll().execute()).toEqual([])
    await note(0)
    expect([await told('hour'), await told('day'), await told('month')]).toEqual([
      [1, 0],
      [2, 1],
      [2, 1],
    ])
    const { steps } = (await overview.history('24h')).domains.exports
    const step = steps.find(({ failed }) => failed > 0)
    expect(step?.at).toBe(new Date(Math.floor(began / (30 * MINUTE)) * 30 * MINUTE).toISOString())
    await advance(32 * 24 * 60 * MINUTE)
    await first.engine.retention.runOnce(never)
    expect(await told('month')).toEqual([0, 0])
  })

  test('the newest failures and the longest waits are told with what they are about', async () => {
    const { first, begin, advance } = await setup()
    const broken: string[] = []
    for (let number = 1; number <= 7; number++) {
      const { jobId, run } = await begin(number)
      run.fail(new AppError(ERRORS.SOURCE_UNREACHABLE, `away ${number}`, { retryable: false }))
      await ended(first.ledger, jobId)
      broken.unshift(jobId)
      await advance(1_000)
    }
    const late = await submit(first, 'export', { dueAt: (await first.ledger.now()) + MINUTE })
    const overview = new Overview(first.engine, {
      exports: {
        kind: 'export',
        attention: () =>
          jobsToNotice(first.ledger, 'export', async (ids) => {
            const known = ids.filter((id) => id !== broken[1])
            return new Map(known.map((id) => [id, { id, name: `job ${id}`, project_id: null }]))
          }),
      },
    })
    const { failures, waiting } = (await overview.attention()).exports
    // The one that nobody knows is left out; one that is due later does not wait yet.
    expect(failures.map(({ id }) => id)).toEqual([0, 2, 3, 4].map((index) => broken[index]))
    expect(failures[0]?.error).toEqual({ code: 'SOURCE_UNREACHABLE', message: 'away 7' })
    expect(waiting).toEqual([])
    expect(late.jobId).toBeDefined()
  })

  test('the longest waits are in the order of the requests, with what they wait for, also between two tries', async () => {
    const { first, begin, advance } = await setup()
    const asked: { jobId: string; at: string }[] = []
    const overview = new Overview(first.engine, {
      exports: {
        kind: 'export',
        attention: () =>
          jobsToNotice(
            first.ledger,
            'export',
            async (ids) => new Map(ids.map((id) => [id, { id, name: id, project_id: null }])),
          ),
      },
    })
    for (let number = 1; number <= 2; number++) {
      const at = new Date(await first.ledger.now()).toISOString()
      const { jobId, run } = await begin(number)
      asked.push({ jobId, at })
      await advance(MINUTE)
      run.fail(new AppError(ERRORS.STORAGE_UNAVAILABLE, 'the store is away'))
      await until('it was put back', async () => (await first.engine.jobs.job(jobId))?.state === 'pending')
    }
    const { waiting } = (await overview.attention()).exports
    expect(waiting).toMatchObject(
      asked.map(({ jobId, at }) => ({
        ...{ id: jobId, at },
        waiting_for: { what: 'store', message: 'the store is away' },
      })),
    )
  })

  test('whoever looks again sees what ended late in a minute, and an older minute is not read again', async () => {
    const { overview, first, advance } = await setup()
    const { ledger } = first
    const began = await ledger.now()
    const end = (failed: number) =>
      ledger.db
        .insertInto('ended_work')
        .values({ kind: 'export', at: began, failed, duration_ms: 1 })
        .execute()
    const told = async () => {
      const { per_minute: minutes, ...rest } = (await overview.read()).domains.exports
      expect(minutes.find(({ minute }) => minute === new Date(began).toISOString())).toMatchObject({
        finished: rest.finished_last_hour,
        failed: rest.failed_last_hour,
      })
      return [rest.finished_last_hour, rest.failed_last_hour]
    }
    await end(0)
    expect(await told()).toEqual([1, 0])
    await end(1)
    expect(await told()).toEqual([1, 1])
    await advance(2 * MINUTE)
    await end(0)
    expect(await told()).toEqual([2, 1])
    await advance(MINUTE)
    expect(await told()).toEqual([2, 1])
    await ledger.db.deleteFrom('ended_work').execute()
    expect(await told()).toEqual([2, 1])
    await advance(57 * MINUTE)
    expect((await overview.read()).domains.exports.finished_last_hour).toBe(0)
  })

  test('a cancelled job and a callback are no ends', async () => {
    const { first, begin, callbacks } = await setup()
    const { jobId } = await begin(1)
    await first.ledger.transaction((tx) => first.engine.cancelJob(tx, jobId))
    await ended(first.ledger, jobId)
    const callback = await submit(first, 'callback')
    const run = await callbacks.nth(1)
    run.finish()
    await ended(first.ledger, callback.jobId)
    expect(await first.ledger.db.selectFrom('ended_work').selectAll().execute()).toEqual([])
  })

  test('the living instances are listed with the one that leads', async () => {
    const { overview, first, instance, advance } = await setup()
    await advance(1)
    const second = await instance([])
    const ids = ({ instances }: Awaited<ReturnType<typeof overview.read>>) =>
      instances.map(({ instance_id, leader }) => [instance_id, leader])
    const before = await overview.read()
    expect(ids(before)).toEqual([
      [first.engine.instance, true],
      [second.engine.instance, false],
    ])
    expect(before.leader).toBe(first.engine.instance)
    await second.engine.stop()
    expect(ids(await overview.read())).toEqual([[first.engine.instance, true]])
    // Nobody has renewed anything for long: neither alive nor leading, though the rows are still there.
    await advance(10 * MINUTE)
    expect(await overview.read()).toMatchObject({ instances: [], leader: null })
  })

  test('open jobs and ended ones are found by index, whatever else the ledger holds', async () => {
    const { first } = await setup()
    const { ledger } = first
    await manyOldJobs(first)
    expect(await planOf(ledger, OPEN_JOBS)).not.toMatch(/Seq Scan on jobs|SCAN jobs(?! USING INDEX)/)
    const ends = "select count(*) from ended_work where kind = 'export' and at >= 1700000000000"
    expect(await planOf(ledger, ends)).toMatch(/ended_work_of_kind/)
  })
})

async function ended(ledger: Ledger, jobId: string): Promise<void> {
  await until('the job has ended', async () => {
    const job = await ledger.db.selectFrom('jobs').select('state').where('id', '=', jobId).executeTakeFirst()
    return job !== undefined && ['succeeded', 'failed', 'cancelled'].includes(job.state)
  })
}

async function manyOldJobs({ ledger }: Instance): Promise<void> {
  await sql`insert into jobs (id, kind, state, payload, due_at, created_at)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
    select 'old-' || n, 'export', 'succeeded', 'null', 0, 0 from numbers`.execute(ledger.db)
  await sql`insert into ended_work (kind, at, failed, duration_ms)
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 20000)
    select 'export', n, 0, 1 from numbers`.execute(ledger.db)
  await sql.raw('analyze').execute(ledger.db)
}

async function planOf(ledger: Ledger, query: string): Promise<string> {
  const explain = ledger.dialect === 'sqlite' ? 'explain query plan' : 'explain'
  const { rows } = await sql.raw<Record<string, unknown>>(`${explain} ${query}`).execute(ledger.db)
  return rows.map((row) => Object.values(row).join(' ')).join('\n')
}
