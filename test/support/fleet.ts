import { onTestFinished } from 'vitest'
import type { EngineOptions } from '../../src/jobs/engine.ts'
import { Engine, type JobKind } from '../../src/jobs/index.ts'
import type { Ledger } from '../../src/ledger/index.ts'
import { type Backend, type BackendName, openBackend, silentLog } from './backends.ts'
import { runSql } from './databases.ts'
import { ManualClock } from './manual-clock.ts'
import { until } from './until.ts'
import { WatchedDispatcher } from './watched-dispatcher.ts'

type Kinds = JobKind<never, unknown>[]

/** Duties of every instance (heartbeat, leases), and of the leader (overdue jobs, retention, capacity). */
const EVERY_INSTANCE = 2
const LEADER = 3

type InstanceOptions = Partial<EngineOptions> & {
  /** Called between the definition of the kinds and the start. */
  prepare?(engine: Engine): void
}

/** The ledger's clock, which stands still until the test moves it. */
interface LedgerTime {
  clock: ManualClock
  advance(ms: number): Promise<void>
}

/**
 * Several instances on one ledger whose time stands still.
 *
 * Each instance also has a clock of its own, standing still as well: its duties run once at the start, and then only
 * when the test moves that clock or calls `runOnce`. So a worker is made to miss its renewals simply by moving the
 * ledger's time alone. Embedded, the instances share one ledger, dispatcher and bus inside the test's process.
 */
export async function fleet(ground: BackendName | Backend) {
  const backend = typeof ground === 'string' ? await openBackend(ground) : ground
  const closers: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const close of closers.reverse()) await close()
    await backend.remove()
  })
  const time = await ledgerTime(backend)
  const shared = backend.shared ? undefined : await openGround(backend, time.clock)
  if (shared) closers.push(shared.close)
  return {
    backend,
    advance: time.advance,
    async instance(kinds: Kinds, { prepare, ...options }: InstanceOptions = {}) {
      const { ledger, dispatcher, bus, close } = shared ?? (await openGround(backend, time.clock))
      const watched = new WatchedDispatcher(dispatcher)
      const clock = new ManualClock()
      const engine = new Engine(
        { ledger, dispatcher: watched, bus, clock, log: silentLog },
        { version: 'test', sole: false, drainMs: 0, ...options },
      )
      for (const kind of kinds) engine.define(kind)
      prepare?.(engine)
      closers.push(async () => {
        let stopped = false
        const stopping = engine.stop().finally(() => (stopped = true))
        // Handlers that a failed test left behind get their time to stop, too.
        await until('the instance has stopped', () => stopped || clock.advance(1_000))
        await stopping
        if (!shared) await close()
      })
      await engine.start()
      // The first pass of each duty is over and all of them sleep: from here on only the test moves things.
      const duties = () => EVERY_INSTANCE + (engine.leadership.leads ? LEADER : 0)
      await until('its duties sleep', () => clock.sleeping >= duties())
      return { engine, ledger, dispatcher: watched, bus, clock }
    },
  }
}

export type Instance = Awaited<ReturnType<Awaited<ReturnType<typeof fleet>>['instance']>>

async function openGround(backend: Backend, clock: ManualClock) {
  const ledger = await backend.openLedger(clock)
  const dispatcher = backend.openDispatcher()
  const bus = await backend.openBus()
  const close = async () => {
    await dispatcher.close()
    await bus.close()
    await ledger.close()
  }
  return { ledger, dispatcher, bus, close }
}

async function ledgerTime(backend: Backend): Promise<LedgerTime> {
  const clock = new ManualClock()
  const url = backend.env.DATABASE_URL
  if (url === undefined) return { clock, advance: async (ms) => clock.advance(ms) }
  const ledger = await backend.openLedger()
  await ledger.close()
  await runSql(
    url,
    `create table test_time (ms bigint not null);
     insert into test_time values (${clock.now()});
     create or replace function wharf_now() returns bigint language sql volatile as 'select ms from test_time';`,
  )
  return {
    clock,
    async advance(ms) {
      clock.advance(ms)
      await runSql(url, `update test_time set ms = ${clock.now()}`)
    },
  }
}

/** Enqueues one job with one task in a transaction of its own. */
export async function submit(
  { engine, ledger }: { engine: Engine; ledger: Ledger },
  kind: string,
  more: { payload?: unknown; owner?: string; dueAt?: number; shareKey?: string; deferred?: boolean } = {},
): Promise<{ jobId: string; taskId: string }> {
  const { jobId, taskIds } = await ledger.transaction((tx) =>
    engine.enqueue(tx, { kind, payload: null, tasks: [{}], ...more }),
  )
  return { jobId, taskId: taskIds[0] as string }
}
