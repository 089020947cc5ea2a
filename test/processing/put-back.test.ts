import { execFileSync } from 'node:child_process'
import { describe, expect, inject, test } from 'vitest'
import { tryOf } from '../../src/processing/stores/index.ts'
import { availableBackends } from '../support/backends.ts'
import { requireBinary } from '../support/find-binary.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startRedis } from '../support/redis-server.ts'
import { never, plainRedis, setup } from './setup.ts'

const NAME = 'postgres + redis'
const available = availableBackends().includes(NAME)
const redisCli = available ? requireBinary('redis-cli') : undefined
if (available && !redisCli)
  console.error('!!! SKIPPED: redis-cli as a processor. Debian: apt-get install redis-tools')

/** Only what a processor in another language has: redis-cli. */
function cli(...args: string[]): string {
  const { port } = new URL(inject('redisUrl') ?? '')
  return execFileSync(redisCli ?? '', ['-p', port, '--raw', ...args], { encoding: 'utf8' }).trim()
}

describe.runIf(redisCli)('a foreign processor with BLPOP and HSET alone', () => {
  test('takes a task, works on it and ends it, and callers and the ledger see each step', async () => {
    const { create, link, service, duties, rows, engine } = await setup(NAME)
    const id = await create()
    const [key, message = ''] = cli('BLPOP', link.options.queueKey, '5').split('\n')
    expect([key, JSON.parse(message).task_id]).toEqual([link.options.queueKey, id])
    cli('HSET', `task:${id}`, 'status', 'PROCESSING', 'updated_at', '1700000001')
    expect((await service.status(id)).status).toBe('PROCESSING')
    await duties.follow.runOnce(never)
    expect((await rows.get(id))?.status).toBe('PROCESSING')
    cli('EXPIRE', `task:${id}`, '100')
    cli(
      'HSET',
      `task:${id}`,
      'status',
      'COMPLETED',
      'result_path',
      '/v/result.mp4',
      'updated_at',
      '1700000002',
    )
    expect(await service.status(id)).toMatchObject({ status: 'COMPLETED', resultPath: '/v/result.mp4' })
    await duties.follow.runOnce(never)
    expect(await rows.get(id)).toMatchObject({ status: 'COMPLETED', result_path: '/v/result.mp4' })
    expect(Number(cli('TTL', `task:${id}`))).toBeGreaterThan(604_000)
    const events = await engine.events.read(0, { taskId: id })
    expect(events.at(-1)).toMatchObject({ type: 'processing.succeeded', data: { status: 'COMPLETED' } })
  })

  test('that ends a task after it was cancelled revives it nowhere: not in Redis, the ledger or an answer', async () => {
    const { create, link, service, store, duties, rows } = await setup(NAME)
    const id = await create()
    cli('BLPOP', link.options.queueKey, '5')
    cli('HSET', `task:${id}`, 'status', 'PROCESSING', 'updated_at', '1700000001')
    expect(await store.cancel(id)).toBe('cancelled')
    for (const late of [
      ['status', 'PROCESSING'],
      ['status', 'COMPLETED', 'result_path', '/v/late.mp4', 'error_message', ''],
    ]) {
      cli('HSET', `task:${id}`, ...late, 'updated_at', '1700000002')
      const failed = { status: 'FAILED', errorMessage: '任务已取消', resultPath: '' }
      expect(await service.status(id)).toMatchObject(failed)
      expect(await service.details(id)).toMatchObject(failed)
      expect(cli('HGET', `task:${id}`, 'status')).toBe('FAILED')

      await duties.follow.runOnce(never)
      expect(await rows.newest({ limit: 5 })).toMatchObject([{ id, status: 'FAILED', result_path: '' }])
    }
    expect(await store.cancel(id)).toBe('ended')
  })

  test('whose first end was seen cannot change it', async () => {
    const { create, service, duties, rows } = await setup(NAME)
    const id = await create()
    cli('HSET', `task:${id}`, 'status', 'FAILED', 'error_message', 'broken', 'updated_at', '1700000001')
    await duties.follow.runOnce(never)
    cli('HSET', `task:${id}`, 'status', 'COMPLETED', 'result_path', '/v/second.mp4')
    expect(await service.status(id)).toMatchObject({ status: 'FAILED', errorMessage: 'broken' })
    expect(await rows.get(id)).toMatchObject({ status: 'FAILED', error_message: 'broken' })
  })

  test('that names no result has not completed; after a short time the task has failed', async () => {
    const clock = new ManualClock()
    const { create, service, duties, rows } = await setup(NAME, { clock })
    const [slow, silent] = [await create(), await create()]
    for (const id of [slow, silent])
      cli('HSET', `task:${id}`, 'status', 'COMPLETED', 'updated_at', '1700000001')
    await duties.follow.runOnce(never)
    expect((await service.status(slow)).status).toBe('PROCESSING')
    cli('HSET', `task:${slow}`, 'result_path', '/v/result.mp4', 'updated_at', '1700000002')
    clock.advance(10_000)
    await duties.follow.runOnce(never)
    expect(await service.status(slow)).toMatchObject({ status: 'COMPLETED', resultPath: '/v/result.mp4' })
    for (const status of [(await service.status(silent)).status, (await rows.get(silent))?.status])
      expect(status).toBe('FAILED')
    expect(cli('HGET', `task:${silent}`, 'status')).toBe('FAILED')
  })

  test('that dies right after BLPOP loses nothing: the task is back after a minute, not before', async () => {
    const clock = new ManualClock()
    const { create, link, duties } = await setup(NAME, { clock })
    const putBack = duties.putBack()
    const id = await create()
    cli('BLPOP', link.options.queueKey, '5')
    await putBack.runOnce(never)
    clock.advance(59_000)
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 0 })
    expect(cli('LLEN', link.options.queueKey)).toBe('0')
    clock.advance(2_000)
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 1 })
    expect(cli('LRANGE', link.options.queueKey, '0', '-1')).toContain(id)
    expect(cli('HGET', `task:${id}`, 'status')).toBe('PENDING')
  })

  test('that begins within the minute keeps its task', async () => {
    const clock = new ManualClock()
    const { create, link, duties } = await setup(NAME, { clock })
    const putBack = duties.putBack()
    const id = await create()
    cli('BLPOP', link.options.queueKey, '5')
    await putBack.runOnce(never)
    cli('HSET', `task:${id}`, 'status', 'PROCESSING', 'updated_at', '1700000001')
    clock.advance(120_000)
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 0 })
  })

  test('that stops moving updated_at loses its task; after too many times the task fails with a reason', async () => {
    const { create, link, duties, service } = await setup(NAME, { maxReturns: 1 })
    const putBack = duties.putBack(0)
    const id = await create()
    for (const time of ['1700000001', '1700000002']) {
      cli('BLPOP', link.options.queueKey, '5')
      cli('HSET', `task:${id}`, 'status', 'PROCESSING', 'updated_at', time)
      await duties.follow.runOnce(never)
      await putBack.runOnce(never)
    }
    expect(await service.status(id)).toMatchObject({
      status: 'FAILED',
      errorMessage: '处理器失联，任务已重新入队 1 次仍未完成',
    })
  })

  test('that moves updated_at keeps its task', async () => {
    const { create, link, duties, service } = await setup(NAME)
    const id = await create()
    cli('BLPOP', link.options.queueKey, '5')
    cli('HSET', `task:${id}`, 'status', 'PROCESSING', 'updated_at', '1700000001')
    await duties.follow.runOnce(never)
    // Moved since the ledger looked: what it knows is out of date, so nothing may be put back by it.
    cli('HSET', `task:${id}`, 'updated_at', '1700000002')
    expect(await duties.putBack(0).runOnce(never)).toMatchObject({ putBack: 0 })
    expect((await service.status(id)).status).toBe('PROCESSING')
  })
})

