import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { fleet, type Instance, submit } from '../support/fleet.ts'

interface Entry {
  id: string
  owner: string
}

/** What a lane should do, in the plainest words. */
class LaneModel {
  readonly waiting: Entry[] = []
  readonly admitted: Entry[] = []
  readonly #fair: boolean
  readonly #turns = new Map<string, number>()
  limit: number

  constructor(limit: number, fair: boolean) {
    this.limit = limit
    this.#fair = fair
  }

  /** Lets in whoever is next while there is room, and tells whom. */
  admit(): string[] {
    const before = this.admitted.length
    const queue = [...this.waiting]
    while (this.admitted.length < this.limit && this.waiting.length > 0) {
      const next = this.#next()
      this.waiting.splice(this.waiting.indexOf(next), 1)
      this.admitted.push(next)
    }
    const batch = this.admitted.slice(before)
    // Those who were let in have had their turn, in the order in which they had come.
    const owners = new Set(queue.filter((entry) => batch.includes(entry)).map(({ owner }) => owner))
    for (const owner of owners) this.#turns.set(owner, Math.max(0, ...this.#turns.values()) + 1)
    return batch.map(({ id }) => id)
  }

  leave(id: string): void {
    for (const list of [this.waiting, this.admitted]) {
      const index = list.findIndex((entry) => entry.id === id)
      if (index >= 0) list.splice(index, 1)
    }
  }

  #next(): Entry {
    if (!this.#fair) return this.waiting[0] as Entry
    const held = (owner: string) => this.admitted.filter((entry) => entry.owner === owner).length
    const turn = (owner: string) => this.#turns.get(owner) ?? 0
    const [next] = this.waiting.toSorted(
      (a, b) => held(a.owner) - held(b.owner) || turn(a.owner) - turn(b.owner),
    )
    return next as Entry
  }
}

type Step =
  | { do: 'enqueue'; owner: string; on: number }
  | { do: 'finish' | 'cancel'; which: number; on: number }
  | { do: 'limit'; value: number; on: number }

const on = fc.nat(1)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('enqueue' as const), owner: fc.constantFrom('a', 'b', 'c'), on }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('finish' as const), which: fc.nat(20), on }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('cancel' as const), which: fc.nat(20), on }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), value: fc.nat(5), on }) },
)

describe.each(availableBackends())('lanes against a model on %s', (name) => {
  test.each(['fifo', 'fair'] as const)(
    'a %s lane admits exactly whom its model admits, and wakes only them',
    async (policy) => {
      const { instance } = await fleet(name)
      const kind = { name: 'laned', lane: { name: 'lane', limit: 1, policy }, run: async () => null }
      const pair = [
        await instance([kind], { works: false }),
        await instance([kind], { works: false }),
      ] as const
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), fc.nat(4), async (steps, limit) => {
          await reset(pair[0], limit)
          const model = new LaneModel(limit, policy === 'fair')
          for (const each of steps) {
            const woken = await apply(pair[each.on] as Instance, model, each)
            expect(woken.toSorted()).toEqual(model.admit().toSorted())
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
          const calm = steps.filter(({ do: what }) => what !== 'limit')
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
    const { jobId } = await submit(one, 'laned', { owner: step.owner })
    model.waiting.push({ id: jobId, owner: step.owner })
  } else if (step.do === 'limit') {
    await ledger.transaction((tx) => engine.setLaneLimit(tx, 'lane', step.value))
    model.limit = step.value
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
  const model = new LaneModel(0, false)
  for (const { id, state, owner } of await rows(one))
    model[state === 'waiting' ? 'waiting' : 'admitted'].push({ id, owner: owner ?? '' })
  return model
}

async function reset(one: Instance, limit: number): Promise<void> {
  await one.ledger.db.deleteFrom('jobs').execute()
  await one.ledger.db.deleteFrom('lane_turns').execute()
  await one.ledger.transaction((tx) => one.engine.setLaneLimit(tx, 'lane', limit))
}
