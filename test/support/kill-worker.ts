import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { Engine, type JobContext } from '../../src/jobs/index.ts'
import { createLog, systemClock } from '../../src/kernel/index.ts'

/**
 * A process that accepts and works jobs until it is killed.
 *
 * It says `accepted <job>` once the transaction that holds the job is committed, so whatever was said must be done in
 * the end. Each run writes (job, fence) through its own claim, before and after some waiting, so that a run which was
 * overtaken would show. With `ACCEPT=0` it only works off what is there.
 */
const { WHARF_DATA_DIR, DATABASE_URL, REDIS_URL, WHARF_REDIS_PREFIX, ACCEPT } = process.env
const log = createLog({ level: process.env.TEST_LOG_LEVEL ?? 'silent', destination: process.stderr })

// Only what is needed is loaded, because twenty of these are started in one test.
async function embedded() {
  const { openSqliteLedger } = await import('../../src/ledger/sqlite/open-sqlite.ts')
  const { InProcessDispatcher } = await import('../../src/jobs/dispatch/in-process-dispatcher.ts')
  const { InProcessBus } = await import('../../src/jobs/bus/in-process-bus.ts')
  return async () => ({
    ledger: openSqliteLedger(WHARF_DATA_DIR as string, systemClock),
    dispatcher: new InProcessDispatcher(),
    bus: new InProcessBus(),
  })
}

async function scaledOut() {
  const { openPostgresLedger } = await import('../../src/ledger/postgres/open-postgres.ts')
  const { BullMqDispatcher } = await import('../../src/jobs/dispatch/bullmq-dispatcher.ts')
  const { RedisBus } = await import('../../src/jobs/bus/redis-bus.ts')
  const redis = { url: REDIS_URL as string, prefix: WHARF_REDIS_PREFIX as string }
  return async () => ({
    ledger: await openPostgresLedger(DATABASE_URL as string, log, { connections: 6 }),
    dispatcher: new BullMqDispatcher(log, redis),
    bus: new RedisBus(log, { ...redis, key: redis.prefix, clock: systemClock }),
  })
}

// Loaded and warm, it waits for its turn: a data dir has room for one at a time.
const open = await (DATABASE_URL ? scaledOut() : embedded())
// What was compiled is kept for the next ones: at its end this process has no time for that.
flushCompileCache()
await once(process.stdin, 'data')
const { ledger, dispatcher, bus } = await open()

const engine = new Engine(
  { ledger, dispatcher, bus, clock: systemClock, log },
  { version: 'test', sole: !DATABASE_URL, leaseMs: 2_000, defaultSlots: 4 },
)

engine.define({
  name: 'kill',
  maxCrashes: 1_000,
  lane: { name: 'kill', limit: 6, policy: 'fifo' },
  async run({ job, signal: stop, transaction }: JobContext<number>) {
    const note = () =>
      transaction((tx) =>
        sql`insert into kill_notes (job, fence) values (${job.id}, ${job.fence})`.execute(tx.db),
      )
    await note()
    await delay(Math.random() * 20, undefined, { signal: stop })
    await note()
    return job.payload
  },
})

await engine.start()
console.log('ready')

for (let count = 0; ACCEPT !== '0'; count++) {
  const { jobId } = await ledger.transaction((tx) =>
    engine.enqueue(tx, { kind: 'kill', payload: count, tasks: [{}] }),
  )
  console.log(`accepted ${jobId}`)
  await delay(Math.random() * 15)
}
