import { describe, expect, test } from 'vitest'
import type { Ledger } from '../../src/ledger/index.ts'
import { availableBackends } from '../support/backends.ts'
import { eventually } from '../support/engines.ts'
import { fleet, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { until } from '../support/until.ts'

const LEASE = 30_000
const never = new AbortController().signal
const oneSlot = { slots: { default: 1 } }

async function leaseOf(ledger: Ledger, jobId: string): Promise<number | null | undefined> {
  const row = await ledger.db
    .selectFrom('jobs')
    .select('lease_until')
    .where('id', '=', jobId)
    .executeTakeFirst()
  return row?.lease_until
}

async function settings(ledger: Ledger): Promise<string[]> {
  return (await ledger.db.selectFrom('settings').select('key').execute()).map(({ key }) => key)
}

describe.each(availableBackends())('leases on %s', (name) => {
  test('a job whose worker was not heard of runs again elsewhere, and the stale worker can write nothing', async () => {
    const { instance, advance } = await fleet(name)
    const [stale, fresh] = [ledByHand('work', { stubborn: true }), ledByHand('work')]
    const a = await instance([stale.kind], oneSlot)
    const { jobId, taskId } = await submit(a, 'work')
    const first = await stale.nth(1)
    const b = await instance([fresh.kind], oneSlot)
    await advance(LEASE + 1)
    expect(await b.engine.overdue.runOnce(never)).toMatchObject({ reclaimed: 1 })
    const second = await fresh.nth(1)
    expect(second.context.job.fence).toBeGreaterThan(first.context.job.fence)
    expect(second.context.job.attempts).toBe(1)

    // While the successor works …
    const write = (key: string) => (run: typeof first) =>
      run.context.transaction(async (tx) => {
        await tx.db.insertInto('settings').values({ key, value: '', updated_at: 0 }).execute()
      })
    await expect(write('stale')(first)).rejects.toMatchObject({ code: 'JOB_LEASE_LOST' })
    first.context.progress({ by: 'stale' })
    await write('fresh')(second)
    first.finish('stale')
    await until('the stale worker has given up', () => a.engine.worker.size === 0)
    second.context.progress({ by: 'fresh' })
    second.finish('fresh')
    await eventually(b.engine, ({ type }) => type === 'work.succeeded')

    // … and after it has ended.
    await expect(write('stale')(first)).rejects.toMatchObject({ code: 'JOB_LEASE_LOST' })
    expect(await settings(b.ledger)).toEqual(['fresh'])
    expect(await b.engine.jobs.job(jobId)).toMatchObject({
      state: 'succeeded',
      result: 'fresh',
      progress: { by: 'fresh' },
      attempts: 1,
      crashes: 1,
    })
    const events = await b.engine.events.read(0, { taskId })
    expect(events.filter(({ type }) => type === 'work.succeeded')).toHaveLength(1)
    expect(events.filter(({ data }) => JSON.stringify(data).includes('stale'))).toEqual([])
  })

  test('a stale worker is told to stop when it next asks for its leases', async () => {
    const { instance, advance } = await fleet(name)
    const [stale, fresh] = [ledByHand('work'), ledByHand('work')]
    const a = await instance([stale.kind], oneSlot)
    await submit(a, 'work')
    const first = await stale.nth(1)
    const b = await instance([fresh.kind], oneSlot)
    await advance(LEASE + 1)
    await b.engine.overdue.runOnce(never)
    const second = await fresh.nth(1)
    await a.engine.worker.runOnce()
    expect(first.context.signal.reason).toMatchObject({ code: 'JOB_LEASE_LOST' })
    await until('the stale worker has given up', () => a.engine.worker.size === 0)
    second.finish('good')
    await eventually(b.engine, ({ type }) => type === 'work.succeeded')
  })

  test('a lease that is renewed in time is never taken away', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    for (let round = 0; round < 5; round++) {
      await advance(LEASE - 1)
      await a.engine.worker.runOnce()
      expect(await a.engine.overdue.runOnce(never)).toMatchObject({ reclaimed: 0 })
    }
    await advance(LEASE - 1)
    await run.context.transaction(async () => undefined)
    await advance(LEASE - 1)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ reclaimed: 0 })
    run.finish('done')
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ attempts: 1, crashes: 0 })
  })

  test('an instance that takes its own job over again keeps the two runs apart', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work', { stubborn: true })
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const first = await nth(1)
    await advance(LEASE + 1)
    await a.engine.overdue.runOnce(never)
    const second = await nth(2)
    expect(a.engine.worker.size).toBe(2)
    await a.engine.worker.runOnce()
    expect(first.context.signal.reason).toMatchObject({ code: 'JOB_LEASE_LOST' })
    expect(second.context.signal.aborted).toBe(false)
    first.finish('stale')
    await until('the first run is over', () => a.engine.worker.size === 1)
    // The second run is still known: its lease is renewed and a cancel reaches it.
    await advance(LEASE - 1)
    await a.engine.worker.runOnce()
    expect(await leaseOf(a.ledger, jobId)).toBe((await a.ledger.now()) + LEASE)
    await a.ledger.transaction((tx) => a.engine.cancelJob(tx, jobId))
    await until('the cancel has arrived', () => second.context.signal.aborted)
    second.fail(second.context.signal.reason)
    await eventually(a.engine, ({ type }) => type === 'work.cancelled')
  })

  test('a job over which workers die again and again is given up', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('deadly', { stubborn: true })
    const a = await instance([{ ...kind, maxCrashes: 3 }])
    const { jobId } = await submit(a, 'deadly')
    for (let crash = 1; crash <= 3; crash++) {
      await nth(crash)
      await advance(LEASE + 1)
      expect(await a.engine.overdue.runOnce(never)).toMatchObject({ reclaimed: 1 })
    }
    await eventually(a.engine, ({ type }) => type === 'deadly.failed')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({
      state: 'failed',
      crashes: 3,
      error: { code: 'JOB_WORKER_LOST' },
    })
    for (const number of [1, 2, 3]) (await nth(number)).finish('too late')
    await until('all runs are over', () => a.engine.worker.size === 0)
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'failed' })
  })

  test('a cancelled job whose worker died is cancelled, not run again', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('work', { stubborn: true })
    const a = await instance([kind])
    const { jobId, taskId } = await submit(a, 'work')
    const run = await nth(1)
    await a.ledger.transaction((tx) => a.engine.jobs.cancelTask(tx, taskId))
    await advance(LEASE + 1)
    await a.engine.overdue.runOnce(never)
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'cancelled' })
    run.finish('too late')
    expect(runs).toHaveLength(1)
  })

  test('what an instance has in the ledger but not in hand is not renewed, so that it comes free', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind])
    await submit(a, 'work')
    const busy = await nth(1)
    a.dispatcher.loses = true
    const { jobId } = await submit(a, 'work')
    // A claim whose answer was lost on the way: the ledger has it, the worker does not know.
    await a.ledger.db
      .updateTable('jobs')
      .set({
        state: 'running',
        worker: a.engine.instance,
        fence: 1,
        attempts: 1,
        lease_until: (await a.ledger.now()) + LEASE,
      })
      .where('id', '=', jobId)
      .execute()
    a.dispatcher.loses = false
    await advance(LEASE - 1)
    await a.engine.worker.runOnce()
    await advance(2)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ reclaimed: 1 })
    const second = await nth(2)
    expect(second.context.job.id).toBe(jobId)
    expect(busy.context.signal.aborted).toBe(false)
    for (const run of runs) run.finish()
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
  })

  test('a result that cannot be written fails its job instead of leaving it behind', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('odd')
    const a = await instance([{ ...kind, maxAttempts: 1 }])
    const { jobId } = await submit(a, 'odd')
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const run = await nth(1)
    run.context.progress(circular)
    run.finish(circular)
    await eventually(a.engine, ({ type }) => type === 'odd.failed')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({
      state: 'failed',
      error: { code: 'JOB_FAILED', message: expect.stringMatching(/circular/i) },
    })
  })
})
