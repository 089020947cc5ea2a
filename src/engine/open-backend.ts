import type { Clock, Log } from '../kernel/index.ts'
import type { Dispatcher } from './dispatch/dispatcher.ts'
import { InProcessDispatcher } from './dispatch/in-process-dispatcher.ts'
import type { Ledger } from './ledger/ledger.ts'
import { migrate } from './ledger/migrate.ts'
import { InProcessSignal } from './signal/in-process-signal.ts'
import type { Signal } from './signal/signal.ts'

export interface BackendOptions {
  dataDir: string
  databaseUrl: string | null
  redisUrl: string | null
  redisPrefix: string
}

export interface Backend {
  ledger: Ledger
  dispatcher: Dispatcher
  signal: Signal
  /** True if a lock proves that no other instance is alive. */
  sole: boolean
  close(): Promise<void>
}

/**
 * What the engine stands on: embedded by default, PostgreSQL and Redis where they are given. The libraries for those
 * two are loaded only when they are used; an embedded server stays small.
 */
export async function openBackend(options: BackendOptions, clock: Clock, log: Log): Promise<Backend> {
  const { databaseUrl, redisUrl } = options
  const sole = databaseUrl === null || redisUrl === null
  const ledger =
    databaseUrl === null ? await openEmbedded(options, clock) : await openPostgres(databaseUrl, log, sole)
  try {
    await migrate(ledger)
  } catch (error) {
    await ledger.close()
    throw error
  }
  const { dispatcher, signal } = await openCarriers(options, log)
  return {
    ledger,
    dispatcher,
    signal,
    sole,
    async close() {
      await dispatcher.close()
      await signal.close()
      await ledger.close()
    },
  }
}

async function openEmbedded({ dataDir }: BackendOptions, clock: Clock): Promise<Ledger> {
  const { openSqliteLedger } = await import('./ledger/open-sqlite.ts')
  return openSqliteLedger(dataDir, clock)
}

async function openPostgres(url: string, log: Log, onlyInstance: boolean): Promise<Ledger> {
  const { openPostgresLedger } = await import('./ledger/open-postgres.ts')
  return openPostgresLedger(url, log, { onlyInstance })
}

async function openCarriers({ redisUrl, redisPrefix }: BackendOptions, log: Log) {
  if (redisUrl === null) return { dispatcher: new InProcessDispatcher(), signal: new InProcessSignal() }
  const { BullMqDispatcher } = await import('./dispatch/bullmq-dispatcher.ts')
  const { RedisSignal } = await import('./signal/redis-signal.ts')
  const options = { url: redisUrl, prefix: redisPrefix }
  return { dispatcher: new BullMqDispatcher(log, options), signal: new RedisSignal(log, options) }
}
