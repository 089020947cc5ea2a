import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { JobContext } from '../../src/jobs/index.ts'
import { AppError, ERRORS } from '../../src/kernel/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { availableBackends } from '../support/backends.ts'
import { eventually } from '../support/engines.ts'
import { fleet, type Instance, submit } from '../support/fleet.ts'
import { ledByHand } from '../support/handlers.ts'
import { until } from '../support/until.ts'

const quick = { base: 0, factor: 1, max: 0, jitter: 0 }

async function count(ledger: Ledger): Promise<Record<string, number>> {
  const rows = await ledger.db
    .selectFrom('jobs')
    .select(({ fn }) => ['state', fn.countAll<number>().as('n')])
    .groupBy('state')
    .execute()
  return Object.fromEntries(rows.map(({ state, n }) => [state, Number(n)]))
}

async function deadlocks({ ledger }: Instance): Promise<number> {
  if (ledger.dialect === 'sqlite') return 0
  const { rows } = await sql<{ deadlocks: number }>`select deadlocks from pg_stat_database
    where datname = current_database()`.execute(ledger.db)
  return Number(rows[0]?.deadlocks)
}

const setLimit = ({ engine, ledger }: Instance, limit: number | null) =>
  ledger.transaction((tx) => engine.setLaneLimit(tx, 'lane', limit))

