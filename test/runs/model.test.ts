import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { availableBackends, type BackendName } from '../support/backends.ts'
import { HeldFeeds } from './held-feeds.ts'
import { type Instance, setupRuns } from './runs-setup.ts'

type AccountState = 'Idle' | 'Queued' | 'Running' | 'Done' | 'Failed' | 'Cancelled'

const HANDLES = ['a', 'b', 'c', 'd', 'e'] as const
type Handle = (typeof HANDLES)[number]

/** The state machine as it was first written down: a queue, a set of running ones, and a number. */
class Model {
  limit = 3
  queue: Handle[] = []
  running = new Set<Handle>()
  state = Object.fromEntries(HANDLES.map((handle) => [handle, 'Idle'])) as Record<Handle, AccountState>

  isActive(handle: Handle): boolean {
    return this.state[handle] === 'Queued' || this.state[handle] === 'Running'
  }

  start(handle: Handle): void {
    this.state[handle] = 'Queued'
    this.queue.push(handle)
    this.fill()
  }

  end(handle: Handle, state: AccountState): void {
    this.running.delete(handle)
    this.queue = this.queue.filter((other) => other !== handle)
    this.state[handle] = state
    this.fill()
  }

  fill(): void {
    while (this.running.size < this.limit) {
      const next = this.queue.shift()
      if (!next) return
      this.running.add(next)
      this.state[next] = 'Running'
    }
  }
}

/** The real thing: one or two instances, asked in turn. */
class Real {
  readonly feeds: HeldFeeds
  readonly #instances: Instance[]
  readonly runIds = new Map<Handle, string>()
  #turn = 0

  constructor(instances: Instance[], feeds: HeldFeeds) {
    this.#instances = instances
    this.feeds = feeds
  }

  get any(): Instance {
    return this.#instances[this.#turn++ % this.#instances.length] as Instance
  }

  /** Whoever looks must see what the model says: states, locks, the order of the queue. */
  async agreesWith(model: Model): Promise<void> {
    const wanted = JSON.stringify(expectedOf(model, this.runIds))
    const seen = (state: Awaited<ReturnType<Instance['runs']['state']>>) => ({
      max_concurrent: state.max_concurrent,
      queue: state.queue,
      accounts: state.accounts.map(({ handle, state, locked }) => ({ handle, state, locked })),
    })
    const view = await this.any.until((state) => JSON.stringify(seen(state)) === wanted)
    expect(seen(view)).toEqual(JSON.parse(wanted))
    await expectNeverTwo(this.any)
  }

  /** The worker of a run is not heard of any more: its lease runs out, and the leader takes the run back. */
  async loseWorkerOf(handle: Handle): Promise<void> {
    const { engine } = this.any
    await engine.ledger.db
      .updateTable('jobs')
      .set({ lease_until: 0 })
      .where('owner', '=', handle)
      .where('state', '=', 'running')
      .execute()
    await engine.overdue.runOnce(new AbortController().signal)
  }
}

function expectedOf(model: Model, runIds: Map<Handle, string>) {
  return {
    max_concurrent: model.limit,
    queue: model.queue.map((handle) => runIds.get(handle)),
    accounts: HANDLES.map((handle) => ({
      handle,
      state: model.state[handle],
      locked: model.isActive(handle),
    })),
  }
}

async function expectNeverTwo({ engine }: Instance): Promise<void> {
  const active = await engine.ledger.db
    .selectFrom('jobs')
    .select('owner')
    .where('state', 'in', ['waiting', 'pending', 'running'])
    .execute()
  expect(new Set(active.map(({ owner }) => owner)).size).toBe(active.length)
}

type Command = fc.AsyncCommand<Model, Real>

const handles = fc.constantFrom(...HANDLES)

class Start implements Command {
  readonly handle: Handle
  readonly kind: 'start' | 'continue'
  constructor(handle: Handle, kind: 'start' | 'continue') {
    this.handle = handle
    this.kind = kind
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    if (model.isActive(this.handle)) {
      await expect(real.any.start(this.handle, this.kind)).rejects.toMatchObject({ code: 'RUN_ACTIVE' })
      return
    }
    real.feeds.hold(this.handle)
    real.runIds.set(this.handle, await real.any.start(this.handle, this.kind))
    model.start(this.handle)
    await real.agreesWith(model)
  }
  toString = () => `${this.kind} ${this.handle}`
}

class Change implements Command {
  readonly handle: Handle
  constructor(handle: Handle) {
    this.handle = handle
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    const change = real.any.put(this.handle, real.feeds.url(this.handle))
    if (model.isActive(this.handle)) await expect(change).rejects.toMatchObject({ code: 'ACCOUNT_LOCKED' })
    else await change
  }
  toString = () => `change ${this.handle}`
}

