import { Logger, makeWorkerUtils, type Runner, run } from 'graphile-worker'
import pg from 'pg'
import { CONCURRENCY, type Contestant } from './contestant.ts'

const quiet = new Logger(() => () => undefined)
const durable = 'PostgreSQL, fsync before every answer; one row; a dead worker keeps its jobs for 4 h'

function graphileWorker(name: string, preset: GraphileConfig.Preset): Contestant {
  return {
    name,
    durable,
    async open(services, done) {
      const database = await services.createDatabase()
      const pgPool = new pg.Pool({ connectionString: database.url, max: 10 })
      // Connections may still be closing when their database is dropped.
      pgPool.on('error', () => undefined)
      pgPool.on('connect', (client) => client.on('error', () => undefined))
      const utils = await makeWorkerUtils({ pgPool, logger: quiet })
      await utils.migrate()
      let runner: Runner | undefined
      return {
        async enqueue() {
          await utils.addJob('noop', {})
        },
        async work() {
          runner = await run({
            pgPool,
            logger: quiet,
            concurrency: CONCURRENCY,
            noHandleSignals: true,
            taskList: { noop: async () => undefined },
            preset,
          })
          runner.events.on('job:complete', done)
        },
        async settled() {
          // A job's row is deleted when its end is written.
          for (;;) {
            const { rows } = await pgPool.query('select 1 from graphile_worker._private_jobs limit 1')
            if (rows.length === 0) return
          }
        },
        async close() {
          await runner?.stop()
          await utils.release()
          await pgPool.end()
          await database.drop()
        },
      }
    },
  }
}

export const graphile = graphileWorker('graphile-worker', {})

/** With the settings that its manual recommends for throughput. */
export const graphileBatched = graphileWorker('graphile-worker, batched', {
  worker: { localQueue: { size: CONCURRENCY * 4 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 },
})
