import { describe, expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { eventually } from '../../support/engines.ts'
import { fleet, type Instance, submit } from '../../support/fleet.ts'
import { ledByHand } from '../../support/handlers.ts'
import { until } from '../../support/until.ts'

const never = new AbortController().signal

async function wakeAt({ ledger }: Instance, jobId: string): Promise<number> {
  const row = await ledger.db
    .selectFrom('jobs')
    .select('wake_at')
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow()
  return row.wake_at as number
}

describe.each(availableBackends())('overdue jobs on %s', (name) => {
  test('a wake that was lost is published again by the leader', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth, runs } = ledByHand('work')
    const a = await instance([kind])
    a.dispatcher.loses = true
    const { jobId } = await submit(a, 'work')
    a.dispatcher.loses = false
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 0 })
    expect(runs).toEqual([])
    await advance(5_000)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 1 })
    const run = await nth(1)
    expect(run.context.job.id).toBe(jobId)
    run.finish()
    await eventually(a.engine, ({ type }) => type === 'work.succeeded')
  })

  test('a job that is published again and again waits longer each time, up to five minutes', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([{ name: 'work', run: async () => null }])
    a.dispatcher.loses = true
    const { jobId } = await submit(a, 'work')
    const pauses: number[] = []
    for (let round = 0; round < 9; round++) {
      await advance((await wakeAt(a, jobId)) - (await a.ledger.now()))
      expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 1 })
      expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 0 })
      pauses.push(((await wakeAt(a, jobId)) - (await a.ledger.now())) / 1_000)
    }
    expect(pauses).toEqual([10, 20, 40, 80, 160, 300, 300, 300, 300])
  })

  test('a pass tells when the next one is worth it', async () => {
    const { instance, advance } = await fleet(name)
    const { kind, nth } = ledByHand('work')
    const a = await instance([kind])
    expect(await a.engine.overdue.runOnce(never)).toEqual({ nextInMs: 15_000, published: 0, reclaimed: 0 })
    a.dispatcher.loses = true
    await submit(a, 'work')
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ nextInMs: 5_000 })
    await advance(4_900)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ nextInMs: 250 })
    a.dispatcher.loses = false
    await advance(100)
    await a.engine.overdue.runOnce(never)
    const run = await nth(1)
    await advance(28_000)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ nextInMs: 2_000 })
    run.finish()
  })

  test('jobs that are due later are woken then, and not before, when the carrier has lost its memory', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([{ name: 'work', run: async () => null }], { works: false })
    a.dispatcher.loses = true
    const { jobId } = await submit(a, 'work', { dueAt: (await a.ledger.now()) + 60_000 })
    a.dispatcher.published.length = 0
    await a.engine.overdue.wakeAll()
    await advance(10_000)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 1 })
    expect(a.dispatcher.published).toEqual([{ id: jobId, pool: 'default', delayMs: 50_000 }])
    expect(await wakeAt(a, jobId)).toBeGreaterThan((await a.ledger.now()) + 50_000)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 0 })
  })

  test('while the carrier is away overdue jobs stay overdue', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([{ name: 'work', run: async () => null }], { works: false })
    const { jobId } = await submit(a, 'work')
    await advance(5_000)
    const before = await wakeAt(a, jobId)
    const publish = a.dispatcher.publish
    a.dispatcher.publish = () => Promise.reject(new Error('away'))
    await expect(a.engine.overdue.runOnce(never)).rejects.toThrow('away')
    expect(await wakeAt(a, jobId)).toBe(before)
    a.dispatcher.publish = publish
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 1 })
  })

  test('a backlog longer than one batch is published in one pass', async () => {
    const { instance, advance } = await fleet(name)
    const a = await instance([{ name: 'work', run: async () => null }], { works: false })
    await a.ledger.transaction(async (tx) => {
      for (let index = 0; index < 1_100; index++)
        await a.engine.jobs.enqueue(tx, { kind: 'work', payload: index })
    })
    await advance(5_000)
    expect(await a.engine.overdue.runOnce(never)).toMatchObject({ published: 1_100 })
    expect(new Set(a.dispatcher.published.map(({ id }) => id)).size).toBe(1_100)
  })

  test('jobs of a kind that this version does not know hold nobody up, and are left to those who know them', async () => {
    const { instance, advance } = await fleet(name)
    const future = { name: 'future', run: async () => null }
    const work = { name: 'work', run: async () => null }
    const newer = await instance([work, future], { works: false })
    const old = await instance([work], { works: false })
    newer.dispatcher.loses = true
    const lost = await submit(newer, 'future')
    const dead = await submit(newer, 'future')
    await newer.ledger.db
      .updateTable('jobs')
      .set({ state: 'running', worker: 'gone', fence: 1, lease_until: 0 })
      .where('id', '=', dead.jobId)
      .execute()
    const known = await submit(newer, 'work')
    await advance(5_000)
    expect(await old.engine.overdue.runOnce(never)).toEqual({ nextInMs: 250, published: 1, reclaimed: 0 })
    expect(old.dispatcher.published.map(({ id }) => id)).toEqual([known.jobId])
    // Nor does the old version look again at once for what it cannot do.
    expect(await old.engine.overdue.runOnce(never)).toMatchObject({ nextInMs: 10_000 })
    await newer.engine.overdue.runOnce(never)
    const woken = newer.dispatcher.published.map(({ id }) => id).slice(-2)
    expect(woken.toSorted()).toEqual([lost.jobId, dead.jobId].toSorted())
  })

  test('an instance that is proven to be alone takes back everything at its start', async () => {
    const { instance } = await fleet(name)
    const { kind, nth } = ledByHand('work', { stubborn: true })
    const a = await instance([kind], { slots: { default: 1 } })
    const running = await submit(a, 'work')
    const pending = await submit(a, 'work')
    await nth(1)
    const redone: string[] = []
    const again = { name: 'work', run: async ({ job }: { job: { id: string } }) => redone.push(job.id) }
    const b = await instance([again], { sole: true })
    await until('both were done', () => redone.length === 2)
    expect(redone.toSorted()).toEqual([running.jobId, pending.jobId].toSorted())
    ;(await nth(1)).finish('too late')
    await until('the end was refused', () => a.engine.worker.size === 0)
    await until('its own ends are written', () => b.engine.worker.size === 0)
    expect(await b.engine.jobs.job(running.jobId)).toMatchObject({ state: 'succeeded', crashes: 1 })
  })
})