describe.runIf(available)('a processor of ours', () => {
  test('that no longer says it is alive loses its tasks to the head of the queue, and its claims are void', async () => {
    const { create, queue, link, duties, store } = await setup(NAME)
    const first = await create()
    const second = await create()
    const dead = queue(1, 1) as ReturnType<typeof queue> & { processor: string }
    await dead.heartbeat()
    const claim = (await dead.claim(0, never))!
    await link.redis.del(link.aliveKey(dead.processor))
    expect(await duties.putBack().runOnce(never)).toMatchObject({ putBack: 1 })
    expect((await store.get(first))?.status).toBe('PENDING')
    expect(await dead.finish(claim, { status: 'COMPLETED', resultPath: '/late' })).toBe(false)
    const alive = queue(2)
    expect((await alive.claim(0, never))?.taskId).toBe(first)
    expect((await alive.claim(1, never))?.taskId).toBe(second)
  })

  test('that is alive keeps its tasks, also between BLMOVE and the first write', async () => {
    const { create, queue, link, duties } = await setup(NAME)
    await create()
    const alive = queue() as ReturnType<typeof queue> & { processor: string }
    await alive.heartbeat()
    await link.redis.lmove(link.options.queueKey, link.slotKey(alive.processor, 0), 'LEFT', 'RIGHT')
    const putBack = duties.putBack(3_600_000, 0)
    expect([await putBack.runOnce(never), await putBack.runOnce(never)]).toMatchObject([
      { putBack: 0 },
      { putBack: 0 },
    ])
  })

  test('whose task is removed lets go of it at once', async () => {
    const { create, queue, link, duties, store, rows } = await setup(NAME)
    await duties.follow.runOnce(never)
    const opened = queue(2)
    for (const slot of [0, 1]) {
      const id = await create()
      const claim = (await opened.claim(slot, never))!
      await store.remove(tryOf((await rows.get(id))!))
      if (slot === 0) expect(await opened.touch(claim, null)).toBe(false)
      expect(await opened.finish(claim, { status: 'COMPLETED', resultPath: '/r' })).toBe(false)
    }
    expect(await link.redis.keys(`${link.slotPrefix}*`)).toEqual([])
  })

  test('signs off when it closes, and gives back what it still had; what comes to it later is found', async () => {
    const { create, queue, link, store, duties } = await setup(NAME)
    const id = await create()
    const leaving = queue() as ReturnType<typeof queue> & { processor: string }
    await leaving.heartbeat()
    await leaving.claim(0, never)
    await leaving.close()
    expect((await store.get(id))?.status).toBe('PENDING')
    await link.redis.lmove(link.options.queueKey, link.slotKey(leaving.processor, 0), 'LEFT', 'RIGHT')
    expect(await duties.putBack().runOnce(never)).toMatchObject({ putBack: 1 })
    expect(await link.redis.llen(link.options.queueKey)).toBe(1)
    expect(await link.redis.hgetall(link.processorsKey)).toEqual({})
  })
})

