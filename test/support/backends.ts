import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { RedisBus } from '../../src/jobs/bus/redis-bus.ts'
import { BullMqDispatcher } from '../../src/jobs/dispatch/bullmq-dispatcher.ts'
import { type Bus, type Dispatcher, InProcessBus, InProcessDispatcher } from '../../src/jobs/index.ts'
import { type Clock, createLog, systemClock } from '../../src/kernel/index.ts'
import { type Ledger, migrate } from '../../src/ledger/index.ts'
import { openPostgresLedger } from '../../src/ledger/postgres/open-postgres.ts'
import { openSqliteLedger } from '../../src/ledger/sqlite/open-sqlite.ts'
import { borrowDatabase, createDatabase, patient } from './databases.ts'
import { LIMIT_MS } from './until.ts'

export const silentLog = createLog({ level: process.env.TEST_LOG_LEVEL ?? 'silent' })

/** Everything that one instance of the engine stands on; several instances may stand on the same ground. */
export interface Backend {
  name: string
  /** True if a second instance may run at the same time. */
  shared: boolean
  openLedger(clock?: Clock): Promise<Ledger>
  openDispatcher(): Dispatcher
  openBus(): Promise<Bus>
  /** Settings that make a process of its own use this backend. */
  env: Record<string, string>
  remove(): Promise<void>
}

export type BackendName = 'embedded' | 'postgres + redis'

export function availableBackends(): BackendName[] {
  return inject('postgresUrl') && inject('redisUrl') ? ['embedded', 'postgres + redis'] : ['embedded']
}

export async function openBackend(name: BackendName): Promise<Backend> {
  return name === 'embedded' ? embedded() : scaledOut()
}

function embedded(): Backend {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-test-'))
  return {
    name: 'embedded',
    shared: false,
    env: { WHARF_DATA_DIR: folder },
    async openLedger(clock = systemClock) {
      const ledger = openSqliteLedger(folder, clock)
      await migrate(ledger)
      return ledger
    },
    openDispatcher: () => new InProcessDispatcher(),
    openBus: async () => new InProcessBus(),
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** On the shared services of the test run, unless a test brings its own to stop and start. */
export async function scaledOut(
  own: { postgresUrl?: string; redisUrl?: string; answerMs?: number } = {},
): Promise<Backend> {
  const database =
    own.postgresUrl === undefined ? await borrowDatabase() : await createDatabase(own.postgresUrl)
  const folder = mkdtempSync(join(tmpdir(), 'wharf-test-'))
  const redisUrl = own.redisUrl ?? (inject('redisUrl') as string)
  const prefix = `t${randomBytes(4).toString('hex')}`
  // An answer that is late on a busy machine must not cost an id.
  const answerMs = own.answerMs ?? LIMIT_MS
  return {
    name: 'postgres + redis',
    shared: true,
    env: {
      WHARF_DATA_DIR: folder,
      // Instances with a data dir of their own still see one another's files.
      WHARF_SHARED_DIR: folder,
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      WHARF_REDIS_PREFIX: prefix,
      // The one name without the prefix: a processor of another test would take tasks of this one.
      TASK_QUEUE_KEY: `${prefix}:pending`,
    },
    async openLedger() {
      const ledger = await openPostgresLedger(patient(database.url), silentLog)
      await migrate(ledger)
      return ledger
    },
    openDispatcher: () => new BullMqDispatcher(silentLog, { url: redisUrl, prefix, answerMs }),
    async openBus() {
      const bus = new RedisBus(silentLog, { url: redisUrl, prefix, key: prefix, clock: systemClock })
      await bus.ready()
      return bus
    },
    async remove() {
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
