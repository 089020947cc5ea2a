import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { RedisBus } from '../../../src/jobs/bus/redis-bus.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import type { Ledger } from '../../../src/ledger/index.ts'
import { availableBackends, openBackend, silentLog } from '../../support/backends.ts'
import { startRedis } from '../../support/redis-server.ts'
import { until } from '../../support/until.ts'
import { signalContract } from '../bus.contract.ts'

const shared = inject('redisUrl')

function open(url: string, more: { prefix?: string; ledger?: Ledger } = {}): RedisBus {
  return new RedisBus(silentLog, { url, key: 'the key of the installation', clock: systemClock, ...more })
}

if (shared) {
  signalContract('redis', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const instance = async () => {
      const bus = open(shared, { prefix })
      await bus.ready()
      return bus
    }
    return { instance, remove: async () => undefined }
  })
}

/** Nobody listens there. */
const NOWHERE = 'redis://127.0.0.1:1'

for (const name of availableBackends())
  signalContract(`redis that is away, with ${name}`, async () => {
    const backend = await openBackend(name)
    const ledger = await backend.openLedger()
    return {
      instance: async () => open(NOWHERE, { ledger }),
      remove: async () => {
        await ledger.close()
        await backend.remove()
      },
    }
  })

describe.runIf(shared)('the bus through Redis', () => {
  test('the ledger carries messages while Redis is away, and only then', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    const backend = await openBackend('embedded')
    const ledger = await backend.openLedger()
    const buses = [open(redis.url, { ledger }), open(redis.url, { ledger })] as const
    onTestFinished(async () => {
      for (const bus of buses) await bus.close()
      await ledger.close()
      await backend.remove()
      await redis.remove()
    })
    const [one, two] = buses
    await Promise.all([one.ready(), two.ready()])
    const heard: string[] = []
    two.subscribe('cancel', ({ jobId }) => heard.push(jobId))
    const mail = () => ledger.db.selectFrom('bus_mail').selectAll().execute()
    one.publish('cancel', { jobId: 'by Redis' })
    await until('it is heard', () => heard.includes('by Redis'))
    expect(await mail()).toEqual([])
    await redis.stop()
    await until('Redis is known to be away', () => {
      one.publish('cancel', { jobId: 'by mail' })
      return heard.includes('by mail')
    })
    await redis.start()
    await until('Redis carries messages again', async () => {
      const before = (await mail()).length
      one.publish('cancel', { jobId: 'by Redis again' })
      return heard.includes('by Redis again') && (await mail()).length <= before
    })
  })

  test('instances hear one another again after Redis was away', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    const [one, two] = [open(redis.url), open(redis.url)]
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

  test('what is not a message is passed over', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const bus = open(shared as string, { prefix })
    const stranger = new Redis(shared as string)
    onTestFinished(async () => {
      stranger.disconnect()
      await bus.close()
    })
    await bus.ready()
    const heard: string[] = []
    bus.subscribe('cancel', ({ jobId }) => heard.push(jobId))
    for (const text of ['', '{', 'null', '7', '{"topic":"cancel"}', '["cancel",{"jobId":"forged"}]']) {
      await stranger.publish(`${prefix}:signal`, text)
    }
    bus.publish('cancel', { jobId: 'real' })
    await until('the real one has arrived', () => heard.length > 0)
    expect(heard).toEqual(['real'])
  })

  test('what somebody else records on Redis and says again is not heard twice', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const bus = open(shared as string, { prefix })
    const stranger = new Redis(shared as string)
    const listening = new Redis(shared as string)
    onTestFinished(async () => {
      stranger.disconnect()
      listening.disconnect()
      await bus.close()
    })
    await bus.ready()
    await listening.subscribe(`${prefix}:signal`)
    const recorded = once(listening, 'message')
    const heard: string[] = []
    bus.subscribe('cancel', ({ jobId }) => heard.push(jobId))
    bus.publish('cancel', { jobId: 'once' })
    const [, text] = await recorded
    await stranger.publish(`${prefix}:signal`, text)
    bus.publish('cancel', { jobId: 'after' })
    await until('the last one has arrived', () => heard.includes('after'))
    expect(heard).toEqual(['once', 'after'])
  })

  test('what is said right after being ready is heard by others', async () => {
    const prefix = `t${randomBytes(4).toString('hex')}`
    const listener = open(shared as string, { prefix })
    await listener.ready()
    const heard: string[] = []
    listener.subscribe('cancel', ({ jobId }) => heard.push(jobId))
    for (let count = 0; count < 10; count++) {
      const bus = open(shared as string, { prefix })
      await bus.ready()
      bus.publish('cancel', { jobId: String(count) })
      await until('it is heard', () => heard.includes(String(count)))
      await bus.close()
    }
    await listener.close()
    expect(heard).toHaveLength(10)
  })
})
