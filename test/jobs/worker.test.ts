import { describe, expect, onTestFinished, test } from 'vitest'
import { Emitter } from '../../src/jobs/events/index.ts'
import { Completed, type Job } from '../../src/jobs/index.ts'
import { JobStore } from '../../src/jobs/job-store.ts'
import { KindRegistry } from '../../src/jobs/kind.ts'
import { Lanes } from '../../src/jobs/lanes.ts'
import { Leases } from '../../src/jobs/lease.ts'
import { Worker } from '../../src/jobs/worker.ts'
import { availableBackends, openBackend, silentLog } from '../support/backends.ts'
import { eventually, gate } from '../support/engines.ts'
import { fleet, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { until } from '../support/until.ts'

describe.each(availableBackends())('workers on %s', (name) => {
  test('a cancel on one instance stops the job on another, carried by the signal alone', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([kind])
    const b = await instance([kind], { works: false })
    const { jobId, taskId } = await submit(b, 'work')
    const run = await nth(1)
    // All clocks stand still: nobody renews and nobody looks again.
    await b.ledger.transaction((tx) => b.engine.cancelTask(tx, taskId))
    await eventually(b.engine, ({ type }) => type === 'work.cancelled')
    expect(run.context.signal.reason).toMatchObject({ code: 'JOB_CANCELLED' })
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'cancelled', error: null })
  })

  test('a cancel whose signal was lost is noticed at the next renewal', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    await a.ledger.transaction((tx) => a.engine.jobs.cancelJob(tx, jobId))
    expect(run.context.signal.aborted).toBe(false)
    await a.engine.worker.runOnce()
    expect(run.context.signal.reason).toMatchObject({ code: 'JOB_CANCELLED' })
    await eventually(a.engine, ({ type }) => type === 'work.cancelled')
  })

  test('a cancel wins over a result that comes at the same time', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work', { stubborn: true })
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    await a.ledger.transaction((tx) => a.engine.cancelJob(tx, jobId))
    run.finish(
      new Completed('result', async (tx) => {
        await tx.db.insertInto('settings').values({ key: 'ended', value: '', updated_at: 0 }).execute()
      }),
    )
    await eventually(a.engine, ({ type }) => type === 'work.cancelled')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'cancelled', result: null })
    expect(await a.ledger.db.selectFrom('settings').selectAll().execute()).toEqual([])
  })

  test('a handler that does not stop when told to is left behind, and can write nothing more', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('deaf', { stubborn: true })
    const a = await instance([kind], { slots: { default: 1 } })
    const { jobId } = await submit(a, 'deaf')
    const next = await submit(a, 'deaf')
    const run = await nth(1)
    await a.ledger.transaction((tx) => a.engine.cancelJob(tx, jobId))
    await until('the job was settled without its handler', async () => {
      a.clock.advance(1_000)
      return (await a.engine.jobs.job(jobId))?.state === 'cancelled'
    })
    // Its slot is free for the next one.
    const second = await nth(2)
    expect(second.context.job.id).toBe(next.jobId)
    await expect(run.context.transaction(async () => undefined)).rejects.toMatchObject({
      code: 'JOB_LEASE_LOST',
    })
    run.context.progress('late')
    run.fail(new Error('late'))
    second.finish()
    await eventually(a.engine, ({ type }) => type === 'deaf.succeeded')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'cancelled', progress: null, error: null })
  })

  test('a job that takes too long fails for good, at the time its kind allows', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('slow')
    const a = await instance([{ ...kind, timeoutMs: 60_000 }])
    const { jobId } = await submit(a, 'slow')
    const run = await nth(1)
    a.clock.advance(59_999)
    expect(run.context.signal.aborted).toBe(false)
    a.clock.advance(1)
    await eventually(a.engine, ({ type }) => type === 'slow.failed')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({
      state: 'failed',
      attempts: 1,
      error: { code: 'JOB_TIMED_OUT' },
    })
    expect(runs).toHaveLength(1)
  })

  test('a wake that comes too early is put back for the rest of the time', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('later')
    const a = await instance([kind])
    a.dispatcher.loses = true
    const { jobId } = await submit(a, 'later', { dueAt: (await a.ledger.now()) + 60_000 })
    expect(a.dispatcher.published).toEqual([{ id: jobId, pool: 'default', delayMs: 60_000 }])
    await advance(20_000)
    const early = a.engine.worker.take(jobId)
    await early
    expect(a.dispatcher.published.slice(1)).toEqual([{ id: jobId, pool: 'default', delayMs: 40_000 }])
    expect(runs).toEqual([])
    await advance(40_000)
    void a.engine.worker.take(jobId)
    ;(await nth(1)).finish()
    await eventually(a.engine, ({ type }) => type === 'later.succeeded')
  })

  test('a wake for what is taken, ended or unknown changes nothing', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind])
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    await a.engine.worker.take(jobId)
    await a.engine.worker.take('no-such-job')
    expect(a.dispatcher.published).toHaveLength(1)
    run.finish()
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
    await a.engine.worker.take(jobId)
    expect(runs).toHaveLength(1)
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ fence: 1, attempts: 1 })
  })

  test('many wakes for one job, on several instances at once, make one run', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('work')
    const all = [await instance([kind]), await instance([kind]), await instance([kind])] as const
    const [a] = all
    a.dispatcher.loses = true
    const { jobId } = await submit(a, 'work')
    const takes = Array.from({ length: 30 }, (_, index) => all[index % 3]?.engine.worker.take(jobId))
    ;(await nth(1)).finish()
    await Promise.all(takes)
    expect(runs).toHaveLength(1)
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'succeeded', fence: 1 })
  })

  test('a commit of a handler that fails is a failed attempt, and nothing of it is kept', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('ending')
    const a = await instance([
      { ...kind, maxAttempts: 2, backoff: { base: 0, factor: 1, max: 0, jitter: 0 } },
    ])
    const { jobId } = await submit(a, 'ending')
    const ended = (key: string | null) =>
      new Completed('result', async (tx) => {
        await tx.db.insertInto('settings').values({ key: 'first', value: '', updated_at: 0 }).execute()
        await tx.db
          .insertInto('settings')
          .values({ key: key as string, value: '', updated_at: 0 })
          .execute()
      })
    ;(await nth(1)).finish(ended('first'))
    ;(await nth(2)).finish(ended('second'))
    await eventually(a.engine, ({ type }) => type === 'ending.succeeded')
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ attempts: 2, result: 'result' })
    expect(await a.ledger.db.selectFrom('settings').select('key').orderBy('key').execute()).toHaveLength(2)
  })

  test('a result that cannot be written fails its own job, not the ones that end with it', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([{ ...kind, maxAttempts: 1 }])
    const jobs = await Promise.all(Array.from({ length: 6 }, () => submit(a, 'work')))
    const runs = await Promise.all(jobs.map((_, index) => nth(index + 1)))
    const odd = runs[3]?.context.job.id
    for (const run of runs) run.finish(run.context.job.id === odd ? 1n : 'fine')
    for (const { jobId, taskId } of jobs) {
      const state = jobId === odd ? 'failed' : 'succeeded'
      await eventually(
        a.engine,
        (event) => event.taskId === taskId && ['work.succeeded', 'work.failed'].includes(event.type),
      )
      expect(await a.engine.jobs.job(jobId)).toMatchObject({ state })
    }
  })

  test('a shutdown gives running jobs their time, and takes no new ones meanwhile', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind], { drainMs: 60_000 })
    const { jobId } = await submit(a, 'work')
    const run = await nth(1)
    const stopping = a.engine.stop()
    const later = await submit(a, 'work')
    await a.engine.worker.take(later.jobId)
    expect(run.context.signal.aborted).toBe(false)
    run.finish('in time')
    await stopping
    expect(await a.engine.jobs.job(jobId)).toMatchObject({ state: 'succeeded', result: 'in time' })
    expect(await a.engine.jobs.job(later.jobId)).toMatchObject({ state: 'pending', attempts: 0 })
    expect(runs).toHaveLength(1)
  })
})

