import { describe, expect, test } from 'vitest'
import { availableBackends } from '../support/backends.ts'
import { never, setup } from './setup.ts'

const NAME = 'postgres + redis'

describe.runIf(availableBackends().includes(NAME))('the queue in Redis', () => {
  test('tasks are claimed in the order in which they came, each by one slot', async () => {
    const { create, queue } = await setup(NAME)
    const ids = [await create(), await create(), await create()]
    const opened = queue(3)
    const claims = await Promise.all([0, 1, 2].map((slot) => opened.claim(slot, never)))
    expect(claims.map((claim) => claim?.taskId).sort()).toEqual([...ids].sort())
    expect(claims[0]?.taskId).toBe(ids[0])
  })

  test('a claimed task is PROCESSING, shows its progress and ends COMPLETED with a path', async () => {
    const { create, queue, store } = await setup(NAME)
    const id = await create()
    const opened = queue()
    const claim = (await opened.claim(0, never))!
    expect((await store.get(id))?.status).toBe('PROCESSING')
    expect(await opened.touch(claim, 0.42)).toBe(true)
    expect((await store.details(id))?.progress).toBe(0.42)
    const at = new Date(0).toISOString()
    const waiting = {
      what: 'disk',
      since: at,
      code: 'STORAGE_FULL',
      message: 'full',
      next_try_at: at,
    } as const
    await opened.touch(claim, waiting)
    expect(await store.details(id)).toMatchObject({ progress: null, waitingFor: waiting })
    await opened.touch(claim, 0)
    expect(await store.details(id)).toMatchObject({ progress: 0 })
    expect((await store.details(id))?.waitingFor).toBeUndefined()
    expect(await opened.finish(claim, { status: 'COMPLETED', resultPath: '/r.mp4' })).toBe(true)
    expect(await store.get(id)).toMatchObject({
      status: 'COMPLETED',
      resultPath: '/r.mp4',
      errorMessage: '',
    })
  })

  test('a task that fails says why', async () => {
    const { create, queue, store } = await setup(NAME)
    const id = await create()
    const opened = queue()
    const claim = (await opened.claim(0, never))!
    await opened.finish(claim, { status: 'FAILED', errorMessage: 'no such codec' })
    expect(await store.get(id)).toMatchObject({
      status: 'FAILED',
      errorMessage: 'no such codec',
      resultPath: '',
    })
  })

  test('a task ends once: the second end is refused', async () => {
    const { create, queue, store } = await setup(NAME)
    const id = await create()
    const opened = queue()
    const claim = (await opened.claim(0, never))!
    expect(await opened.finish(claim, { status: 'COMPLETED', resultPath: '/first' })).toBe(true)
    expect(await opened.finish(claim, { status: 'COMPLETED', resultPath: '/second' })).toBe(false)
    expect(await store.get(id)).toMatchObject({ resultPath: '/first' })
  })

  test('a released task is the next one to be claimed, and its old claim is void', async () => {
    const { create, queue, store } = await setup(NAME)
    const first = await create()
    await create()
    const opened = queue()
    const claim = (await opened.claim(0, never))!
    expect(await opened.release(claim)).toBe(true)
    expect((await store.get(first))?.status).toBe('PENDING')
    expect(await opened.touch(claim, null)).toBe(false)
    expect((await opened.claim(0, never))?.taskId).toBe(first)
  })

  test('a cancelled task is never claimed', async () => {
    const { create, queue, store } = await setup(NAME)
    const cancelled = await create()
    const next = await create()
    expect(await store.cancel(cancelled)).toBe('cancelled')
    expect(await store.cancel(cancelled)).toBe('ended')
    expect(await store.get(cancelled)).toMatchObject({ status: 'FAILED', errorMessage: '任务已取消' })
    expect((await queue().claim(0, never))?.taskId).toBe(next)
  })

  test('a task that is cancelled while it runs is taken away from its processor', async () => {
    const { create, queue, store } = await setup(NAME)
    const id = await create()
    const opened = queue()
    const claim = (await opened.claim(0, never))!
    await store.cancel(id)
    expect(await opened.touch(claim, null)).toBe(false)
    expect(await opened.finish(claim, { status: 'COMPLETED', resultPath: '/late' })).toBe(false)
    expect(await store.get(id)).toMatchObject({ status: 'FAILED' })
  })

  test('whoever waits for a task gets the one that comes', async () => {
    const { create, queue } = await setup(NAME)
    const opened = queue()
    const waiting = opened.claim(0, never)
    const id = await create()
    expect((await waiting)?.taskId ?? (await opened.claim(0, never))?.taskId).toBe(id)
  })

  test('a wait ends when it is told to', async () => {
    const { queue } = await setup(NAME)
    const stop = new AbortController()
    const waiting = queue().claim(0, stop.signal)
    stop.abort()
    expect(await waiting).toBeUndefined()
  })

  test('every step of a task is an event', async () => {
    const made = await setup(NAME)
    const { create, queue, engine } = made
    const { follow } = made.duties
    const id = await create()
    const opened = queue()
    const claim = (await opened.claim(0, never))!
    await follow.runOnce(never)
    await opened.finish(claim, { status: 'COMPLETED', resultPath: '/r' })
    await follow.runOnce(never)
    const events = await engine.events.read(0, { taskId: id })
    expect(events.map(({ type }) => type)).toEqual([
      'processing.pending',
      'processing.processing',
      'processing.succeeded',
    ])
  })
})
