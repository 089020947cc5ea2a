import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { RedisSignal } from '../../../src/engine/signal/redis-signal.ts'
import { silentLog } from '../../support/backends.ts'
import { startRedis } from '../../support/redis-server.ts'
import { until } from '../../support/until.ts'
import { signalContract } from '../signal.contract.ts'

const shared = inject('redisUrl')

if (shared) {
  signalContract('redis', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const instance = async () => {
      const signal = new RedisSignal(silentLog, { url: shared, prefix })
      await signal.ready()
      return signal
    }
    return { instance, remove: async () => undefined }
  })
}

describe.runIf(shared)('signals through Redis', () => {
  test('instances hear one another again after Redis was away', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    const [one, two] = [
      new RedisSignal(silentLog, { url: redis.url }),
      new RedisSignal(silentLog, { url: redis.url }),
    ]
    onTestFinished(async () => {
      await one.close()
      await two.close()
    })
    await Promise.all([one.ready(), two.ready()])
    const heard = new Set<string>()
    one.subscribe('cancel', ({ jobId }) => heard.add(`one heard ${jobId}`))
    two.subscribe('cancel', ({ jobId }) => heard.add(`two heard ${jobId}`))
    one.publish('cancel', { jobId: 'before' })
    await until('the way is open', () => heard.size === 2)
    await redis.stop()
    one.publish('cancel', { jobId: 'lost' })
    await redis.start()
    heard.clear()
    await until('the way is open again', () => {
      one.publish('cancel', { jobId: 'a' })
      two.publish('cancel', { jobId: 'b' })
      return heard.size === 4
    })
    expect([...heard].toSorted()).toEqual(['one heard a', 'one heard b', 'two heard a', 'two heard b'])
  })

  test('what is not a signal is passed over', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const signal = new RedisSignal(silentLog, { url: shared as string, prefix })
    const stranger = new Redis(shared as string)
    onTestFinished(async () => {
      stranger.disconnect()
      await signal.close()
    })
    await signal.ready()
    const heard: string[] = []
    signal.subscribe('cancel', ({ jobId }) => heard.push(jobId))
    for (const text of ['', '{', 'null', '7', '{"topic":"cancel"}']) {
      await stranger.publish(`${prefix}:signal`, text)
    }
    signal.publish('cancel', { jobId: 'real' })
    await until('the real one has arrived', () => heard.length > 0)
    expect(heard).toEqual(['real'])
  })

  test('what is said right after being ready is heard by others', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const listener = new RedisSignal(silentLog, { url: shared as string, prefix })
    await listener.ready()
    const heard: string[] = []
    listener.subscribe('cancel', ({ jobId }) => heard.push(jobId))
    for (let count = 0; count < 10; count++) {
      const signal = new RedisSignal(silentLog, { url: shared as string, prefix })
      await signal.ready()
      signal.publish('cancel', { jobId: String(count) })
      await until('it is heard', () => heard.includes(String(count)))
      await signal.close()
    }
    await listener.close()
    expect(heard).toHaveLength(10)
  })
})
