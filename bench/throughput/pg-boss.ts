import PgBoss from 'pg-boss'
import { CONCURRENCY, type Contestant, type Opened } from './contestant.ts'

const QUEUE = 'noop'
const durable = 'PostgreSQL, fsync before every answer; one row'

/** As its manual has it: `work` fetches a batch every half a second, its shortest interval. */
export const pgBossWork: Contestant = {
  name: 'pg-boss, work()',
  durable,
  open: (services, done) =>
    openBoss(services, async (boss) => {
      await boss.work(QUEUE, { batchSize: CONCURRENCY, pollingIntervalSeconds: 0.5 }, async (jobs) => {
        for (const _ of jobs) done()
      })
      return async () => undefined
    }),
}

/** Its parts in a loop of our own that never waits: the most that can be had from it. */
export const pgBossLoop: Contestant = {
  name: 'pg-boss, fetch() in a loop',
  durable,
  open: (services, done) =>
    openBoss(services, async (boss) => {
      let stopped = false
      const loop = async () => {
        while (!stopped) {
          const jobs = await boss.fetch(QUEUE, { batchSize: 1 })
          for (const job of jobs) {
            await boss.complete(QUEUE, job.id)
            done()
          }
          if (jobs.length === 0) return
        }
      }
      const loops = Array.from({ length: CONCURRENCY }, loop)
      return async () => {
        stopped = true
        await Promise.all(loops)
      }
    }),
}

async function openBoss(
  services: Parameters<Contestant['open']>[0],
  start: (boss: PgBoss) => Promise<() => Promise<void>>,
): Promise<Opened> {
  const database = await services.createDatabase()
  const boss = new PgBoss({ connectionString: database.url, max: 10 })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.createQueue(QUEUE)
  let stop = async (): Promise<void> => undefined
  return {
    async enqueue() {
      await boss.send(QUEUE, {})
    },
    async work() {
      stop = await start(boss)
    },
    async close() {
      await stop()
      await boss.stop({ graceful: false, wait: true })
      await database.drop()
    },
  }
}
