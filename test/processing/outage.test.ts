import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AppError, ERRORS, systemClock } from '../../src/kernel/index.ts'
import type { RedisLink } from '../../src/processing/redis/redis-link.ts'
import { RedisTaskStore } from '../../src/processing/redis/redis-store.ts'
import { TaskService } from '../../src/processing/task-service.ts'
import { availableBackends } from '../support/backends.ts'
import { startRedis } from '../support/redis-server.ts'
import { LIMIT_MS, until } from '../support/until.ts'
import { never, setup } from './setup.ts'

const NAME = 'postgres + redis'
const UNAVAILABLE = { code: 'TASK_STORE_UNAVAILABLE', message: '无法连接到状态存储服务，请稍后重试' }

async function withOwnRedis() {
  const server = (await startRedis())!
  const made = await setup(NAME, { redisUrl: server.url })
  onTestFinished(() => server.remove())
  return { server, made }
}

type Made = Awaited<ReturnType<typeof setup>>

function expectUntouched({ handOff }: Made, path: string) {
  expect(readFileSync(path, 'utf8')).toBe('precious')
  expect(readdirSync(handOff.storage)).toEqual(['.handoff'])
  expect(readdirSync(join(handOff.storage, '.handoff'))).toEqual([])
}

/** The same service, with something that happens right before one of its steps. */
function serviceWith(made: Made, before: { take?: () => Promise<void>; create?: () => Promise<void> }) {
  const { ledger, store, handOff, log } = made
  const slowStore = Object.assign(Object.create(store) as typeof store, {
    create: async (task: Parameters<typeof store.create>[0]) => {
      await before.create?.()
      return store.create(task)
    },
    isMade: (id: string) => store.isMade(id),
  })
  const slowHandOff = Object.assign(Object.create(handOff) as typeof handOff, {
    take: async (...args: Parameters<typeof handOff.take>) => {
      await before.take?.()
      return handOff.take(...args)
    },
  })
  return new TaskService({ ledger, store: slowStore, handOff: slowHandOff, clock: systemClock, log })
}

describe.each(availableBackends())('a ledger on %s that does not say whether a task was made', (name) => {
  test.each([
    { made: true, away: 0 },
    { made: true, away: 2 },
    { made: false, away: 0 },
    { made: false, away: 2 },
  ])('takes no file from one that was, and gives back that of another: %o', async ({ made, away }) => {
    const ground = await setup(name)
    const { ledger, store, handOff, log } = ground
    const outage = () => new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the ledger is away')
    let asked = 0
    const forgetful = Object.assign(Object.create(store) as typeof store, {
      create: async (task: Parameters<typeof store.create>[0]) => {
        if (made) await store.create(task)
        throw outage()
      },
      isMade: async (id: string) => {
        if (asked++ < away) throw outage()
        return store.isMade(id)
      },
    })
    const service = new TaskService({ ledger, store: forgetful, handOff, clock: systemClock, log })
    const id = randomUUID()
    const tempFilePath = ground.tempFile('precious')
    const failed = service.create({ id, tempFilePath, originalFilename: 'a.mp4' })
    await expect(failed).rejects.toMatchObject({ code: 'LEDGER_UNAVAILABLE' })
    // Its record may be there already: it does not count before it is known that it stays.
    expect((await ground.service.settled(id)) === 'open').toBe(away > 0)
    await until('it is settled', async () => (await ground.service.settled(id)) !== 'open')
    expect(await ground.service.settled(id)).toEqual(
      made ? expect.objectContaining({ taskId: id }) : undefined,
    )
    const place = made ? join(handOff.folderOf(id), 'original.mp4') : tempFilePath
    expect(readFileSync(place, 'utf8')).toBe('precious')
    if (made) expect(await ground.service.status(id)).toMatchObject({ status: 'PENDING' })
    else expectUntouched(ground, tempFilePath)
  })
})

