import { randomBytes } from 'node:crypto'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import type { Launcher } from './fronted-server.ts'
import { preparePostgres } from './postgres-server.ts'
import { prepareRedis } from './redis-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string | null
    /** How the names of this run's databases begin. */
    databasePrefix: string
    redisUrl: string | null
  }
}

/** Nobody crashes the PostgreSQL that all share, and no statement of a test is worth compiling. */
const QUICK = { synchronous_commit: 'off', full_page_writes: 'off', jit: 'off' }

/** Brings up what the tests need, once for all of them, and takes it down again at the end, whatever ends the run. */
export default async function services(project: TestProject): Promise<() => Promise<void>> {
  // On these a process ends without further ado, and leaves its folders behind.
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env
  const postgres = TEST_DATABASE_URL
    ? undefined
    : await bringUp(preparePostgres({ fsync: false, settings: QUICK }))
  const redis = TEST_REDIS_URL ? undefined : await bringUp(prepareRedis())
  const postgresUrl =
    TEST_DATABASE_URL ?? (postgres ? `postgres://wharf@127.0.0.1:${postgres.port}/postgres` : null)
  const redisUrl = TEST_REDIS_URL ?? (redis ? `redis://127.0.0.1:${redis.port}/0` : null)
  if (!postgresUrl) console.error(missing('PostgreSQL', 'TEST_DATABASE_URL', 'postgresql'))
  if (!redisUrl) console.error(missing('Redis', 'TEST_REDIS_URL', 'redis-server'))
  project.provide('postgresUrl', postgresUrl)
  project.provide('redisUrl', redisUrl)
  const prefix = `wharf_${randomBytes(6).toString('hex')}_`
  project.provide('databasePrefix', prefix)
  return async () => {
    await redis?.remove()
    await postgres?.remove()
    if (TEST_DATABASE_URL) await dropDatabases(TEST_DATABASE_URL, prefix)
  }
}

async function bringUp(launcher: Launcher | undefined) {
  const launched = await launcher?.start()
  if (!launcher || !launched) return undefined
  const remove = async () => {
    await launched.stop()
    launcher.clean()
  }
  return { port: launched.port, remove }
}

async function dropDatabases(url: string, prefix: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ datname: string }>(
    'select datname from pg_database where starts_with(datname, $1)',
    [prefix],
  )
  for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`)
  await client.end()
}

function missing(what: string, setting: string, pack: string): string {
  return `\n!!! SKIPPED: every suite on ${what}. Install it (Debian: apt-get install ${pack}) or set ${setting}.\n`
}