describe.runIf(available)('a Redis that lost its memory', () => {
  test('gets every task back: waiting ones in the queue, running ones with their processor, ended ones as they were', async () => {
    const server = await startRedis()
    const { create, queue, duties, store, link } = await setup(NAME, { redisUrl: server?.url ?? '' })
    await duties.follow.runOnce(never)
    const [done, running, waiting] = [await create(), await create(), await create()]
    const opened = queue(2)
    const first = (await opened.claim(0, never))!
    await opened.finish(first, { status: 'COMPLETED', resultPath: '/r' })
    const second = (await opened.claim(1, never))!
    await duties.follow.runOnce(never)
    await plainRedis(server?.url ?? '').flushall()

    expect(await store.get(done)).toMatchObject({ status: 'COMPLETED', resultPath: '/r' })
    expect(await duties.follow.runOnce(never)).toMatchObject({ restored: 3 })
    expect(await link.redis.hget(`task:${done}`, 'status')).toBe('COMPLETED')
    expect((await link.redis.lrange(link.options.queueKey, 0, -1)).join()).toContain(waiting)
    expect(await link.redis.llen(link.options.queueKey)).toBe(1)
    expect(await opened.touch(second, 0.5)).toBe(true)
    expect(await opened.finish(second, { status: 'COMPLETED', resultPath: '/r2' })).toBe(true)
    expect(await store.get(running)).toMatchObject({ status: 'COMPLETED', resultPath: '/r2' })
    await server?.remove()
  })

  test('has waiting tasks in their order again, before those that came in meanwhile', async () => {
    const server = await startRedis()
    const url = server?.url ?? ''
    const { create, duties, link, queue } = await setup(NAME, { redisUrl: url })
    await duties.follow.runOnce(never)
    const before = []
    for (let index = 0; index < 12; index++) before.push(await create())
    await plainRedis(url).flushall()
    const opened = queue()
    const after = [await create(), await create()]
    await duties.follow.runOnce(never)
    const queued = (await link.redis.lrange(link.options.queueKey, 0, -1)).map(
      (message) => (JSON.parse(message) as { task_id: string }).task_id,
    )
    expect(queued).toEqual([...before, ...after])
    expect((await opened.claim(0, never))?.taskId).toBe(before[0])
    await server?.remove()
  })

  test('that forgot an end, or a claim of a dead processor, lets another one do the task', async () => {
    const server = await startRedis()
    const clock = new ManualClock()
    const { create, queue, duties, store } = await setup(NAME, { redisUrl: server?.url ?? '', clock })
    await duties.follow.runOnce(never)
    const ids = [await create(), await create()]
    const opened = queue(2)
    const ended = (await opened.claim(0, never))!
    await opened.claim(1, never)
    await duties.follow.runOnce(never)
    await opened.finish(ended, { status: 'COMPLETED', resultPath: '/r' })
    await plainRedis(server?.url ?? '').flushall()
    await duties.follow.runOnce(never)
    const putBack = duties.putBack()
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 0 })
    clock.advance(61_000)
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 2 })
    for (const id of ids) expect((await store.get(id))?.status).toBe('PENDING')
    const other = queue(2)
    const claims = [await other.claim(0, never), await other.claim(1, never)]
    expect(claims.map((claim) => claim?.taskId).sort()).toEqual(ids.sort())
    await server?.remove()
  })

  test('keeps a task with a processor that goes on with it, ours or foreign', async () => {
    const server = await startRedis()
    const redis = plainRedis(server?.url ?? '')
    const clock = new ManualClock()
    const { create, queue, duties, store, link } = await setup(NAME, { redisUrl: server?.url ?? '', clock })
    await duties.follow.runOnce(never)
    const ours = await create()
    const opened = queue()
    await opened.heartbeat()
    const claim = (await opened.claim(0, never))!
    const foreign = await create()
    await redis.blpop(link.options.queueKey, 5)
    await redis.hset(`task:${foreign}`, 'status', 'PROCESSING', 'updated_at', '1700000001')
    await duties.follow.runOnce(never)
    await redis.flushall()
    await duties.follow.runOnce(never)
    const putBack = duties.putBack()
    await putBack.runOnce(never)
    await opened.heartbeat()
    expect(await opened.touch(claim, null)).toBe(true)
    clock.advance(61_000)
    expect(await putBack.runOnce(never)).toMatchObject({ putBack: 0 })
    for (const id of [ours, foreign]) expect((await store.get(id))?.status).toBe('PROCESSING')
    await server?.remove()
  })

  test('that is emptied before the ledger knew of a claim still lets one of two processors finish', async () => {
    const server = await startRedis()
    const { create, queue, duties, store } = await setup(NAME, { redisUrl: server?.url ?? '' })
    await duties.follow.runOnce(never)
    const id = await create()
    const [one, two] = [queue(), queue()]
    const first = (await one.claim(0, never))!
    await plainRedis(server?.url ?? '').flushall()
    await duties.follow.runOnce(never)
    const second = (await two.claim(0, never))!
    expect(second.taskId).toBe(id)
    const ends = [
      await two.finish(second, { status: 'COMPLETED', resultPath: '/two' }),
      await one.finish(first, { status: 'COMPLETED', resultPath: '/one' }),
    ]
    expect(ends).toEqual([true, false])
    expect(await store.get(id)).toMatchObject({ resultPath: '/two' })
    await server?.remove()
  })
})
