import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'
import { startPostgres } from '../test/support/postgres-server.ts'
import { startRedis } from '../test/support/redis-server.ts'

export interface Services {
  /** Ends in the database that only the counters use. */
  adminUrl: string
  redisUrl: string
  /** An empty database of its own. */
  createDatabase(): Promise<{ name: string; url: string; drop(): Promise<void> }>
  /** Empties Redis, so that one measurement leaves nothing to the next. */
  emptyRedis(): Promise<void>
  stop(): Promise<void>
}

/**
 * A PostgreSQL (fsync on, statements counted by the server) and a Redis (no persistence) of their own. Benchmarks need
 * settings of their own, so servers that happen to run on the machine are not used.
 */
export async function startServices(): Promise<Services> {
  const postgres = await startPostgres({
    settings: {
      shared_preload_libraries: 'pg_stat_statements',
      max_connections: '800',
      // A checkpoint in one cell of a table and not in another would be noise.
      max_wal_size: '4GB',
      checkpoint_timeout: '30min',
    },
  })
  const redis = await startRedis()
  if (!postgres || !redis) {
    await postgres?.remove()
    await redis?.remove()
    throw new Error('needs PostgreSQL and Redis (Debian: apt-get install postgresql redis-server)')
  }
  await execute(postgres.url, 'create extension pg_stat_statements')
  return {
    adminUrl: postgres.url,
    redisUrl: redis.url,
    async createDatabase() {
      const name = `bench_${randomBytes(6).toString('hex')}`
      await execute(postgres.url, `create database ${name}`)
      const url = new URL(postgres.url)
      url.pathname = `/${name}`
      return { name, url: url.href, drop: () => execute(postgres.url, `drop database ${name} with (force)`) }
    },
    async emptyRedis() {
      const client = new Redis(redis.url)
      await client.flushall()
      client.disconnect()
    },
    async stop() {
      await redis.remove()
      await postgres.remove()
    },
  }
}

export async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
