import type { ScheduledDuty } from '../domain/index.ts'
import type { Engine, JobKind } from '../jobs/index.ts'
import type { AppError, Clock, Log } from '../kernel/index.ts'
import type { Quotas } from '../tenancy/index.ts'
import { PutBackDuty, RestingDuty } from './duties/index.ts'
import type { ProcessingOptions } from './processing-options.ts'
import { taskKind } from './processor/task-kind.ts'
import type { RedisLink } from './redis/redis-link.ts'
import type { RedisTaskQueue } from './redis/redis-queue.ts'
import {
  deleteJobs,
  enqueueTasks,
  LedgerTaskStore,
  recoverTasks,
  TaskRows,
  type TaskStore,
} from './stores/index.ts'

const PUT_BACK_EVERY_MS = 10_000
const FOLLOW_EVERY_MS = 2_000
/** How late a new task is followed at the latest, if nothing was unfinished and the signal of it was lost. */
const REST_MS = 60_000
const SAY_EVERY_MS = 1_000

export interface OpenedStore {
  rows: TaskRows
  kinds: JobKind[]
  duties: ScheduledDuty[]
  store: TaskStore
  /** The processor's side of Redis, for one that runs in this process; left out where tasks are jobs of the engine. */
  queue?(slots: number): RedisTaskQueue
  start(): Promise<void>
  close(): void
}

interface OpenStoreDeps {
  engine: Engine
  quotas: Quotas
  clock: Clock
  log: Log
}

/** Redis where it is given, the ledger alone otherwise. Redis' library is loaded only when it is used. */
export async function openStore(deps: OpenStoreDeps, options: ProcessingOptions): Promise<OpenedStore> {
  const { engine, quotas } = deps
  const rows = new TaskRows(
    {
      ledger: engine.ledger,
      emitter: engine.emitter,
      count: (tx, projectId, disk) => quotas.add(tx, projectId, { disk }),
      ...(options.redis === null && { enqueue: (tx, tasks) => enqueueTasks(engine, tx, tasks) }),
      ...(options.redis !== null && {
        toFollow: sayNow(() => engine.bus.publish('processing', {})),
      }),
    },
    { ttlMs: options.ttlDays * 86_400_000, leaseMs: engine.leaseMs },
  )
  return options.redis === null ? onLedger(deps, rows, options) : onRedis(deps, rows, options)
}

function onLedger({ engine }: OpenStoreDeps, rows: TaskRows, options: ProcessingOptions): OpenedStore {
  return {
    rows,
    kinds: [taskKind(rows, options)],
    duties: [],
    store: new LedgerTaskStore({ rows, engine }),
    start: () => recoverTasks(engine, rows),
    close: () => undefined,
  }
}

async function onRedis(
  deps: OpenStoreDeps,
  rows: TaskRows,
  options: ProcessingOptions,
): Promise<OpenedStore> {
  const { engine, clock, log } = deps
  const { FollowRedisDuty } = await import('./duties/follow-redis.ts')
  const { RedisTaskQueue } = await import('./redis/redis-queue.ts')
  const { RedisTaskStore } = await import('./redis/redis-store.ts')
  const { storeUnavailable } = await import('./redis/redis-link.ts')
  const link = await openLink(log, options)
  const parts = { link, rows, clock, log }
  const { maxReturns, stalledMs, aliveMs } = options
  const rests = (duty: ConstructorParameters<typeof RestingDuty>[0]) =>
    new RestingDuty(
      orOutage(duty, () => link.redis.status !== 'ready', storeUnavailable),
      clock,
      REST_MS,
    )
  const follow = rests(new FollowRedisDuty(parts))
  const putBack = rests(new PutBackDuty(parts, { maxReturns, stalledMs, aliveMs }))
  const wake = () => {
    follow.wake()
    putBack.wake()
  }
  const unsubscribe = engine.bus.subscribe('processing', wake)
  // It may have lost its memory.
  link.redis.on('ready', wake)
  return {
    rows,
    kinds: [],
    duties: [
      { duty: follow, everyMs: FOLLOW_EVERY_MS, runs: 'leader' },
      { duty: putBack, everyMs: PUT_BACK_EVERY_MS, runs: 'leader' },
    ],
    store: new RedisTaskStore(parts),
    queue: (slots) => new RedisTaskQueue(parts, { slots, aliveMs: options.aliveMs }),
    start: async () => {
      await link.ready()
      await deleteJobs(rows)
    },
    close: () => {
      unsubscribe()
      link.close()
    },
  }
}

/** What fails while Redis is away is its outage. */
function orOutage<T>(
  duty: { name: string; runOnce(signal: AbortSignal): Promise<T> },
  isAway: () => boolean,
  outage: (cause: unknown) => AppError,
) {
  return {
    name: duty.name,
    runOnce: (signal: AbortSignal) =>
      duty.runOnce(signal).catch((error: unknown) => {
        throw isAway() ? outage(error) : error
      }),
  }
}

/** Calls `say` at once and then at most once per second, the last time after the last call. */
function sayNow(say: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let again = false
  return function call() {
    again = timer !== undefined
    if (again) return
    say()
    timer = setTimeout(() => {
      timer = undefined
      if (again) call()
    }, SAY_EVERY_MS).unref()
  }
}

/** `redis` must be given. */
export async function openLink(
  log: Log,
  { redis, queueKey, ttlDays }: Pick<ProcessingOptions, 'redis' | 'queueKey' | 'ttlDays'>,
): Promise<RedisLink> {
  if (redis === null) throw new Error('there is no Redis to connect to')
  const { RedisLink } = await import('./redis/redis-link.ts')
  return new RedisLink(log, { ...redis, queueKey, ttlSeconds: ttlDays * 86_400 })
}