describe.runIf(availableBackends().includes(NAME))('Redis stopped', () => {
  test.each(['before CreateTask', 'before the file moves', 'between the file and the record'])(
    '%s: UNAVAILABLE, the file is where it was, and nothing of the task is left',
    async (moment) => {
      const { server, made } = await withOwnRedis()
      const path = made.tempFile('precious')
      const stop = () => server.stop()
      if (moment === 'before CreateTask') await stop()
      const service = serviceWith(made, {
        ...(moment === 'before the file moves' && { take: stop }),
        ...(moment === 'between the file and the record' && { create: stop }),
      })
      await expect(service.create({ tempFilePath: path, originalFilename: 'a.mp4' })).rejects.toMatchObject(
        UNAVAILABLE,
      )
      expectUntouched(made, path)
      await expect(made.service.status('x')).rejects.toMatchObject(UNAVAILABLE)

      await server.start()
      await made.link.ready(LIMIT_MS)
      await made.duties.follow.runOnce(never)
      expect(await made.link.redis.keys('task:*')).toEqual([])
      expect(await made.rows.page('', ['PENDING', 'REVOKED'])).toEqual([])
      await expect(
        made.service.create({ tempFilePath: path, originalFilename: 'a.mp4' }),
      ).resolves.toBeTruthy()
      expect(existsSync(path)).toBe(false)
    },
  )

  test('a task is still shown as the ledger knows it, and says that it waits for Redis', async () => {
    const { server, made } = await withOwnRedis()
    await made.duties.follow.runOnce(never)
    const id = await made.create()
    expect((await made.store.details(id))?.waitingFor).toBeUndefined()
    await server.stop()
    expect(await made.store.details(id)).toMatchObject({
      status: 'PENDING',
      waitingFor: {
        what: 'redis',
        ...UNAVAILABLE,
        since: expect.any(String),
        next_try_at: expect.any(String),
      },
    })
    await expect(made.store.details('unknown')).rejects.toMatchObject(UNAVAILABLE)
    expect(made.store.away()).toMatchObject({ what: 'redis' })
    await server.start()
    await made.link.ready(LIMIT_MS)
    expect((await made.store.details(id))?.waitingFor).toBeUndefined()
  })

  test('while the record is written: the answer is lost, but what Redis did is taken back', async () => {
    const { server, made } = await withOwnRedis()
    const path = made.tempFile('precious')
    const other = new Redis(server.url)
    onTestFinished(() => other.disconnect())
    // The connection is cut with the script's answer on its way: CLIENT REPLY OFF keeps the answer back.
    const service = serviceWith(made, {
      create: async () => {
        await made.link.redis.client('SETNAME', 'victim')
        made.link.redis.call('CLIENT', 'REPLY', 'OFF').catch(() => undefined)
      },
    })
    const creating = service.create({ tempFilePath: path, originalFilename: 'a.mp4' })
    creating.catch(() => undefined)
    await until('the record is there', async () => (await other.keys('task:*')).length > 0)
    const victim = /id=(\d+)[^\n]* name=victim/.exec(String(await other.client('LIST')))?.[1] ?? ''
    await other.client('KILL', 'ID', victim)
    await expect(creating).rejects.toMatchObject(UNAVAILABLE)
    expectUntouched(made, path)
    await made.link.ready(LIMIT_MS)
    await made.duties.follow.runOnce(never)
    expect(await other.keys('task:*')).toEqual([])
    expect(await other.llen(made.link.options.queueKey)).toBe(0)
  })

  test('and going on late: what it made of a try that was taken back gives way to the next one', async () => {
    const { made } = await withOwnRedis()
    const { ledger, link, rows, clock, log, handOff, duties, queue } = made
    await duties.follow.runOnce(never)
    let late: Parameters<RedisLink['run']> | undefined
    const hung = Object.assign(Object.create(link) as RedisLink, {
      run: async (...call: Parameters<RedisLink['run']>) => {
        const [name, keys, args] = call
        // Commands time out after seconds, so the next try is made later.
        const created = args[3]
        const earlier = (arg: string | number) => (Number(arg) === created ? created - 5 : arg)
        late = [name, keys, args.map(earlier)]
        throw new Error('Command timed out')
      },
    })
    const store = new RedisTaskStore({ link: hung, rows, clock, log })
    const path = made.tempFile('precious')
    const wish = { id: randomUUID(), tempFilePath: path, originalFilename: 'a.mp4' }
    const hungService = new TaskService({ ledger, store, handOff, clock: systemClock, log })
    await expect(hungService.create(wish)).rejects.toMatchObject(UNAVAILABLE)
    await link.run(...late!)
    expect(await made.store.details(wish.id)).toBeUndefined()
    await expect(made.service.create(wish)).rejects.toMatchObject(UNAVAILABLE)

    await duties.follow.runOnce(never)
    await link.run(...late!)
    const opened = queue()
    const stale = (await opened.claim(0, never))!
    await opened.finish(stale, { status: 'FAILED', errorMessage: 'the file is not there' })
    await made.service.create(wish)
    expect(await made.store.details(wish.id)).toMatchObject({ status: 'PENDING', fileName: 'a.mp4' })
    await link.run(...late!)
    const claim = (await opened.claim(0, never))!
    expect(await opened.finish(claim, { status: 'COMPLETED', resultPath: '/r' })).toBe(true)
    expect(await link.redis.llen(link.options.queueKey)).toBe(0)
  })

  test('while a processor works: its end is written when Redis is back, with or without memory', async () => {
    const { server, made } = await withOwnRedis()
    await made.duties.follow.runOnce(never)
    const id = await made.create()
    const queue = made.queue()
    const claim = (await queue.claim(0, never))!
    await made.duties.follow.runOnce(never)
    await server.stop()
    const finishing = queue.finish(claim, { status: 'COMPLETED', resultPath: '/r' })
    await server.start()
    await made.link.ready(LIMIT_MS)
    await made.duties.follow.runOnce(never)
    expect(await finishing).toBe(true)
    expect(await made.store.get(id)).toMatchObject({ status: 'COMPLETED', resultPath: '/r' })
  })
})
