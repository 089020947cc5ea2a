import type { TestProject } from 'vitest/node'
import { startPostgres } from './postgres-server.ts'
import { startRedis } from './redis-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string | null
    redisUrl: string | null
  }
}

/** Brings up what the tests need, once for all of them, and takes it down again at the end. */
export default async function services(project: TestProject): Promise<() => Promise<void>> {
  const { TEST_DATABASE_URL, TEST_REDIS_URL } = process.env
  const postgres = TEST_DATABASE_URL ? undefined : await startPostgres({ fsync: false })
  const redis = TEST_REDIS_URL ? undefined : await startRedis()
  const postgresUrl = TEST_DATABASE_URL ?? postgres?.url ?? null
  const redisUrl = TEST_REDIS_URL ?? redis?.url ?? null
  if (!postgresUrl) console.error(missing('PostgreSQL', 'TEST_DATABASE_URL', 'postgresql'))
  if (!redisUrl) console.error(missing('Redis', 'TEST_REDIS_URL', 'redis-server'))
  project.provide('postgresUrl', postgresUrl)
  project.provide('redisUrl', redisUrl)
  return async () => {
    await redis?.remove()
    await postgres?.remove()
  }
}

function missing(what: string, setting: string, pack: string): string {
  return `\n!!! SKIPPED: every suite on ${what}. Install it (Debian: apt-get install ${pack}) or set ${setting}.\n`
}
