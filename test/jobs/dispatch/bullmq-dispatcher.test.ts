import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { BullMqDispatcher } from '../../../src/jobs/dispatch/bullmq-dispatcher.ts'
import { silentLog } from '../../support/backends.ts'
import { startRedis } from '../../support/redis-server.ts'
import { LIMIT_MS, until } from '../../support/until.ts'
import { dispatcherContract } from '../dispatcher.contract.ts'

const shared = inject('redisUrl')
const wake = (id: string) => ({ id, pool: 'default', delayMs: 0 })

if (shared) {
  dispatcherContract('BullMQ on Redis', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    return {
      instance: async () => new BullMqDispatcher(silentLog, { url: shared, prefix, answerMs: LIMIT_MS }),
      remove: async () => undefined,
    }
  })
}

describe.runIf(shared)('BullMQ on a Redis that comes and goes', () => {
  test('publishing fails while Redis is away, and consumers come back by themselves', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    const one = new BullMqDispatcher(silentLog, { url: redis.url })
    const two = new BullMqDispatcher(silentLog, { url: redis.url })
    onTestFinished(async () => {
      await one.close()
      await two.close()
    })
    const seen: string[] = []
    one.consume('default', 2, async (id) => void seen.push(id))
    two.consume('default', 2, async (id) => void seen.push(id))
    await one.publish([wake('before')])
    await until('consumers are up', () => seen.length === 1)
    expect([await one.forgot(), await two.forgot()]).toEqual([true, false])

    await redis.stop()
    // A server that has gone away is noticed with the closed connection; then nothing waits for its return.
    await until('publishing fails', () =>
      one.publish([wake('lost')]).then(
        () => false,
        () => true,
      ),
    )
    await expect(one.forgot()).rejects.toThrow()

    await redis.start()
    seen.length = 0
    await until('publishing works again', () =>
      one.publish([wake('after')]).then(
        () => true,
        () => false,
      ),
    )
    await until('a consumer is back', () => seen.length === 1)
    expect(seen).toEqual(['after'])
    await until('the other instance is connected', () =>
      two.publish([wake('other')]).then(
        () => true,
        () => false,
      ),
    )
    await until('a consumer has it', () => seen.length === 2)
    // What was published is gone with the memory of Redis: exactly one instance is told so.
    expect([await two.forgot(), await one.forgot(), await two.forgot()]).toEqual([true, false, false])
  })

  test('consumers can be stopped while Redis is away, and right after it came back', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    const dispatcher = new BullMqDispatcher(silentLog, { url: redis.url })
    const seen: string[] = []
    const consume = () => dispatcher.consume('default', 2, async (id) => void seen.push(id))
    const first = consume()
    await dispatcher.publish([wake('a')])
    await until('it is up', () => seen.length === 1)
    await redis.stop()
    await redis.start()
    await first.stop()
    const second = consume()
    await redis.stop()
    await second.stop()
    await consume().stop()
    await dispatcher.close()
    expect(seen).toEqual(['a'])
  })

  test('handled wakes leave nothing behind in Redis', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const dispatcher = new BullMqDispatcher(silentLog, { url: shared as string, prefix, answerMs: LIMIT_MS })
    const redis = new Redis(shared as string)
    onTestFinished(async () => {
      await dispatcher.close()
      redis.disconnect()
    })
    const seen: string[] = []
    const consumer = dispatcher.consume('default', 4, async (id) => void seen.push(id))
    await dispatcher.publish(Array.from({ length: 40 }, (_, index) => wake(`job-${index}`)))
    await until('every id has arrived', () => seen.length === 40)
    const left = async () => {
      const keys = await redis.keys(`${prefix}:wake-default:*`)
      return keys.filter((key) => /:(\d+|active|wait|completed|failed)(:lock)?$/.test(key))
    }
    await until('Redis is empty', async () => (await left()).length === 0)
    await consumer.stop()
    expect(await left()).toEqual([])
  })

  test('a consumer that stops under load gives back what it had fetched but not handed over', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const dispatcher = new BullMqDispatcher(silentLog, { url: shared as string, prefix, answerMs: LIMIT_MS })
    const redis = new Redis(shared as string)
    onTestFinished(async () => {
      await dispatcher.close()
      redis.disconnect()
    })
    const seen: string[] = []
    const wanted = Array.from({ length: 120 }, (_, index) => `job-${index}`)
    await dispatcher.publish(wanted.map(wake))
    // Stopped again and again in the middle of fetching.
    for (let round = 1; round <= 10; round++) {
      const consumer = dispatcher.consume('default', 2, async (id) => void seen.push(id))
      await until('some have arrived', () => seen.length >= round * 5)
      await consumer.stop()
    }
    dispatcher.consume('default', 2, async (id) => void seen.push(id))
    await until('every id has arrived', () => new Set(seen).size === wanted.length)
    expect(seen.toSorted()).toEqual(wanted.toSorted())
    await until(
      'nothing is held as under way',
      async () => (await redis.llen(`${prefix}:wake-default:active`)) === 0,
    )
  })
})

describe.runIf(shared)('[wake-keys] BullMQ whose keys somebody has changed', () => {
  const keys = [
    'wait',
    'meta',
    'marker',
    'active',
    'delayed',
    'prioritized',
    'events',
    'id',
    'paused',
    'stalled',
  ]

  test.each(keys)(
    '[wake-keys] hands out what is published after %s was made a key of another kind',
    async (name) => {
      const prefix = `t${randomBytes(4).toString('hex')}`
      const dispatcher = new BullMqDispatcher(silentLog, { url: shared!, prefix, answerMs: LIMIT_MS })
      const redis = new Redis(shared!)
      onTestFinished(async () => {
        await dispatcher.close()
        redis.disconnect()
      })
      const seen: string[] = []
      dispatcher.consume('default', 2, async (id) => void seen.push(id))
      await dispatcher.publish([wake('before')])
      await until('the consumer is up', () => seen.length === 1)
      const key = `${prefix}:wake-default:${name}`
      await redis.del(key)
      if (name === 'id') await redis.lpush(key, 'x')
      else await redis.set(key, 'x')
      let published = 0
      await until('it hands out again', async () => {
        // What is lost with the key is published again, as the leader does.
        await dispatcher.publish([{ ...wake('after'), delayMs: published++ % 2 }])
        return seen.includes('after')
      })
    },
  )
})
