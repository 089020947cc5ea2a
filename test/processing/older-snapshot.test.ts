import { describe, expect, onTestFinished, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startRedis } from '../support/redis-server.ts'
import { LIMIT_MS } from '../support/until.ts'
import { never, plainRedis, setup } from './setup.ts'

const NAME = 'postgres + redis'

async function withOwnRedis(options: Parameters<typeof setup>[1] = {}) {
  const server = (await startRedis())!
  const made = await setup(NAME, { ...options, redisUrl: server.url })
  onTestFinished(() => server.remove())
  const redis = plainRedis(server.url)
  await made.duties.follow.runOnce(never)
  const comeBack = async () => {
    await server.crash()
    await server.start()
    await made.link.ready(LIMIT_MS)
  }
  return { ...made, made, redis, snapshot: () => redis.save(), comeBack }
}

describe.runIf(availableBackends().includes(NAME))('a Redis that comes back from an older snapshot', () => {
  test.each(['waited', 'was worked on'])('takes no end back: a task that %s then', async (then) => {
    const { create, queue, service, store, rows, duties, link, snapshot, comeBack, redis, engine } =
      await withOwnRedis()
    const id = await create()
    const [one, other] = [queue(), queue()]
    await one.heartbeat()
    if (then === 'waited') await snapshot()
    const claim = (await one.claim(0, never))!
    if (then !== 'waited') await snapshot()
    expect(await one.finish(claim, { status: 'COMPLETED', resultPath: '/r' })).toBe(true)
    await duties.follow.runOnce(never)
    await comeBack()
    expect(await redis.hget(`task:${id}`, 'status')).not.toBe('COMPLETED')

    const ended = { status: 'COMPLETED', resultPath: '/r', errorMessage: '' }
    expect(await service.status(id)).toMatchObject(ended)
    expect(await service.details(id)).toMatchObject(ended)
    expect(await store.cancel(id)).toBe('ended')
    expect(await one.claim(0, never)).toBeUndefined()
    expect(await other.claim(0, never)).toBeUndefined()

    await duties.follow.runOnce(never)
    expect(await redis.hgetall(`task:${id}`)).toMatchObject({ status: 'COMPLETED', end_status: 'COMPLETED' })
    expect(await redis.llen(link.options.queueKey)).toBe(0)
    expect(await redis.keys(`${link.slotPrefix}*`)).toEqual([])
    const next = await create()
    expect((await one.claim(0, never))?.taskId).toBe(next)

    await redis.hset(`task:${id}`, 'status', 'FAILED', 'error_message', 'late')
    expect(await service.status(id)).toMatchObject(ended)
    expect(await rows.get(id)).toMatchObject({ status: 'COMPLETED', result_path: '/r' })
    expect((await engine.events.read(0, { taskId: id })).at(-1)?.type).toBe('processing.succeeded')
  })

  test('takes no cancellation back, and keeps the end that the ledger has where both have one', async () => {
    const { create, store, service, duties, redis, snapshot, comeBack } = await withOwnRedis()
    const id = await create()
    await redis.hset(`task:${id}`, 'status', 'COMPLETED', 'result_path', '/late', 'end_status', 'COMPLETED')
    await redis.hset(`task:${id}`, 'end_result', '/late')
    await snapshot()
    await redis.hdel(`task:${id}`, 'end_status', 'end_result')
    await redis.hset(`task:${id}`, 'status', 'PENDING')
    expect(await store.cancel(id)).toBe('cancelled')
    await comeBack()
    const cancelled = { status: 'FAILED', errorMessage: '任务已取消', resultPath: '' }
    expect(await service.status(id)).toMatchObject(cancelled)
    await duties.follow.runOnce(never)
    expect(await redis.hgetall(`task:${id}`)).toMatchObject({ status: 'FAILED', end_status: 'FAILED' })
    expect(await service.details(id)).toMatchObject(cancelled)
  })

  test('leaves a task with the processor that took it since, and loses none that was made since', async () => {
    const { create, queue, duties, link, rows, redis, snapshot, comeBack } = await withOwnRedis()
    const before = await create()
    await snapshot()
    const [one, other] = [queue(), queue()]
    await one.heartbeat()
    const claim = (await one.claim(0, never))!
    const after = await create()
    await duties.follow.runOnce(never)
    await comeBack()
    expect(await one.touch(claim, null)).toBe(true)
    await duties.follow.runOnce(never)
    expect((await other.claim(0, never))?.taskId).toBe(after)
    expect(await redis.llen(link.options.queueKey)).toBe(0)
    expect(await one.finish(claim, { status: 'COMPLETED', resultPath: '/r' })).toBe(true)
    await duties.follow.runOnce(never)
    expect(await rows.get(before)).toMatchObject({ status: 'COMPLETED' })
  })

  test('and has entries in the queue without records queues each task once', async () => {
    const { create, duties, link, redis, snapshot, comeBack } = await withOwnRedis()
    const ids = [await create(), await create()]
    await redis.del(...ids.map((id) => `task:${id}`))
    await snapshot()
    await comeBack()
    await duties.follow.runOnce(never)
    const queued = (await redis.lrange(link.options.queueKey, 0, -1)).map((text) => JSON.parse(text).task_id)
    expect(queued).toEqual(ids)
  })

  test('gives a task that was put back since to the next processor at once', async () => {
    const { create, queue, duties, link, rows, redis, snapshot, comeBack } = await withOwnRedis()
    const id = await create()
    await redis.blpop(link.options.queueKey, 5)
    await redis.hset(`task:${id}`, 'status', 'PROCESSING', 'updated_at', '1700000001')
    await duties.follow.runOnce(never)
    await snapshot()
    expect(await duties.putBack(0).runOnce(never)).toMatchObject({ putBack: 1 })
    expect(await rows.get(id)).toMatchObject({ status: 'PENDING' })
    await comeBack()
    await duties.follow.runOnce(never)
    expect((await queue().claim(0, never))?.taskId).toBe(id)
  })
})

