import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { fleet, type Instance, submit } from '../support/fleet.ts'

interface Entry {
  id: string
  owner: string
  deferred: boolean
}

interface Rules {
  limit: number
  fair: boolean
  reserve: number
}

/** What a lane should do, in the plainest words. */
class LaneModel {
  readonly waiting: Entry[] = []
  readonly admitted: Entry[] = []
  readonly shares = new Map<string, number>()
  readonly rules: Rules
  readonly #turns = new Map<string, number>()

  constructor(rules: Rules) {
    this.rules = rules
  }

  /** Lets in whoever is next while there is room, and tells whom. */
  admit(): string[] {
    const before = this.admitted.length
    for (let next = this.#next(); next; next = this.#next()) {
      this.waiting.splice(this.waiting.indexOf(next), 1)
      this.admitted.push(next)
      this.#turns.set(next.owner, Math.max(0, ...this.#turns.values()) + 1)
    }
    return this.admitted.slice(before).map(({ id }) => id)
  }

  leave(id: string): void {
    for (const list of [this.waiting, this.admitted]) {
      const index = list.findIndex((entry) => entry.id === id)
      if (index >= 0) list.splice(index, 1)
    }
  }

  #next(): Entry | undefined {
    const { limit, fair, reserve } = this.rules
    const isFull = this.admitted.length >= limit
    if (!fair) return isFull ? undefined : this.waiting[0]
    const held = (owner: string) => this.admitted.filter((entry) => entry.owner === owner).length
    const turn = (owner: string) => this.#turns.get(owner) ?? 0
    const mayTakeReserve = limit > 0 && this.admitted.length < limit + reserve
    return this.waiting
      .filter(({ owner }) => held(owner) < (this.shares.get(owner) ?? Number.POSITIVE_INFINITY))
      .filter(({ owner }) => !isFull || (mayTakeReserve && held(owner) === 0))
      .toSorted(
        (a, b) =>
          Number(a.deferred) - Number(b.deferred) ||
          held(a.owner) - held(b.owner) ||
          turn(a.owner) - turn(b.owner),
      )[0]
  }
}

type Step =
  | { do: 'enqueue'; owner: string; deferred: boolean; on: number }
  | { do: 'share'; owner: string; value: number | null; on: number }
  | { do: 'finish' | 'cancel'; which: number; on: number }
  | { do: 'limit'; value: number; on: number }

const on = fc.nat(1)
const owner = fc.constantFrom('a', 'b', 'c')
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('enqueue' as const), owner, deferred: fc.boolean(), on }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), which: fc.nat(20), on }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20), on }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), value: fc.nat(5), on }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('share' as const), owner, value: fc.option(fc.nat(2)), on }),
  },
)

