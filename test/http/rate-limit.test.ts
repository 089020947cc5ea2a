import { randomUUID } from 'node:crypto'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openRateCounts } from '../../src/app/ground/rate-counts.ts'
import { loadConfig } from '../../src/config.ts'
import { RequestLimiter } from '../../src/http/limits/index.ts'
import { silentLog } from '../support/backends.ts'
import { startRedis } from '../support/redis-server.ts'
import { until } from '../support/until.ts'

/** An instance; the window is so long that no machine is too slow for it. */
async function instance(redisUrl: string, prefix: string) {
  const config = loadConfig({ REDIS_URL: redisUrl, WHARF_REDIS_PREFIX: prefix })
  const rates = await openRateCounts(config, silentLog)
  onTestFinished(() => rates?.close())
  const limiter = new RequestLimiter({ perSecond: 0.001, burst: 5 }, rates?.counts)
  const redis = rates?.counts.redis as { status: string }
  await until('Redis is there', () => redis.status === 'ready')
  const count = (who: string) =>
    limiter.count(who).then(
      () => 'taken',
      (error) => error.code as string,
    )
  return { count, redis }
}

test.runIf(inject('redisUrl'))('instances count the requests of a caller together', async () => {
  const prefix = `t${randomUUID().slice(0, 8)}`
  const [one, two] = [
    await instance(inject('redisUrl') as string, prefix),
    await instance(inject('redisUrl') as string, prefix),
  ]
  const answers = []
  for (let index = 0; index < 3; index++) answers.push(await one.count('a'), await two.count('a'))
  expect(answers).toEqual(['taken', 'taken', 'taken', 'taken', 'taken', 'RATE_LIMITED'])
  expect(await two.count('b')).toBe('taken')
})

test('while Redis is away each instance counts for itself, and together again when it is back', async () => {
  const server = await startRedis()
  if (!server) return console.error('!!! SKIPPED: there is no redis-server')
  onTestFinished(() => server.remove())
  const one = await instance(server.url, 'away')
  expect(await one.count('a')).toBe('taken')
  await server.stop()
  await until('the connection is gone', () => one.redis.status !== 'ready')
  const alone = []
  for (let index = 0; index < 6; index++) alone.push(await one.count('a'))
  expect(alone).toEqual([...Array(5).fill('taken'), 'RATE_LIMITED'])
  await server.start()
  await until('the connection is back', () => one.redis.status === 'ready')
  expect(await one.count('a')).toBe('taken')
})