describe.runIf(availableBackends().includes(NAME))('a record that contradicts an end in the ledger', () => {
  test('without any restart is not shown, and its task is not worked on again', async () => {
    const { create, queue, service, duties, link, rows } = await setup(NAME)
    await duties.follow.runOnce(never)
    const id = await create()
    const old = await link.redis.hgetall(`task:${id}`)
    const [message = ''] = await link.redis.lrange(link.options.queueKey, 0, -1)
    const opened = queue(1, undefined, rows)
    const claim = (await opened.claim(0, never))!
    await opened.finish(claim, { status: 'COMPLETED', resultPath: '/r' })
    await duties.follow.runOnce(never)
    await link.redis.del(`task:${id}`)
    await link.redis.hset(`task:${id}`, old)
    await link.redis.rpush(link.options.queueKey, message)
    const next = await create()
    expect((await opened.claim(0, never))?.taskId).toBe(next)
    expect(await service.status(id)).toMatchObject({ status: 'COMPLETED', resultPath: '/r' })
    expect(await link.redis.hget(`task:${id}`, 'status')).toBe('COMPLETED')
  })
})

describe.runIf(availableBackends().includes(NAME))('after an outage of Redis', () => {
  test('no processor counts as gone before the living ones had two leases to say that they are alive', async () => {
    const clock = new ManualClock()
    const { create, queue, duties, link, made, comeBack, snapshot, redis } = await withOwnRedis({ clock })
    const putBack = made.duties.putBack()
    const [living, dead] = [queue(), queue()]
    for (const processor of [living, dead]) {
      await create()
      await processor.heartbeat()
      await processor.claim(0, never)
    }
    await duties.follow.runOnce(never)
    for (const { processor } of [living, dead]) await redis.del(link.aliveKey(processor))
    await snapshot()
    await comeBack()
    await duties.follow.runOnce(never)
    // The leader before, and one that took over since.
    const leaders = [putBack, made.duties.putBack()]
    for (const leader of leaders) expect(await leader.runOnce(never)).toMatchObject({ putBack: 0 })
    await living.heartbeat()
    clock.advance(61_000)
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 1 })
    expect(await redis.lrange(link.slotKey(living.processor, 0), 0, -1)).toHaveLength(1)
  })
})