/** A worker whose answers to claims the test holds back. */
async function heldBack({ stubborn = false } = {}) {
  const backend = await openBackend('embedded')
  const ledger = await backend.openLedger()
  onTestFinished(async () => {
    await ledger.close()
    await backend.remove()
  })
  const kinds = new KindRegistry()
  const { kind, runs, nth } = ledByHand('work', { stubborn })
  kinds.define(kind)
  const shared = {
    ledger,
    kinds,
    lanes: new Lanes(ledger, kinds),
    emitter: new Emitter(ledger, () => undefined),
  }
  const answers = gate()
  const claimed: string[] = []
  const state = { away: false }
  class HeldBackLeases extends Leases {
    override async claimAll(ids: readonly string[], worker: string): Promise<(Job | undefined)[]> {
      const jobs = await super.claimAll(ids, worker)
      claimed.push(...ids)
      await answers.passed
      return jobs
    }

    override renew(worker: string, ids: string[]) {
      return state.away ? Promise.reject(new Error('the ledger is away')) : super.renew(worker, ids)
    }
  }
  const leases = new HeldBackLeases(shared, 30_000)
  const clock = new ManualClock()
  const worker = new Worker(
    { id: 'w', ledger, kinds, leases, clock, log: silentLog, wake: () => undefined, tell: () => undefined },
    { leaseMs: 30_000 },
  )
  const jobs = new JobStore(shared)
  const enqueue = async () =>
    (await ledger.transaction((tx) => jobs.enqueue(tx, { kind: 'work', payload: 0, tasks: [{}] }))).jobId
  return { worker, clock, jobs, ledger, enqueue, answers, claimed, runs, nth, state, leases }
}

