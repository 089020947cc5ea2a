import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import pg from 'pg'
import { AppError, ERRORS, type Log, ledgerPools } from '../../kernel/index.ts'
import { Ledger } from '../ledger.ts'
import type { Schema } from '../schema.ts'
import { OnlyInstanceLock } from './only-instance-lock.ts'
import { PostgresDriver, type Silence } from './postgres-driver.ts'
import {
  EVENT_CONNECTIONS,
  longestSilence,
  SESSION_LIMITS,
  type SessionLimits,
  sessionSettings,
  WORK_CONNECTIONS,
} from './session-settings.ts'

const BIGINT = 20

type PoolUse = 'work' | 'events'
const APPLICATION: Record<PoolUse, string> = { work: 'wharf', events: 'wharf-events' }

export interface PostgresOptions {
  connections?: number
  limits?: Partial<SessionLimits>
  /** Without Redis nothing wakes another instance, so only one may run. */
  onlyInstance?: boolean
}

export async function openPostgresLedger(
  url: string,
  log: Log,
  { connections = WORK_CONNECTIONS, limits, onlyInstance = false }: PostgresOptions = {},
): Promise<Ledger> {
  const lock = onlyInstance ? new OnlyInstanceLock(url, log) : undefined
  if (lock && !(await lock.take())) {
    throw new AppError(
      ERRORS.SINGLE_INSTANCE,
      'another Wharf already runs on this DATABASE_URL; to run several instances, set REDIS_URL on each of them',
    )
  }
  const sessionLimits = { ...SESSION_LIMITS, ...limits }
  const settings = { ...sessionSettings(sessionLimits), connectionString: url }
  const silence = { longestMs: longestSilence(url, sessionLimits), answerMs: sessionLimits.answerMs }
  const watched: (() => void)[] = []
  const open = (max: number, use: PoolUse) => {
    const pool = openPool({ ...settings, max, application_name: APPLICATION[use] }, log)
    watched.push(ledgerPools.watch(() => stateOf(pool, use)))
    return openDatabase(pool, silence)
  }
  return new Ledger(
    open(connections, 'work'),
    'postgres',
    async () => {
      for (const end of watched) end()
      await lock?.release()
    },
    { readers: open(EVENT_CONNECTIONS, 'events') },
  )
}

function openPool(settings: pg.PoolConfig, log: Log): pg.Pool {
  const pool = new pg.Pool({
    ...settings,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 60_000,
    // Times and counts are far below 2^53, so bigint columns may come back as numbers.
    types: {
      getTypeParser: ((oid: number, format?: 'text') =>
        oid === BIGINT ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
    },
  })
  pool.on('error', (error) => log.warn({ err: error }, 'a connection to PostgreSQL was lost'))
  // The pool listens to idle connections only. One that breaks between two statements of a transaction would be an
  // uncaught exception; the next statement on it says so anyway.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

function stateOf({ totalCount, idleCount, waitingCount, options }: pg.Pool, use: PoolUse) {
  return { pool: use, max: options.max, open: totalCount, idle: idleCount, waiting: waitingCount }
}

function openDatabase(pool: pg.Pool, silence: Silence): Kysely<Schema> {
  return new Kysely<Schema>({
    dialect: {
      createDriver: () => new PostgresDriver(pool, silence),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    },
  })
}