class Cancel implements Command {
  readonly handle: Handle
  readonly files: 'keep' | 'delete'
  constructor(handle: Handle, files: 'keep' | 'delete') {
    this.handle = handle
    this.files = files
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    const runId = real.runIds.get(this.handle)
    if (!runId) return
    const cancel = real.any.cancel(runId, this.files)
    if (!model.isActive(this.handle)) {
      await expect(cancel).rejects.toMatchObject({ code: 'RUN_ENDED' })
      return
    }
    await cancel
    model.end(this.handle, model.state[this.handle] === 'Queued' ? 'Idle' : 'Cancelled')
    await real.agreesWith(model)
  }
  toString = () => `cancel ${this.handle} (${this.files})`
}

class Limit implements Command {
  readonly value: number
  constructor(value: number) {
    this.value = value
  }
  check = () => true
  async run(model: Model, real: Real): Promise<void> {
    await real.any.limit(this.value)
    model.limit = this.value
    model.fill()
    await real.agreesWith(model)
  }
  toString = () => `limit ${this.value}`
}

class End implements Command {
  readonly handle: Handle
  readonly how: 'finish' | 'fail'
  constructor(handle: Handle, how: 'finish' | 'fail') {
    this.handle = handle
    this.how = how
  }
  check = (model: Readonly<Model>) => model.running.has(this.handle)
  async run(model: Model, real: Real): Promise<void> {
    real.feeds[this.how](this.handle)
    model.end(this.handle, this.how === 'finish' ? 'Done' : 'Failed')
    await real.agreesWith(model)
  }
  toString = () => `${this.how} ${this.handle}`
}

class LoseWorker implements Command {
  readonly handle: Handle
  constructor(handle: Handle) {
    this.handle = handle
  }
  check = (model: Readonly<Model>) => model.running.has(this.handle)
  async run(model: Model, real: Real): Promise<void> {
    await real.loseWorkerOf(this.handle)
    // It keeps its place and runs again: nobody else may have started in between.
    await real.agreesWith(model)
  }
  toString = () => `lose the worker of ${this.handle}`
}

const commands = fc.commands(
  [
    fc.tuple(handles, fc.constantFrom('start', 'continue')).map(([handle, kind]) => new Start(handle, kind)),
    fc.tuple(handles, fc.constantFrom('start', 'continue')).map(([handle, kind]) => new Start(handle, kind)),
    fc.tuple(handles, fc.constantFrom('keep', 'delete')).map(([handle, files]) => new Cancel(handle, files)),
    fc.tuple(handles, fc.constantFrom('finish', 'fail')).map(([handle, how]) => new End(handle, how)),
    fc.tuple(handles, fc.constantFrom('finish', 'fail')).map(([handle, how]) => new End(handle, how)),
    fc.integer({ min: 1, max: 5 }).map((value) => new Limit(value)),
    handles.map((handle) => new Change(handle)),
    handles.map((handle) => new LoseWorker(handle)),
  ],
  { maxCommands: 30 },
)

const RUNS: Record<BackendName, number> = { embedded: 25, 'postgres + redis': 12 }

describe.each(availableBackends())('runs on %s', (name) => {
  test('behave like the simple model, whatever is asked in whichever order', async () => {
    const { instance } = await setupRuns(name)
    const instances = name === 'embedded' ? [await instance()] : [await instance(), await instance()]
    const one = instances[0] as Instance
    await fc.assert(
      fc.asyncProperty(commands, async (sequence) => {
        const feeds = await HeldFeeds.open(HANDLES)
        await startAfresh(one)
        for (const handle of HANDLES) await one.put(handle, feeds.url(handle))
        const { seq } = await one.runs.state()
        const real = new Real(instances, feeds)
        await fc.asyncModelRun(() => ({ model: new Model(), real }), sequence)
        await expectGapless(one, seq)
        for (const handle of HANDLES) feeds.finish(handle)
      }),
      { numRuns: RUNS[name], endOnFailure: true },
    )
  })
})

async function startAfresh(one: Instance): Promise<void> {
  const { queue, accounts } = await one.runs.state()
  const running = accounts.filter((account) => account.state === 'Running')
  for (const id of [...queue, ...running.map(({ run_id }) => run_id as string)])
    await one.cancel(id).catch(() => undefined)
  await one.until((state) => state.accounts.every(({ locked }) => !locked))
  for (const { handle } of accounts)
    await one.engine.ledger.transaction((tx) => one.runs.deleteAccount(tx, handle))
  await one.limit(3)
}

/** Whoever followed the events has seen every one of them, and ends with the same view as who looks now. */
async function expectGapless(one: Instance, after: number): Promise<void> {
  const now = await one.runs.state()
  const states = new Map<string, unknown>(HANDLES.map((handle) => [handle, 'Idle']))
  let last = after
  for (;;) {
    const events = await one.engine.events.read(last)
    if (events.length === 0) break
    for (const { seq, type, data } of events) {
      expect(seq).toBe(last + 1)
      last = seq
      if (seq <= now.seq && type === 'run_state_changed')
        states.set(data.handle as string, data.account_state)
    }
  }
  expect(last).toBeGreaterThanOrEqual(now.seq)
  expect(Object.fromEntries(states)).toEqual(
    Object.fromEntries(now.accounts.map(({ handle, state }) => [handle, state])),
  )
}
