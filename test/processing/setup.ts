import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { inject, onTestFinished } from 'vitest'
import { Engine } from '../../src/jobs/index.ts'
import { PRIVATE } from '../../src/kernel/files/files.ts'
import { type Clock, systemClock } from '../../src/kernel/index.ts'
import { FollowRedisDuty } from '../../src/processing/duties/follow-redis.ts'
import { PutBackDuty } from '../../src/processing/duties/index.ts'
import { HandOff } from '../../src/processing/files/hand-off.ts'
import type { ProcessorSettings } from '../../src/processing/processing-options.ts'
import { Processor } from '../../src/processing/processor/processor.ts'
import { processorCommand } from '../../src/processing/processor/run-command.ts'
import { taskKind } from '../../src/processing/processor/task-kind.ts'
import { RedisLink } from '../../src/processing/redis/redis-link.ts'
import { RedisTaskQueue } from '../../src/processing/redis/redis-queue.ts'
import { RedisTaskStore } from '../../src/processing/redis/redis-store.ts'
import {
  enqueueTasks,
  LedgerTaskStore,
  recoverTasks,
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
  /** Tasks are jobs of the engine, also where there is a Redis. */
  withoutRedis?: boolean
}

export type ProcessOptions = Partial<ProcessorSettings> & { touchMs?: number; queue?: RedisTaskQueue }

const ALIVE_MS = 30_000
const PROCESSOR: ProcessorSettings = {
  ...{ command: 'cp {input} {output}', concurrency: 1, drainMs: 0, timeoutMs: LIMIT_MS, retries: 0 },
  ...{ resultName: 'result.mp4', access: PRIVATE, environment: { PATH: process.env.PATH ?? '' } },
}

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
  const isJob = name === 'embedded' || options.withoutRedis === true
  const link = isJob ? undefined : await openLink(options.redisUrl ?? inject('redisUrl') ?? '', ttlSeconds)
  const rows: TaskRows = new TaskRows(
    {
      ledger,
      emitter: engine.emitter,
      ...(isJob && { enqueue: (tx, tasks) => enqueueTasks(engine, tx, tasks) }),
    },
    { ttlMs: ttlSeconds * 1000, leaseMs: engine.leaseMs },
  )
  if (isJob) engine.define(taskKind(rows, { processor: null, maxReturns }))
  const store: TaskStore = link
    ? new RedisTaskStore({ link, rows, clock, log })
    : new LedgerTaskStore({ rows, engine })
  const queues: RedisTaskQueue[] = []
  /** `own`: the rows, for a processor beside a server. */
  const queue = (slots = 1, aliveMs = ALIVE_MS, own?: TaskRows) => {
    if (!link) throw new Error('this setup has no Redis')
    const opened = new RedisTaskQueue({ link, clock, log, ...(own && { rows: own }) }, { slots, aliveMs })
    queues.push(opened)
    return opened
  }
  const workers: { stop(): Promise<void> }[] = []
  /** A processor on Redis, or an instance of the engine that works on the jobs. */
  const startProcessor = async ({ queue: own, touchMs = 20, ...options }: ProcessOptions) => {
    const settings: ProcessorSettings = { ...PROCESSOR, ...options }
    const { concurrency, drainMs } = settings
    const worker = link
      ? new Processor(
          { queue: own ?? queue(concurrency), clock, log },
          { ...settings, command: processorCommand(settings.command), touchMs },
        )
      : new Engine({ ledger, dispatcher, bus, clock, log }, { version: 'test', sole: true, drainMs })
    if (worker instanceof Engine) {
      worker.define(taskKind(rows, { processor: settings, maxReturns }))
      await recoverTasks(worker, rows)
    }
    workers.push(worker)
    await worker.start()
    return worker
  }
  onTestFinished(async () => {
    for (const worker of workers) await worker.stop()
    for (const opened of queues) await opened.close()
    link?.close()
    engine.feed.close()
    await dispatcher.close()
    await bus.close()
    await ledger.close()
    await backend.remove()
  })
  const service = new TaskService({ ledger, store, handOff, clock, log })
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
      startProcessor,
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

/** A command that says that it has begun and waits until it is let go. */
export function waitingCommand({ folder }: { folder: string }) {
  const [begun, go] = [join(folder, 'begun'), join(folder, 'go')]
  const script = join(folder, 'wait.sh')
  const lines = [
    `echo "$3" >> ${begun}`,
    `while [ -e "$0" ] && [ ! -e ${go} ]; do sleep 0.02; done`,
    'cp "$1" "$2"',
  ]
  writeFileSync(script, lines.join('\n'))
  return {
    command: `sh ${script} {input} {output} {task_id}`,
    runs: () => (existsSync(begun) ? readFileSync(begun, 'utf8').trim().split('\n') : []),
    letGo: () => writeFileSync(go, ''),
  }
}
