import { describe, expect, onTestFinished, test } from 'vitest'
import { BullMqDispatcher } from '../../../src/jobs/dispatch/bullmq-dispatcher.ts'
import { silentLog } from '../../support/backends.ts'
import { gate } from '../../support/engines.ts'
import { Front, portOf } from '../../support/front.ts'
import { startRedis } from '../../support/redis-server.ts'
import { until } from '../../support/until.ts'

const wake = (id: string) => ({ id, pool: 'default', delayMs: 0 })

describe('BullMQ on a Redis that falls silent and closes nothing', () => {
  function open(url: string) {
    const dispatcher = new BullMqDispatcher(silentLog, { url, answerMs: 500 })
    onTestFinished(() => dispatcher.close())
    const published = (id: string) =>
      dispatcher.publish([wake(id)]).then(
        () => true,
        () => false,
      )
    return { dispatcher, published }
  }

  /** An id whose taking was cut off is lost: as the leader would, it is published until somebody has it. */
  const untilTaken = (id: string, seen: string[], published: (id: string) => Promise<boolean>) =>
    until(
      `the consumer has taken ${id}`,
      async () => {
        await published(id)
        return seen
      },
      () => seen.includes(id),
    )

  test('it counts as away, and when it goes on everything flows again', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    const { dispatcher, published } = open(redis.url)
    const seen: string[] = []
    dispatcher.consume('default', 2, async (id) => void seen.push(id))
    await until('publishing works', () => published('before'))
    await until('the consumer is up', () => seen.length > 0)

    redis.hang()
    await expect(dispatcher.publish([wake('lost')])).rejects.toThrow()
    // Nobody waits for it a second time.
    await expect(dispatcher.forgot()).rejects.toThrow('Redis is away')
    await expect(dispatcher.publish([wake('lost')])).rejects.toThrow('Redis is away')

    redis.goOn()
    await until('publishing works again', () => published('after'))
    await untilTaken('after', seen, published)
  })

  test('it can be closed meanwhile, and be found hanging from the start', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    redis.hang()
    const { dispatcher } = open(redis.url)
    dispatcher.consume('default', 2, async () => undefined)
    await expect(dispatcher.publish([wake('lost')])).rejects.toThrow()
    await dispatcher.close()
  })

  test('a consumer whose connection is dead takes a new one', async ({ skip }) => {
    const redis = await startRedis()
    if (!redis) return skip('needs the program redis-server')
    onTestFinished(() => redis.remove())
    const front = await Front.open(portOf(redis.url))
    onTestFinished(() => front.close())
    const { dispatcher, published } = open(`redis://127.0.0.1:${front.port}/0`)
    const seen: string[] = []
    const { open: finish, passed } = gate()
    dispatcher.consume('default', 1, async (id) => {
      seen.push(id)
      await passed
    })
    await until('publishing works', () => published('held'))
    await until('its only slot is taken', () => seen.length === 1)
    front.fallSilent()
    await until('publishing has a new connection', () => published('next'))
    finish()
    await untilTaken('next', seen, published)
  })
})
