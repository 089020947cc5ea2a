import { sql } from 'kysely'
import { AppError, type Clock, ERRORS, isAppError, type Log } from '../kernel/index.ts'
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
  try {
    const ledger = await openPostgresLedger(url, log, { onlyInstance })
    await sql`select 1`.execute(ledger.db).catch(async (error) => {
      await ledger.close()
      throw error
    })
    return ledger
  } catch (cause) {
    if (isAppError(cause) && !isAppError(cause, ERRORS.LEDGER_UNAVAILABLE)) throw cause
    const { code, message } = rootOf(cause)
    const reason = code === undefined ? message : `${message}, ${code}`
    const where = `PostgreSQL at ${new URL(url).host} does not let Wharf in (${reason}); check DATABASE_URL`
    throw new AppError(ERRORS.LEDGER_UNAVAILABLE, where, { cause })
  }
}

function rootOf(error: unknown): { code?: string; message: string } {
  const { cause } = error as { cause?: unknown }
  return cause instanceof Error ? rootOf(cause) : (error as { code?: string; message: string })
}

async function openCarriers({ redisUrl, redisPrefix }: BackendOptions, log: Log) {
  if (redisUrl === null) return { dispatcher: new InProcessDispatcher(), signal: new InProcessSignal() }
  const { BullMqDispatcher } = await import('./dispatch/bullmq-dispatcher.ts')
  const { RedisSignal } = await import('./signal/redis-signal.ts')
  const options = { url: redisUrl, prefix: redisPrefix }
  return { dispatcher: new BullMqDispatcher(log, options), signal: new RedisSignal(log, options) }
}
