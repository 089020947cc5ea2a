import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { Engine } from '../../src/jobs/index.ts'
import { PRIVATE } from '../../src/kernel/files/files.ts'
import { type Clock, systemClock } from '../../src/kernel/index.ts'
import { FollowRedisDuty } from '../../src/processing/duties/follow-redis.ts'
import { PutBackDuty } from '../../src/processing/duties/index.ts'
import { HandOff } from '../../src/processing/files/hand-off.ts'
import { RedisLink } from '../../src/processing/redis/redis-link.ts'
import { RedisTaskQueue } from '../../src/processing/redis/redis-queue.ts'
import { RedisTaskStore } from '../../src/processing/redis/redis-store.ts'
import {
  LedgerTaskQueue,
  LedgerTaskStore,
  type TaskQueue,
  TaskRows,
  type TaskStore,
} from '../../src/processing/stores/index.ts'
import { TaskService } from '../../src/processing/task-service.ts'
import { type BackendName, openBackend, silentLog } from '../support/backends.ts'
import { LIMIT_MS } from '../support/until.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

export interface SetupOptions {
  clock?: Clock
  /** A Redis of the test's own; the shared one otherwise. */
  redisUrl?: string
  ttlSeconds?: number
  maxReturns?: number
}

const ALIVE_MS = 30_000

/** Stores, queues and files of one instance on a fresh ledger; all of it is gone with the test. */
export async function setup(name: BackendName, options: SetupOptions = {}) {
  const { clock = systemClock, ttlSeconds = 604_800, maxReturns = 2 } = options
  const backend = await openBackend(name)
  const ledger = await backend.openLedger(clock)
  const dispatcher = backend.openDispatcher()
  const bus = await backend.openBus()
  const engine = new Engine(
    { ledger, dispatcher, bus, clock, log: silentLog },
    { version: 'test', sole: false },
  )
  const log = silentLog
  const folder = temporaryFolder()
  const handOff = new HandOff(log, {
    storage: join(folder, 'videos'),
    temp: join(folder, 'temp'),
    access: PRIVATE,
  })
  const rows = new TaskRows({ ledger, emitter: engine.emitter }, { ttlMs: ttlSeconds * 1000 })
  const link =
    name === 'embedded' ? undefined : await openLink(options.redisUrl ?? inject('redisUrl') ?? '', ttlSeconds)
  const ledgerQueue = new LedgerTaskQueue({ rows, clock }, { maxReturns })
  const store: TaskStore = link
    ? new RedisTaskStore({ link, rows, clock, log })
    : new LedgerTaskStore({ rows, wake: () => ledgerQueue.wake() })
  const queues: TaskQueue[] = []
  const queue = (slots = 1, aliveMs = ALIVE_MS) => {
    const opened = link ? new RedisTaskQueue({ link, clock, log }, { slots, aliveMs }) : ledgerQueue
    queues.push(opened)
    return opened
  }
  onTestFinished(async () => {
    for (const opened of queues) await opened.close()
    link?.close()
    engine.feed.close()
    await dispatcher.close()
    await bus.close()
    await ledger.close()
    await backend.remove()
  })
  const service = new TaskService({ store, handOff, log })
  const tempFile = (text = 'a film', fileName = `${randomBytes(4).toString('hex')}.upload`) => {
    mkdirSync(handOff.temp, { recursive: true })
    const path = join(handOff.temp, fileName)
    writeFileSync(path, text)
    return path
  }
  return {
    ...{
      backend,
      engine,
      ledger,
      rows,
      store,
      queue,
      ledgerQueue,
      service,
      handOff,
      folder,
      clock,
      log,
      tempFile,
    },
    /** Only beside Redis. */
    get link(): RedisLink {
      if (!link) throw new Error('this setup has no Redis')
      return link
    },
    get duties() {
      if (!link) throw new Error('this setup has no Redis')
      const parts = { link, rows, clock, log }
      return {
        follow: new FollowRedisDuty(parts, { onItsWayMs: 0 }),
        putBack: (stalledMs = 3_600_000, missingMs = 60_000) =>
          new PutBackDuty(parts, { maxReturns, stalledMs, aliveMs: ALIVE_MS, missingMs }),
      }
    },
    create: (fileName = 'film.mov') =>
      service.create({ tempFilePath: tempFile(), originalFilename: fileName }),
  }
}

/** Keys of its own, so that tests that share a Redis do not share a queue. */
async function openLink(url: string, ttlSeconds: number): Promise<RedisLink> {
  const prefix = `t${randomBytes(4).toString('hex')}`
  const link = new RedisLink(silentLog, { url, prefix, queueKey: `${prefix}:pending`, ttlSeconds })
  await link.ready(LIMIT_MS)
  return link
}

export function plainRedis(url: string): Redis {
  const redis = new Redis(url)
  redis.on('error', () => undefined)
  onTestFinished(() => redis.disconnect())
  return redis
}

/** Takes as many tasks as there should be, as a foreign processor does, and answers their ids in order. */
export async function drainQueue(redis: Redis, queue: string, count: number): Promise<string[]> {
  const taken: string[] = []
  while (taken.length < count) {
    const [, message] = (await redis.blpop(queue, LIMIT_MS / 1000)) ?? []
    if (message === undefined) throw new Error(`only ${taken.length} of ${count} tasks are in the queue`)
    const { task_id } = JSON.parse(message) as { task_id: string }
    await redis.hset(`task:${task_id}`, 'status', 'PROCESSING')
    taken.push(task_id)
  }
  return taken.sort()
}

export const never = new AbortController().signal