describe.each(availableBackends())('lanes against a model on %s', (name) => {
  test.each(['fifo', 'fair'] as const)(
    'a %s lane admits exactly whom its model admits, and wakes only them',
    async (policy) => {
      const { instance } = await fleet(name)
      const reserve = policy === 'fair' ? 1 : 0
      const kind = { name: 'laned', lane: { name: 'lane', limit: 1, policy, reserve }, run: async () => null }
      const pair = [
        await instance([kind], { works: false }),
        await instance([kind], { works: false }),
      ] as const
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), fc.nat(4), async (steps, limit) => {
          await reset(pair[0], limit)
          const model = new LaneModel({ limit, fair: policy === 'fair', reserve })
          for (const each of steps) {
            const woken = await apply(pair[each.on] as Instance, model, each)
            expect(woken).toEqual(model.admit())
            expect(await inLane(pair[0])).toEqual({
              waiting: model.waiting.map(({ id }) => id).toSorted(),
              admitted: model.admitted.map(({ id }) => id).toSorted(),
            })
          }
        }),
        { numRuns: name === 'embedded' ? 40 : 12 },
      )
    },
  )

  test('whatever happens at the same time, a lane is as full as it may be and no fuller', async () => {
    const { instance } = await fleet(name)
    const kind = {
      name: 'laned',
      lane: { name: 'lane', limit: 1, policy: 'fifo' as const },
      run: async () => null,
    }
    const pair = [await instance([kind], { works: false }), await instance([kind], { works: false })] as const
    const rounds = fc.array(fc.array(step, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(rounds, fc.integer({ min: 1, max: 4 }), async (all, limit) => {
        await reset(pair[0], limit)
        for (const steps of all) {
          const before = await inLane(pair[0])
          const highest = Math.max(limit, before.admitted.length)
          const model = await currentModel(pair[0])
          const calm = steps.filter(({ do: what }) => what !== 'limit' && what !== 'share')
          await Promise.allSettled(calm.map((each) => apply(pair[each.on] as Instance, model, each)))
          const { waiting, admitted } = await inLane(pair[0])
          expect(admitted.length).toBeLessThanOrEqual(highest)
          expect(admitted.length).toBe(Math.min(limit, waiting.length + admitted.length))
        }
      }),
      { numRuns: name === 'embedded' ? 20 : 8 },
    )
  })
})

/** Does one step for real; answers which jobs were woken by it. */
async function apply(one: Instance, model: LaneModel, step: Step): Promise<string[]> {
  const before = one.dispatcher.published.length
  const pick = (list: Entry[], which: number) => (list.length === 0 ? undefined : list[which % list.length])
  const { engine, ledger } = one
  if (step.do === 'enqueue') {
    const { owner, deferred } = step
    const { jobId } = await submit(one, 'laned', { owner, deferred })
    model.waiting.push({ id: jobId, owner, deferred })
  } else if (step.do === 'share') {
    if (!model.rules.fair) return []
    await ledger.transaction((tx) => engine.setLaneShare(tx, 'lane', step.owner, step.value))
    if (step.value === null) model.shares.delete(step.owner)
    else model.shares.set(step.owner, step.value)
  } else if (step.do === 'limit') {
    await ledger.transaction((tx) => engine.setLaneLimit(tx, 'lane', step.value))
    model.rules.limit = step.value
  } else if (step.do === 'finish') {
    const job = pick(model.admitted, step.which)
    if (job) await engine.worker.take(job.id)
    if (job) model.leave(job.id)
  } else {
    const job = pick([...model.waiting, ...model.admitted], step.which)
    if (job) await ledger.transaction((tx) => engine.cancelJob(tx, job.id))
    if (job) model.leave(job.id)
  }
  return one.dispatcher.published.slice(before).map(({ id }) => id)
}

async function rows(one: Instance) {
  return one.ledger.db
    .selectFrom('jobs')
    .select(['id', 'state', 'owner'])
    .where('state', 'in', ['waiting', 'pending', 'running'])
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

async function inLane(one: Instance): Promise<{ waiting: string[]; admitted: string[] }> {
  const all = await rows(one)
  const ids = (waits: boolean) =>
    all.filter(({ state }) => (state === 'waiting') === waits).map(({ id }) => id)
  return { waiting: ids(true).toSorted(), admitted: ids(false).toSorted() }
}

async function currentModel(one: Instance): Promise<LaneModel> {
  const model = new LaneModel({ limit: 0, fair: false, reserve: 0 })
  for (const { id, state, owner } of await rows(one))
    model[state === 'waiting' ? 'waiting' : 'admitted'].push({ id, owner: owner ?? '', deferred: false })
  return model
}

async function reset(one: Instance, limit: number): Promise<void> {
  await one.ledger.db.deleteFrom('jobs').execute()
  for (const table of ['lane_turns', 'lane_queue', 'lane_shares'] as const)
    await one.ledger.db.deleteFrom(table).execute()
  await one.ledger.transaction((tx) => one.engine.setLaneLimit(tx, 'lane', limit))
}