describe('a worker between claim and answer', () => {
  test('a cancel that comes before the answer to the claim still reaches the job', async () => {
    const { worker, enqueue, answers, claimed, jobs, ledger, nth } = await heldBack()
    const [one, two] = [await enqueue(), await enqueue()]
    const takes = [worker.take(one), worker.take(two)]
    await until('both are claimed', () => claimed.length === 2)
    for (const id of [one, two]) {
      await ledger.transaction((tx) => jobs.cancelJob(tx, id))
      worker.abort(id)
    }
    answers.open()
    await Promise.all(takes)
    for (const number of [1, 2])
      expect((await nth(number)).context.signal.reason).toMatchObject({ code: 'JOB_CANCELLED' })
    for (const id of [one, two]) expect(await jobs.job(id)).toMatchObject({ state: 'cancelled' })
  })

  test('a shutdown waits for the answer and puts the job back', async () => {
    const { worker, enqueue, answers, claimed, jobs } = await heldBack()
    const id = await enqueue()
    const take = worker.take(id)
    await until('it is claimed', () => claimed.length === 1)
    const drained = worker.drain(AbortSignal.abort())
    answers.open()
    await Promise.all([drained, take])
    expect(worker.size).toBe(0)
    expect(await jobs.job(id)).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('a shutdown waits only a moment for a handler that does not stop, and puts its job back', async () => {
    const { worker, clock, enqueue, answers, jobs, nth } = await heldBack({ stubborn: true })
    answers.open()
    const id = await enqueue()
    const take = worker.take(id)
    const run = await nth(1)
    const drained = worker.drain(AbortSignal.abort())
    await until('it is told to stop', () => run.context.signal.aborted)
    await until('the worker waits for it', () => clock.sleeping >= 2)
    clock.advance(1_000)
    await Promise.all([drained, take])
    expect(await jobs.job(id)).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('while the ledger is away a job goes on for as long as its lease is sure to hold', async () => {
    const { worker, clock, enqueue, answers, nth, state, jobs } = await heldBack()
    answers.open()
    const id = await enqueue()
    const take = worker.take(id)
    const run = await nth(1)
    state.away = true
    clock.advance(29_999)
    await expect(worker.runOnce()).rejects.toThrow('away')
    expect(run.context.signal.aborted).toBe(false)
    clock.advance(1)
    await expect(worker.runOnce()).rejects.toThrow('away')
    expect(run.context.signal.reason).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    await take
    // Nobody has taken it over: its own worker puts it back, and has not died over it.
    expect(await jobs.job(id)).toMatchObject({ state: 'pending', attempts: 0, crashes: 0, outages: 1 })
  })

  test('a lease that was renewed in the last moment is not taken back', async () => {
    const { leases, enqueue, answers, jobs } = await heldBack()
    answers.open()
    const job = (await leases.claim(await enqueue(), 'w')) as Job
    // The leader has seen it expired; the worker has renewed it since.
    await expect(leases.settle(job, { what: 'abandoned' })).rejects.toMatchObject({ code: 'JOB_LEASE_LOST' })
    expect(await jobs.job(job.id)).toMatchObject({ state: 'running', crashes: 0 })
  })
})
