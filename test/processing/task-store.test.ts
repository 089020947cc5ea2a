import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { FollowRedisDuty } from '../../src/processing/duties/follow-redis.ts'
import { tryOf } from '../../src/processing/stores/index.ts'
import { availableBackends } from '../support/backends.ts'
import { never, setup } from './setup.ts'
import { taskStoreContract } from './task-store.contract.ts'

for (const name of availableBackends()) taskStoreContract(name)
if (availableBackends().length > 1) taskStoreContract('postgres + redis', { withoutRedis: true })

const redis = test.runIf(availableBackends().includes('postgres + redis'))

redis('Redis holds the seven fields, the queue entry and the time to live that processors know', async () => {
  const { create, link, handOff } = await setup('postgres + redis')
  const id = await create('video.mov')
  const path = `${handOff.storage}/${id}/original.mov`
  const hash = await link.redis.hgetall(`task:${id}`)
  expect(hash).toEqual({
    task_id: id,
    status: 'PENDING',
    original_file_path: path,
    result_path: '',
    error_message: '',
    created_at: expect.stringMatching(/^\d{10}$/),
    updated_at: hash.created_at,
  })
  expect(await link.redis.lrange(link.options.queueKey, 0, -1)).toEqual([
    JSON.stringify({ task_id: id, original_file_path: path }),
  ])
  expect(await link.redis.ttl(`task:${id}`)).toBeGreaterThan(604_700)
})

redis('the time to live starts again when a task ends', async () => {
  const { create, queue, link } = await setup('postgres + redis')
  const id = await create()
  const opened = queue()
  const claim = (await opened.claim(0, never))!
  await link.redis.expire(`task:${id}`, 50)
  await opened.finish(claim, { status: 'COMPLETED', resultPath: '/r' })
  expect(await link.redis.ttl(`task:${id}`)).toBeGreaterThan(604_700)
})

redis(
  'a queue whose key holds another type leaves a FAILED record and the temp file where it was',
  async () => {
    const { link, service, tempFile, rows, folder } = await setup('postgres + redis')
    await link.redis.set(link.options.queueKey, 'not a list')
    const path = tempFile('precious')
    await expect(service.create({ tempFilePath: path, originalFilename: 'a.mp4' })).rejects.toMatchObject({
      code: 'TASK_ENQUEUE_FAILED',
      message: '任务入队失败',
    })
    const [row] = await rows.page('', ['FAILED'])
    expect(await link.redis.hgetall(`task:${row?.id}`)).toMatchObject({
      status: 'FAILED',
      error_message: '任务入队失败',
    })
    const { readFileSync, readdirSync } = await import('node:fs')
    expect(readFileSync(path, 'utf8')).toBe('precious')
    expect(readdirSync(`${folder}/videos`)).toEqual(['.handoff'])
  },
)

redis('a queue entry that is no message, or of no task, is dropped', async () => {
  const { create, queue, link } = await setup('postgres + redis')
  await link.redis.rpush(link.options.queueKey, 'rubbish', '{"task_id":"gone","original_file_path":"/x"}')
  const id = await create()
  expect((await queue().claim(0, never))?.taskId).toBe(id)
})

redis('a claim whose answer was lost is taken up again by its slot', async () => {
  const { create, queue, link, store } = await setup('postgres + redis')
  const id = await create()
  const opened = queue() as ReturnType<typeof queue> & { processor: string }
  await link.redis.lmove(link.options.queueKey, link.slotKey(opened.processor, 0), 'LEFT', 'RIGHT')
  expect((await opened.claim(0, never))?.taskId).toBe(id)
  // Begun, but the answer never came: the entry still is in the slot's list, the record says PROCESSING.
  expect((await opened.claim(0, never))?.taskId).toBe(id)
  expect((await store.get(id))?.status).toBe('PROCESSING')
})

redis("a task called like the queue's key does not exist", async () => {
  const { link, store } = await setup('postgres + redis')
  await link.redis.rpush('task:list-of-something', 'x')
  expect(await store.get('list-of-something')).toBeUndefined()
  await link.redis.del('task:list-of-something')
})

redis('a leader that was stopped while it took a try back leaves the next one alone', async () => {
  const { service, tempFile, rows, link, log, clock, duties, handOff, store } =
    await setup('postgres + redis')
  const id = randomUUID()
  const create = () => service.create({ id, tempFilePath: tempFile(), originalFilename: 'a.mov' })
  await create()
  await rows.change(id, { status: 'REVOKED' })
  const [seen] = await rows.page('', ['REVOKED'])
  await duties.follow.runOnce(never)
  expect(await store.get(id)).toBeUndefined()
  await rm(handOff.folderOf(id), { recursive: true })
  await create()
  // What the leader had read before it was stopped.
  const page: typeof rows.page = async (after, statuses, limit) =>
    statuses[0] === 'REVOKED' && after === '' ? [seen!] : rows.page(after, statuses, limit)
  const stopped = Object.assign(Object.create(rows) as typeof rows, { page })
  await new FollowRedisDuty({ link, rows: stopped, clock, log }).runOnce(never)
  await store.remove(tryOf(seen!))
  await duties.follow.runOnce(never)
  expect(await store.get(id)).toMatchObject({ taskId: id, status: 'PENDING' })
  expect(await link.redis.lrange(link.options.queueKey, 0, -1)).toEqual([
    JSON.stringify({ task_id: id, original_file_path: seen?.original_file_path }),
  ])
})
