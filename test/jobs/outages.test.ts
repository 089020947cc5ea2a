import { describe, expect, test } from 'vitest'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import { availableBackends } from '../support/backends.ts'
import { eventually } from '../support/engines.ts'
import { fleet, type Instance, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { until } from '../support/until.ts'

const away = () => new AppError(ERRORS.STORAGE_UNAVAILABLE, 'the store is away')

/** Lets a job that waits become due, and the leader publish it. */
async function passPause(a: Instance, advance: (ms: number) => Promise<void>): Promise<void> {
  await advance(120_000)
  await a.engine.overdue.runOnce(new AbortController().signal)
}

const paused = (a: Instance, jobId: string, times: number) =>
  until(`the job was put back ${times} times`, async () => {
    const row = await a.ledger.db
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', jobId)
      .executeTakeFirstOrThrow()
    return row.state === 'pending' && row.outages === times && row
  })

describe.each(availableBackends())('an outage on %s', (name) => {
  test('puts the job back without an attempt lost, ever more slowly, and says what it waits for', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([{ ...kind, maxAttempts: 1, outageBackoff: steady }])
    const { jobId } = await submit(a, 'work')
    const pauses: number[] = []
    let since: number | null = null
    for (let times = 1; times <= 8; times++) {
      const run = await nth(times)
      expect(run.context.job).toMatchObject({ attempts: 1, outages: times - 1 })
      expect(run.context.isFinal(away())).toBe(false)
      run.fail(away())
      const row = await paused(a, jobId, times)
      since ??= row.outage_since
      expect(row).toMatchObject({
        attempts: 0,
        outage: 'store',
        outage_since: since,
        error_code: 'STORAGE_UNAVAILABLE',
      })
      pauses.push(row.due_at - (await a.ledger.now()))
      await passPause(a, advance)
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
    ;(await nth(9)).finish('done')
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
    const told = await eventually(a.engine, ({ data }) => data.waiting_for !== undefined)
    expect(told).toMatchObject({
      status: 'pending',
      waiting_for: { what: 'store', message: 'the store is away' },
    })
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'succeeded', attempts: 1, error: null })
  })

  test('gives the slot to the next job while the first one waits', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([kind], { slots: { default: 1 } })
    const { jobId } = await submit(a, 'work')
    const next = await submit(a, 'work')
    const first = await nth(1)
    first.fail(away())
    const second = await nth(2)
    expect([first, second].map(({ context }) => context.job.id).toSorted()).toEqual(
      [jobId, next.jobId].toSorted(),
    )
    second.finish()
  })

  test('does not count towards the time limit of a job', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([{ ...kind, timeoutMs: 60_000 }])
    const { jobId } = await submit(a, 'work')
    for (let times = 1; times <= 3; times++) {
      const run = await nth(times)
      a.clock.advance(40_000)
      expect(run.context.signal.aborted).toBe(false)
      run.fail(away())
      await paused(a, jobId, times)
      await passPause(a, advance)
    }
    ;(await nth(4)).finish()
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
  })

  test('that comes long after the last one begins with a short pause again', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([{ ...kind, outageBackoff: steady }], { leaseMs: 3_600_000 })
    const { jobId } = await submit(a, 'work')
    for (let times = 1; times <= 3; times++) {
      ;(await nth(times)).fail(away())
      await paused(a, jobId, times)
      await passPause(a, advance)
    }
    const run = await nth(4)
    a.clock.advance(10 * 60_000)
    run.fail(away())
    const row = await paused(a, jobId, 1)
    expect(row.due_at - (await a.ledger.now())).toBe(1_000)
    expect(row.outage_since).toBe(await a.ledger.now())
  })

  test('becomes a failure once its kind gives up, unless the job has made progress', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([
      {
        ...kind,
        maxAttempts: 1,
        outageBackoff: steady,
        givesUp: (outage, job, progress) =>
          job.outages >= 1 && progress === job.progress
            ? new AppError(ERRORS.JOB_FAILED, `given up: ${outage.message}`, { retryable: false })
            : undefined,
      },
    ])
    const { jobId } = await submit(a, 'work')
    ;(await nth(1)).fail(away())
    await paused(a, jobId, 1)
    await passPause(a, advance)
    const second = await nth(2)
    second.context.progress('a step')
    expect(second.context.isFinal(away())).toBe(false)
    second.fail(away())
    await paused(a, jobId, 2)
    await passPause(a, advance)
    const third = await nth(3)
    expect(third.context.isFinal(away())).toBe(true)
    third.fail(away())
    await eventually(a.engine, ({ type }) => type === 'work.failed')
    expect((await a.engine.jobs.job(jobId))?.error?.message).toMatch(/^given up: /)
  })

  test('between two failures leaves the attempts as they were', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([{ ...kind, maxAttempts: 2 }])
    const { jobId } = await submit(a, 'work')
    ;(await nth(1)).fail(new Error('wrong'))
    await until('it failed once', async () => (await a.engine.jobs.job(jobId))?.error?.message === 'wrong')
    await passPause(a, advance)
    ;(await nth(2)).fail(away())
    await paused(a, jobId, 1)
    await passPause(a, advance)
    const last = await nth(3)
    expect(last.context.job.attempts).toBe(2)
    expect(last.context.isFinal(new Error('wrong again'))).toBe(true)
    last.fail(new Error('wrong again'))
    await eventually(a.engine, ({ type }) => type === 'work.failed')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ attempts: 2, error: { message: 'wrong again' } })
  })

  test.each([
    [
      Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
      'STORAGE_FULL',
      'disk',
    ],
    [Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }), 'STORAGE_UNAVAILABLE', 'store'],
    [new AppError(ERRORS.SOURCE_UNREACHABLE, 'page 1', { cause: away() }), 'STORAGE_UNAVAILABLE', 'store'],
    [new AppError(ERRORS.LEDGER_UNAVAILABLE, 'away'), 'LEDGER_UNAVAILABLE', 'ledger'],
    [new AppError(ERRORS.TASK_STORE_UNAVAILABLE, 'away'), 'TASK_STORE_UNAVAILABLE', 'redis'],
  ])('is what %s tells of', async (error, error_code, outage) => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([{ ...kind, maxAttempts: 1 }])
    const { jobId } = await submit(a, 'work')
    ;(await nth(1)).fail(error)
    expect(await paused(a, jobId, 1)).toMatchObject({ error_code, outage, attempts: 0 })
  })
})

