import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { Engine, newId, openBackend } from '../../src/engine/index.ts'
import { createLog, systemClock } from '../../src/kernel/index.ts'
import { DiskStore } from '../../src/storage/index.ts'
import { openTransfers, type Transfers } from '../../src/transfers/index.ts'
import { startPostgres } from '../../test/support/postgres-server.ts'
import { startRedis } from '../../test/support/redis-server.ts'

/**
 * Joining windows: how many requests one process accepts and has on disk each second, and how long a caller waits.
 * Callers ask one after the other, each for a target of its own, all for the same file; the servers sync to disk as
 * they do in production. The bar, on PostgreSQL with Redis: 3,000 joins a second, 99 of 100 within 50 ms at 500
 * callers, and the last of 10,000 targets of a window no slower than the first 100.
 */

const CALLERS = 500
const ROUNDS = 3
const WINDOW_SECONDS = 3_600
const SIGNATURE = createHash('sha256').update('bench').digest('hex')
const log = createLog({ level: 'silent' })

interface Ground {
  name: string
  databaseUrl: string | null
  redisUrl: string | null
}

async function open({ databaseUrl, redisUrl }: Ground) {
  const dataDir = await mkdtemp(join(tmpdir(), 'wharf-bench-'))
  const backend = await openBackend(
    { dataDir, databaseUrl, redisUrl, redisPrefix: 'bench' },
    systemClock,
    log,
  )
  const { ledger } = backend
  const engine = new Engine({ ...backend, clock: systemClock, log }, { version: 'bench', sole: false })
  const store = await DiskStore.open({ clock: systemClock }, { root: join(dataDir, 'files') })
  const refuse = () => Promise.reject(new Error('nothing is carried here'))
  const { transfers, mirror } = await openTransfers(
    {
      engine,
      ledger,
      store,
      clock: systemClock,
      log,
      carrier: { start: refuse, result: refuse, terminate: refuse },
      connected: async () => [],
      exportFile: refuse,
    },
    {
      dataDir,
      windowSeconds: WINDOW_SECONDS,
      timeoutSeconds: 600,
      ttlSeconds: 1800,
      maxFileBytes: 1,
      redisUrl,
      redisPrefix: 'bench',
    },
  )
  const projectId = newId()
  await ledger.db
    .insertInto('projects')
    .values({ id: projectId, name: 'bench', api_key_hash: '', webhook_secret: '', created_at: 0 })
    .execute()
  return {
    transfers,
    ledger,
    projectId,
    async close() {
      await mirror?.stop()
      engine.feed.close()
      await backend.close()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** Callers that come at a given rate, whatever the answers do: the same for every machine that can keep up. */
async function joinPaced(
  transfers: Transfers,
  projectId: string,
  { file, perSecond, count }: { file: string; perSecond: number; count: number },
): Promise<{ seconds: number; waits: number[] }> {
  const waits: number[] = []
  let next = 0
  const began = performance.now()
  const caller = async (number: number) => {
    for (let turn = number; turn < count; turn += CALLERS) {
      const due = began + (turn * 1000) / perSecond
      const early = due - performance.now()
      if (early > 0) await systemClock.sleep(early)
      const asked = performance.now()
      await ask(transfers, projectId, file, next++)
      waits.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: CALLERS }, (_, number) => caller(number)))
  return { seconds: (performance.now() - began) / 1000, waits }
}

function ask(transfers: Transfers, projectId: string, file: string, agent: number) {
  return transfers.request(projectId, {
    biz_id: 1,
    app_id: 1,
    file_path: '/bench',
    file_name: file,
    file_signature: SIGNATURE,
    target_agent_id: `agent-${agent}`,
    target_user: 'root',
    target_file_dir: '/opt/app',
  })
}

/** Asks for `count` targets of one file with so many callers at once. Returns each caller's waits in milliseconds. */
async function joinMany(
  transfers: Transfers,
  projectId: string,
  { file, from, count, callers }: { file: string; from: number; count: number; callers: number },
): Promise<{ seconds: number; waits: number[] }> {
  const waits: number[] = []
  let next = from
  const began = performance.now()
  const caller = async () => {
    while (next < from + count) {
      const agent = next++
      const asked = performance.now()
      await ask(transfers, projectId, file, agent)
      waits.push(performance.now() - asked)
    }
  }
  await Promise.all(Array.from({ length: Math.min(callers, count) }, caller))
  return { seconds: (performance.now() - began) / 1000, waits }
}

function at(waits: number[], part: number): number {
  const sorted = [...waits].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

function line(what: string, { seconds, waits }: { seconds: number; waits: number[] }): void {
  const rate = Math.round(waits.length / seconds)
  console.log(
    `  ${what.padEnd(44)} ${String(rate).padStart(6)} joins/s   median ${at(waits, 0.5).toFixed(1).padStart(6)} ms   p99 ${at(waits, 0.99).toFixed(1).padStart(6)} ms`,
  )
}

async function measure(ground: Ground): Promise<void> {
  console.log(ground.name)
  const { transfers, projectId, ledger, close } = await open(ground)
  try {
    await joinMany(transfers, projectId, { file: 'warm-up', from: 0, count: 3_000, callers: CALLERS })
    for (let round = 1; round <= ROUNDS; round++) {
      const file = `round-${round}`
      const some = (from: number, count: number, callers: number) =>
        joinMany(transfers, projectId, { file, from, count, callers })
      if (round === 1)
        line(
          'one caller alone',
          await joinMany(transfers, projectId, { file: 'alone', from: 0, count: 200, callers: 1 }),
        )
      line(`round ${round}: targets 1 to 100, 100 callers`, await some(0, 100, 100))
      line(`round ${round}: targets 101 to 9,900, ${CALLERS} callers`, await some(100, 9_800, CALLERS))
      line(`round ${round}: targets 9,901 to 10,000, 100 callers`, await some(9_900, 100, 100))
    }
    const used = process.cpuUsage()
    const paced = await joinPaced(transfers, projectId, { file: 'paced', perSecond: 3_000, count: 15_000 })
    const { user, system } = process.cpuUsage(used)
    line(`3,000 joins/s offered by ${CALLERS} callers`, paced)
    console.log(`  of which this process computed ${((user + system) / 15_000).toFixed(0)} µs a join`)
    const burst = await joinMany(transfers, projectId, {
      file: 'burst',
      from: 0,
      count: 10_000,
      callers: 10_000,
    })
    line('10,000 callers at the same moment', burst)
    const { count } = await ledger.db
      .selectFrom('transfer_targets')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    const expected = 3_000 + 200 + ROUNDS * 10_000 + 15_000 + 10_000
    console.log(`  targets in the ledger: ${count} of ${expected}`)
    if (Number(count) !== expected) process.exitCode = 1
  } finally {
    await close()
  }
}

const postgres = await startPostgres({ fsync: true })
const redis = await startRedis()
try {
  await measure({ name: 'embedded (SQLite, synchronous=FULL)', databaseUrl: null, redisUrl: null })
  if (postgres && redis) {
    const client = new pg.Client({ connectionString: postgres.url })
    await client.connect()
    await client.query('create database bench')
    await client.end()
    const databaseUrl = new URL(postgres.url)
    databaseUrl.pathname = '/bench'
    await measure({
      name: 'PostgreSQL (fsync on) + Redis, one process',
      databaseUrl: databaseUrl.href,
      redisUrl: redis.url,
    })
  } else console.log('PostgreSQL + Redis: skipped, they are not installed')
} finally {
  await redis?.remove()
  await postgres?.remove()
}
