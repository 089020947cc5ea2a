import { expect, onTestFinished, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { problemOf, startExports } from '../support/export-client.ts'
import { startPostgres } from '../support/postgres-server.ts'
import { startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

const scaledOut = test.runIf(availableBackends().length > 1)

async function setup() {
  const [postgres, redis] = await Promise.all([startPostgres({ fsync: false }), startRedis()])
  if (!postgres || !redis) throw new Error('PostgreSQL and Redis are there, or this test is skipped')
  onTestFinished(async () => {
    await redis.remove()
    await postgres.remove()
  })
  const bundle = await startExports('embedded', {
    env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url },
  })
  return { ...bundle, postgres, redis }
}

scaledOut(
  'an export outlives an outage of Redis, and one asked for meanwhile is made and called back at once',
  async () => {
    const { business, client, redis } = await setup()
    const source = business.source({ total: 250 })
    source.holdFrom(1)
    const receiver = business.receiver()
    const { task_id } = await client.start({ source_url: source.url, page_size: 100, callback: receiver.url })
    await source.untilHeld()
    await redis.stop()
    source.release()
    expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded', file: { rows: 250 } })
    const meanwhile = await client.start({ source_url: source.url, fresh: true })
    expect(await client.ended(meanwhile.task_id)).toMatchObject({ status: 'succeeded' })
    expect((await receiver.call()).body.type).toBe('export.succeeded')
    await redis.start()
  },
)

scaledOut(
  'an export outlives an outage of PostgreSQL; whoever asks meanwhile is told to come back',
  async () => {
    const { business, client, postgres } = await setup()
    const source = business.source({ total: 250 })
    source.holdFrom(1)
    const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
    await source.untilHeld()
    await postgres.stop()
    const away = await until('the outage is noticed', async () => {
      const answer = await client.get(task_id)
      return answer.status === 503 && answer
    })
    expect(await problemOf(away)).toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    expect(await problemOf(client.post({ source_url: source.url, fresh: true }))).toMatchObject({
      status: 503,
    })
    source.release()
    await postgres.start()
    const view = await until('the export has ended', async () => {
      const answer = await client.get(task_id)
      const task = answer.status === 200 ? ((await answer.json()) as { status: string }) : undefined
      return task?.status === 'succeeded' && task
    })
    expect(view).toMatchObject({ file: { rows: 250 }, error: null })
    expect((await client.run({ source_url: source.url, fresh: true })).file?.rows).toBe(250)
  },
)
