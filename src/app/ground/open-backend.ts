import { sql } from 'kysely'
import { type Bus, type Dispatcher, InProcessBus, InProcessDispatcher } from '../../jobs/index.ts'
import { AppError, type Clock, ERRORS, isAppError, type Log } from '../../kernel/index.ts'
import { checkRolling, type Ledger, LedgerClock, migrate } from '../../ledger/index.ts'
import { openSealer, SettingsStore, sharedSecret } from '../../tenancy/index.ts'

export interface BackendOptions {
  dataDir: string
  databaseUrl: string | null
  redisUrl: string | null
  redisPrefix: string
  /** How long an instance counts as running after it was last seen; 30 s unless given. */
  leaseMs?: number
  /** Null: the ledger keeps one. */
  sealKey?: string | null
  /** For a server: no other process may use the data dir meanwhile. Who opens the embedded ledger always holds it. */
  holdsDataDir?: boolean
}

export interface Backend {
  ledger: Ledger
  dispatcher: Dispatcher
  bus: Bus
  ledgerClock: LedgerClock
  /** True if a lock proves that no other instance is alive. */
  sole: boolean
  close(): Promise<void>
}

/**
 * What the engine uses: embedded by default, PostgreSQL and Redis where they are given. The libraries for those
 * two are loaded only when they are used; an embedded server stays small.
 */
export async function openBackend(options: BackendOptions, clock: Clock, log: Log): Promise<Backend> {
  if (options.databaseUrl === null || !options.holdsDataDir) return open(options, clock, log)
  const { holdDataDir } = await import('../../ledger/sqlite/open-sqlite.ts')
  const held = holdDataDir(options.dataDir)
  try {
    const backend = await open(options, clock, log)
    return { ...backend, close: () => backend.close().finally(() => held.close()) }
  } catch (error) {
    held.close()
    throw error
  }
}

async function open(options: BackendOptions, clock: Clock, log: Log): Promise<Backend> {
  const { databaseUrl, redisUrl } = options
  const sole = databaseUrl === null || redisUrl === null
  const ledger =
    databaseUrl === null ? await openEmbedded(options, clock) : await openPostgres(databaseUrl, log, sole)
  const ledgerClock = new LedgerClock(clock)
  try {
    if (!sole) {
      await refuseBesideOnly(ledger)
      await checkRolling(ledger, options.leaseMs ?? 30_000)
    }
    await migrate(ledger)
    await ledgerClock.set(() => ledger.now())
    const { dispatcher, bus } = await openCarriers(options, { ledger, ledgerClock, log })
    return backendOf({ ledger, dispatcher, bus, ledgerClock, sole })
  } catch (error) {
    await ledger.close()
    throw error
  }
}

/** One without Redis takes the lead from whoever has it, and hears of nobody. */
async function refuseBesideOnly(ledger: Ledger): Promise<void> {
  const { OnlyInstanceLock } = await import('../../ledger/postgres/only-instance-lock.ts')
  if (await OnlyInstanceLock.isTaken(ledger))
    throw new AppError(
      ERRORS.SINGLE_INSTANCE,
      'another Wharf runs on this DATABASE_URL without REDIS_URL; to run several instances, set it on each of them',
    )
}

function backendOf(parts: Omit<Backend, 'close'>): Backend {
  const { ledger, dispatcher, bus } = parts
  return {
    ...parts,
    async close() {
      await dispatcher.close()
      await bus.close()
      await ledger.close()
    },
  }
}

async function openEmbedded({ dataDir }: BackendOptions, clock: Clock): Promise<Ledger> {
  const { openSqliteLedger } = await import('../../ledger/sqlite/open-sqlite.ts')
  return openSqliteLedger(dataDir, clock)
}

export async function openPostgres(url: string, log: Log, onlyInstance: boolean): Promise<Ledger> {
  const { openPostgresLedger } = await import('../../ledger/postgres/open-postgres.ts')
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

async function openCarriers(
  { redisUrl, redisPrefix, sealKey = null }: BackendOptions,
  { ledger, ledgerClock, log }: { ledger: Ledger; ledgerClock: LedgerClock; log: Log },
) {
  if (redisUrl === null) return { dispatcher: new InProcessDispatcher(), bus: new InProcessBus() }
  const { BullMqDispatcher } = await import('../../jobs/dispatch/bullmq-dispatcher.ts')
  const { RedisBus } = await import('../../jobs/bus/redis-bus.ts')
  const options = { url: redisUrl, prefix: redisPrefix }
  const key = await busKey(new SettingsStore(ledger), sealKey)
  return {
    dispatcher: new BullMqDispatcher(log, options),
    bus: new RedisBus(log, { ...options, key, clock: ledgerClock, ledger }),
  }
}

/** What instances prove to one another with that a message on Redis is theirs. */
async function busKey(settings: SettingsStore, sealKey: string | null): Promise<string> {
  const sealer = await openSealer(settings, sealKey)
  return sharedSecret(settings, sealer, 'bus')
}