describe.each(availableBackends())('lanes on %s', (name) => {
  const lane = (limit: number | null, policy: 'fifo' | 'fair' = 'fifo') => ({ name: 'lane', limit, policy })

  test('the limit holds over all instances, and jobs start in the order in which they came', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(3) }])
    const b = await instance([{ ...kind, lane: lane(3) }])
    const ids: string[] = []
    for (let index = 0; index < 10; index++) ids.push((await submit(index % 2 ? b : a, 'laned')).jobId)
    for (let ended = 0; ended < 10; ended++) {
      await nth(Math.min(ended + 3, 10))
      expect(await count(a.ledger)).toEqual({
        running: Math.min(3, 10 - ended),
        ...(ended < 7 && { waiting: 7 - ended }),
        ...(ended > 0 && { succeeded: ended }),
      })
      runs[ended]?.finish()
      await until('it has ended', async () => (await count(a.ledger)).succeeded === ended + 1)
    }
    // The first three were admitted one by one, and each later one by the end of another.
    const started = runs.map(({ context }) => context.job.id)
    expect(started.slice(0, 3).toSorted()).toEqual(ids.slice(0, 3).toSorted())
    expect(started.slice(3)).toEqual(ids.slice(3))
  })

  test('a raised limit starts the next jobs at once', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(1) }])
    for (let index = 0; index < 5; index++) await submit(a, 'laned')
    await nth(1)
    expect(await count(a.ledger)).toEqual({ running: 1, waiting: 4 })
    await setLimit(a, 3)
    await nth(3)
    expect(await count(a.ledger)).toEqual({ running: 3, waiting: 2 })
    await setLimit(a, null)
    await nth(5)
    for (const run of runs) run.finish()
    await until('all have ended', async () => (await count(a.ledger)).succeeded === 5)
  })

  test('a lowered limit leaves running jobs alone, and nothing starts until there is room below it', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(3) }])
    for (let index = 0; index < 5; index++) await submit(a, 'laned')
    await nth(3)
    await setLimit(a, 1)
    expect(runs.map(({ context }) => context.signal.aborted)).toEqual([false, false, false])
    for (const [ended, run] of runs.slice(0, 2).entries()) {
      run.finish()
      await until('it has ended', async () => (await count(a.ledger)).succeeded === ended + 1)
      expect(await count(a.ledger)).toEqual({ running: 2 - ended, waiting: 2, succeeded: ended + 1 })
    }
    runs[2]?.finish()
    const fourth = await nth(4)
    expect(await count(a.ledger)).toEqual({ running: 1, waiting: 1, succeeded: 3 })
    await setLimit(a, 0)
    fourth.finish()
    await until('it has ended', async () => (await count(a.ledger)).succeeded === 4)
    expect(await count(a.ledger)).toEqual({ waiting: 1, succeeded: 4 })
    await setLimit(a, 1)
    ;(await nth(5)).finish()
    await until('all have ended', async () => (await count(a.ledger)).succeeded === 5)
  })

  test('a changed limit outlives a restart and is told to all instances', async () => {
    const { instance } = await fleet(name)
    const { kind } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(3) }])
    const b = await instance([{ ...kind, lane: lane(3) }])
    const told: string[] = []
    b.bus.subscribe('settings', ({ key }) => told.push(key))
    await setLimit(a, 7)
    await until('the other instance was told', () => told.includes('lane:lane'))
    const c = await instance([{ ...kind, lane: lane(3) }])
    expect(await c.engine.lanes.limit('lane')).toBe(7)
  })

  test('in a fair lane one job of one owner does not wait for a thousand of another', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(2, 'fair') }])
    await a.ledger.transaction(async (tx) => {
      for (let index = 0; index < 1_000; index++)
        await a.engine.jobs.enqueue(tx, { kind: 'laned', payload: 0, owner: 'big', tasks: [] })
    })
    await setLimit(a, 2)
    await a.ledger.db.updateTable('jobs').set({ wake_at: 0 }).where('state', '=', 'pending').execute()
    await a.engine.overdue.runOnce(new AbortController().signal)
    await nth(2)
    await submit(a, 'laned', { owner: 'small' })
    await submit(a, 'laned', { owner: 'other' })
    runs[0]?.finish()
    expect((await nth(3)).context.job.owner).toBe('small')
    // Now 'big' and 'other' have nothing under way: it is the turn of whoever had none yet, however old the others' jobs.
    runs[1]?.finish()
    expect((await nth(4)).context.job.owner).toBe('other')
    runs[2]?.finish()
    expect((await nth(5)).context.job.owner).toBe('big')
  })

  test('a reserved place is for an owner who has none, so nobody can hold all places', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: { ...lane(2, 'fair'), reserve: 1 } }])
    for (let index = 0; index < 4; index++) await submit(a, 'laned', { owner: 'big' })
    await nth(2)
    expect(await count(a.ledger)).toEqual({ running: 2, waiting: 2 })
    await submit(a, 'laned', { owner: 'small' })
    expect((await nth(3)).context.job.owner).toBe('small')
    // The reserve is in use: whoever comes now waits for a place, and is then next.
    await submit(a, 'laned', { owner: 'third' })
    expect(await count(a.ledger)).toEqual({ running: 3, waiting: 3 })
    expect(await runs[0]?.context.othersWait()).toBe(true)
    runs[0]?.finish()
    expect((await nth(4)).context.job.owner).toBe('third')
    expect(await runs[1]?.context.othersWait()).toBe(true)
    // Two are running on the places of the lane, and only one who has none may take the reserve.
    runs[2]?.finish()
    await until('it has ended', async () => (await count(a.ledger)).succeeded === 2)
    expect(await count(a.ledger)).toEqual({ running: 2, waiting: 2, succeeded: 2 })
    await setLimit(a, null)
    await nth(6)
    for (const run of runs) run.finish()
    await until('all have ended', async () => (await count(a.ledger)).succeeded === 6)
  })

  test('the leader notices a reserved place that nobody took', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: { ...lane(1, 'fair'), reserve: 1 } }])
    await submit(a, 'laned', { owner: 'big' })
    await submit(a, 'laned', { owner: 'big' })
    await nth(1)
    // As if the transaction that brought the job had been cut off before it could admit.
    await a.ledger.db.updateTable('jobs').set({ owner: 'small' }).where('state', '=', 'waiting').execute()
    await a.engine.overdue.runOnce(new AbortController().signal)
    expect((await nth(2)).context.job.owner).toBe('small')
    for (const run of runs) run.finish()
    await until('both have ended', async () => (await count(a.ledger)).succeeded === 2)
  })

  test('an owner holds no more places than its share', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(4, 'fair') }])
    const share = (max: number | null) =>
      a.ledger.transaction((tx) => a.engine.setLaneShare(tx, 'lane', 'big', max))
    await share(2)
    for (let index = 0; index < 5; index++) await submit(a, 'laned', { owner: 'big' })
    await nth(2)
    expect(await count(a.ledger)).toEqual({ running: 2, waiting: 3 })
    // What its own share holds back waits for its own places, and for nobody else's.
    expect(await runs[0]?.context.othersWait()).toBe(true)
    await submit(a, 'laned', { owner: 'small' })
    await nth(3)
    expect(await runs[2]?.context.othersWait()).toBe(false)
    await share(3)
    await nth(4)
    await share(null)
    for (const run of runs.splice(0)) run.finish()
    await nth(2)
    for (const run of runs) run.finish()
    await until('all have ended', async () => (await count(a.ledger)).succeeded === 6)
  })

  test('a job of a fair lane that pauses before it is tried again gives its place away', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const backoff = { base: 60_000, factor: 1, max: 60_000, jitter: 0 }
    const a = await instance([{ ...kind, backoff, lane: lane(1, 'fair') }])
    const first = await submit(a, 'laned', { owner: 'a' })
    const second = await submit(a, 'laned', { owner: 'b' })
    ;(await nth(1)).fail(new Error('once'))
    const other = await nth(2)
    expect(other.context.job.id).toBe(second.jobId)
    expect(await a.engine.jobs.job(first.jobId)).toMatchObject({ state: 'waiting' })
    // A place alone does not end the pause.
    other.finish()
    await until('it has ended', async () => (await count(a.ledger)).succeeded === 1)
    const idle = await a.engine.overdue.runOnce(new AbortController().signal)
    expect(idle).toMatchObject({ reclaimed: 0, published: 0 })
    expect(await count(a.ledger)).toEqual({ waiting: 1, succeeded: 1 })
    await advance(60_001)
    await a.engine.overdue.runOnce(new AbortController().signal)
    const again = await nth(3)
    expect(again.context.job).toMatchObject({ id: first.jobId, attempts: 2 })
    again.finish()
    await until('both have ended', async () => (await count(a.ledger)).succeeded === 2)
    expect(runs).toHaveLength(3)
  })

  test('jobs of a fair lane that failed come after those of their owner that were not tried yet, and do not starve', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const backoff = { base: 1_000, factor: 1, max: 1_000, jitter: 0 }
    const a = await instance([{ ...kind, backoff, lane: lane(2, 'fair') }])
    const post = async (owner = 'a') => (await submit(a, 'laned', { owner })).jobId
    const dead = [await post(), await post(), await post()]
    const healthy = [await post(), await post()]
    const place = async (id = '') => (await a.engine.lanes.position('lane', id)).position
    // Of two that were let in one after the other either may begin first.
    for (const which of [1, 2, 3, 4]) {
      const run = await nth(which)
      if (dead.includes(run.context.job.id)) run.fail(new Error('dead'))
    }
    await nth(5)
    await advance(1_001)
    await a.engine.overdue.runOnce(new AbortController().signal)
    const first = runs.filter(({ context }) => healthy.includes(context.job.id))
    expect([first.length, runs.length]).toEqual([2, 5])
    const late = await post()
    const other = await post('b')
    // The other owner has none under way; of the first one's, the one that came last was not tried yet.
    expect(await Promise.all([other, late, ...dead].map(place))).toEqual([1, 2, 3, 4, 5])
    await advance(10 * 60_000)
    const after = await post()
    expect(await Promise.all([...dead, after].map(place))).toEqual([3, 4, 5, 6])
    for (const run of first) run.finish()
    // Two end at a time, as either of them may have begun first.
    for (const which of [6, 8, 10]) for (const run of [await nth(which), await nth(which + 1)]) run.finish()
    await until('all have ended', async () => (await count(a.ledger)).succeeded === 8)
    const order = runs.slice(5).map(({ context }) => context.job.id)
    expect(new Set(order.slice(0, 2))).toEqual(new Set([other, late]))
    expect(order.slice(-2)).toContain(after)
  })

  test('a job that waits for a part of the installation keeps its turn', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(1, 'fair') }])
    const first = await submit(a, 'laned', { owner: 'a' })
    const others = [await submit(a, 'laned', { owner: 'a' }), await submit(a, 'laned', { owner: 'a' })]
    ;(await nth(1)).fail(new AppError(ERRORS.STORAGE_UNAVAILABLE, 'the store is away'))
    const second = await nth(2)
    await advance(3_000)
    await a.engine.overdue.runOnce(new AbortController().signal)
    second.finish()
    ;(await nth(3)).finish()
    ;(await nth(4)).finish()
    await until('all have ended', async () => (await count(a.ledger)).succeeded === 3)
    const [one, two] = others.map(({ jobId }) => jobId)
    expect(runs.map(({ context }) => context.job.id)).toEqual([first.jobId, one, first.jobId, two])
  })

  test('a job that is tried again keeps its place', async () => {
    const { instance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned')
    const a = await instance([{ ...kind, backoff: quick, lane: lane(1) }])
    const first = await submit(a, 'laned')
    const second = await submit(a, 'laned')
    ;(await nth(1)).fail(new Error('once'))
    const again = await nth(2)
    expect(again.context.job).toMatchObject({ id: first.jobId, attempts: 2 })
    expect(await a.engine.jobs.job(second.jobId)).toMatchObject({ state: 'waiting' })
    again.finish()
    ;(await nth(3)).finish()
    await until('both have ended', async () => (await count(a.ledger)).succeeded === 2)
    expect(runs.map(({ context }) => context.job.id)).toEqual([first.jobId, first.jobId, second.jobId])
  })

  test('cancelling a job that waits wakes nobody, and cancelling one that was admitted wakes the next', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('laned')
    const a = await instance([{ ...kind, lane: lane(1) }])
    const dueAt = (await a.ledger.now()) + 60_000
    const admitted = await submit(a, 'laned', { dueAt })
    const waiting = await submit(a, 'laned')
    const last = await submit(a, 'laned')
    expect(a.dispatcher.published.map(({ id }) => id)).toEqual([admitted.jobId])
    await a.ledger.transaction((tx) => a.engine.cancelTask(tx, waiting.taskId))
    expect(a.dispatcher.published).toHaveLength(1)
    await a.ledger.transaction((tx) => a.engine.cancelTask(tx, admitted.taskId))
    const run = await nth(1)
    expect(run.context.job.id).toBe(last.jobId)
    expect(a.dispatcher.published.map(({ id }) => id)).toEqual([admitted.jobId, last.jobId])
    run.finish()
    await eventually(a.engine, ({ type }) => type === 'laned.succeeded')
  })

  test('a job whose worker died keeps its place, and gives it up when it is given up', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('laned', { stubborn: true })
    const a = await instance([{ ...kind, maxCrashes: 2, lane: lane(1) }])
    const first = await submit(a, 'laned')
    const second = await submit(a, 'laned')
    for (const number of [1, 2]) {
      expect((await nth(number)).context.job.id).toBe(first.jobId)
      await advance(30_001)
      await a.engine.overdue.runOnce(new AbortController().signal)
    }
    expect((await nth(3)).context.job.id).toBe(second.jobId)
    for (const run of runs) run.finish()
    await eventually(a.engine, ({ type }) => type === 'laned.succeeded')
  })

  test('a rush from several instances never runs more than the limit, and leaves nobody behind', async () => {
    const { instance } = await fleet(name)
    let running = 0
    let most = 0
    const kind = {
      name: 'laned',
      lane: lane(4),
      async run({ job, transaction }: JobContext<number>) {
        most = Math.max(most, ++running)
        await transaction(async () => undefined)
        running--
        if (job.payload % 7 === 0 && job.attempts === 1) throw new Error('once')
      },
      backoff: quick,
    }
    const all = [await instance([kind]), await instance([kind])] as const
    await Promise.all(
      Array.from({ length: 120 }, (_, index) =>
        submit(all[index % 2] as Instance, 'laned', { payload: index }),
      ),
    )
    await until('all have ended', async () => (await count(all[0].ledger)).succeeded === 120)
    expect(most).toBeLessThanOrEqual(4)
    expect(await count(all[0].ledger)).toEqual({ succeeded: 120 })
  })

  test('cancels, ends, limits and newcomers in one rush neither block one another nor lose a place', async () => {
    const { instance } = await fleet(name)
    const kind = { name: 'laned', lane: lane(3), run: async () => null }
    const all = [await instance([kind]), await instance([kind])] as const
    const before = await deadlocks(all[0])
    const one = (index: number) => all[index % 2] as Instance
    const ended = { code: 'TASK_FINISHED' }
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { engine, ledger } = one(index)
        const { taskId } = await submit(one(index), 'laned')
        if (index % 10 === 0) await setLimit(one(index), 1 + (index % 4))
        if (index % 2 === 0)
          await ledger
            .transaction((tx) => engine.cancelTask(tx, taskId))
            .catch((error) => expect(error).toMatchObject(ended))
      }),
    )
    await until('nobody is left', async () => {
      const { waiting = 0, pending = 0, running = 0 } = await count(all[0].ledger)
      return waiting + pending + running === 0
    })
    expect(await deadlocks(all[0])).toBe(before)
  })
})