describe.each(availableBackends())('what a job has left at its instance, on %s,', (name) => {
  const PAUSE_MS = 60_000

  /** Two instances with one slot each; the job ran at `home`, and has been put back. */
  async function putBack(error: Error = away()) {
    const { instance, advance } = await fleet(name)
    const start = async () => {
      const { kind, nth, runs } = ledByHand('work')
      const pauses = { base: PAUSE_MS, factor: 1, max: PAUSE_MS, jitter: 0 }
      const made = { ...kind, goesOnAtHome: true, outageBackoff: pauses, backoff: pauses }
      return { ...(await instance([made], { slots: { default: 1 } })), nth, runs }
    }
    const other = await start()
    const busy = await submit(other, 'work')
    await other.nth(1)
    const home = await start()
    const { jobId } = await submit(other, 'work')
    ;(await home.nth(1)).fail(error)
    await until('it was put back', async () => (await home.engine.jobs.job(jobId))?.state === 'pending')
    return { home, other, jobId, busy, advance }
  }

  type Ground = Awaited<ReturnType<typeof putBack>>

  const free = async ({ other, busy }: Ground) => {
    other.runs[0]?.finish()
    await until('it is free', async () => (await other.engine.jobs.job(busy.jobId))?.state === 'succeeded')
  }

  const wake = ({ other, jobId }: Ground) =>
    other.dispatcher.publish([{ id: jobId, pool: 'default', delayMs: 0 }])

  /** They are alive, and keep what they work on. */
  const beat = (...those: Instance[]) =>
    Promise.all(those.flatMap(({ engine }) => [engine.heartbeat.runOnce(), engine.worker.runOnce()]))

  test.each([
    ['an outage', away()],
    ['a failure', new Error('wrong')],
  ])('is where it goes on after %s, whoever hears of it first', async (_, error) => {
    const ground = await putBack(error)
    const { home, other, advance } = ground
    await free(ground)
    await advance(PAUSE_MS)
    await beat(home, other)
    await wake(ground)
    ;(await home.nth(2)).finish()
    expect(other.runs).toHaveLength(1)
  })

  test('waits there for a slot', async () => {
    const ground = await putBack()
    const { home, other, jobId, advance } = ground
    const second = await submit(other, 'work')
    expect((await home.nth(2)).context.job.id).toBe(second.jobId)
    await free(ground)
    await advance(PAUSE_MS)
    await beat(home, other)
    const offered = new Promise<void>((heard) => home.bus.subscribe('home', () => heard()))
    await wake(ground)
    await offered
    home.runs[1]?.finish()
    const third = await home.nth(3)
    expect(third.context.job.id).toBe(jobId)
    third.finish()
    expect(other.runs).toHaveLength(1)
  })

  test('is left behind when the leader has to publish it again', async () => {
    const ground = await putBack()
    const { home, other, jobId, advance } = ground
    await submit(other, 'work')
    const second = await home.nth(2)
    await free(ground)
    await advance(PAUSE_MS)
    await beat(home, other)
    const offered = new Promise<void>((heard) => home.bus.subscribe('home', () => heard()))
    await wake(ground)
    await offered
    expect(other.runs).toHaveLength(1)
    await advance(5_000)
    await other.engine.overdue.runOnce(new AbortController().signal)
    const again = await other.nth(2)
    expect(again.context.job).toMatchObject({ id: jobId, attempts: 1, fence: 2 })
    again.finish()
    second.finish()
  })

  test('is left behind at once when that instance is gone', async () => {
    const ground = await putBack()
    const { home, other, jobId, advance } = ground
    await submit(other, 'work')
    const second = await home.nth(2)
    await free(ground)
    await advance(PAUSE_MS)
    await beat(other)
    await wake(ground)
    const again = await other.nth(2)
    expect(again.context.job.id).toBe(jobId)
    again.finish()
    second.finish()
  })
})

/** Without chance. */
const steady = { base: 1_000, factor: 2, max: 60_000, jitter: 0 }
