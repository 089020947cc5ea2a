import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { type Job as BullJob, Queue } from 'bullmq'
import type { Redis } from 'ioredis'
import { background, bestEffort, endsWithin, type Log, systemClock } from '../../kernel/index.ts'
import { ANSWER_MS, connectRedis } from '../../redis/redis-connection.ts'
import type { Consumer, Dispatcher, DueIds, Take, Wake } from './dispatcher.ts'
import { isWrongType, repairQueue } from './repair-queue.ts'
import { type Bundle, WakeWorker } from './wake-worker.ts'

export interface BullMqOptions {
  url: string
  prefix?: string
  /** How long Redis may take for an answer before it counts as away. */
  answerMs?: number
}

const RETRY_MS = 1_000
const MOST_IN_BUNDLE = 32
/** How often a consumer asks the ledger for work while Redis is away. */
const STAND_IN_MS = 1_000
/** How long a stopping consumer waits for the answer to a fetch that is under way. */
const LAST_ANSWER_MS = 1_000

/**
 * Ids through BullMQ: one queue per pool, for all kinds in it.
 *
 * A wake is completed in Redis the moment it is taken, because from then on the ledger's lease answers for the job.
 * So BullMQ needs no locks to renew and no stalled jobs to look for, and its ids are its own: an id that is used again
 * while its finished job is kept would silently not be dispatched.
 */
export class BullMqDispatcher implements Dispatcher {
  readonly #options: Required<BullMqOptions>
  readonly #log: Log
  readonly #redis: Redis
  /** Settled by the outcome of the very first attempt to connect. */
  readonly #connected: Promise<unknown>
  readonly #queues = new Map<string, Queue<Bundle>>()
  readonly #consumers = new Set<Consumer>()

  constructor(log: Log, { url, prefix = 'wharf', answerMs = ANSWER_MS }: BullMqOptions) {
    this.#log = log
    this.#options = { url, prefix, answerMs }
    this.#redis = connectRedis(log, url, answerMs)
    this.#redis.once('ready', () => bestEffort(this.#warnOfEviction()))
    this.#connected = new Promise((resolve) => this.#redis.once('ready', resolve).once('close', resolve))
  }

  async #warnOfEviction(): Promise<void> {
    const policy = /^maxmemory_policy:(\S+)/m.exec(await this.#redis.info('memory'))?.[1]
    if (policy !== undefined && policy !== 'noeviction')
      this.#log.warn(
        { policy },
        'Redis drops tasks and wake-ups when it is full: set its maxmemory-policy to noeviction',
      )
  }

  async publish(wakes: readonly Wake[]): Promise<void> {
    await this.#requireConnection()
    for (const [pool, group] of Map.groupBy(wakes, (wake) => wake.pool)) {
      const jobs = inBundles(group).map(({ data, delay }) => ({ name: 'wake', data, opts: { delay } }))
      const [first, ...rest] = jobs
      await this.#repairing(pool, async () => {
        if (first && rest.length === 0) await this.#queue(pool).add(first.name, first.data, first.opts)
        else await this.#queue(pool).addBulk(jobs)
      })
    }
  }

  async #repairing(pool: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!isWrongType(error)) throw error
      await this.#repair(pool)
      await work()
    }
  }

  async #repair(pool: string): Promise<void> {
    const keys = await repairQueue(this.#redis, `${this.#options.prefix}:${queueName(pool)}`)
    if (keys.length > 0)
      this.#log.warn(
        { keys },
        'keys of Wharf in Redis were changed from outside; they are made anew, no work is lost',
      )
  }

  consume(pool: string, size: number, take: Take, due?: DueIds): Consumer {
    const worker = new WakeWorker(queueName(pool), this.#options)
    worker.on('error', (error) => {
      if (isWrongType(error)) background('repairing keys in Redis', this.#repair(pool))
      else this.#log.debug({ err: error }, 'redis connection error')
    })
    const stop = new AbortController()
    const slots = new Slots(size)
    const loop = this.#consume(pool, worker, slots, take, stop.signal)
    if (due) background('taking work from the ledger', this.#standIn(slots, take, due, stop.signal))
    const consumer: Consumer = {
      offer: (id) => {
        if (!stop.signal.aborted) slots.offer(id, () => take(id, true))
      },
      stop: async () => {
        if (stop.signal.aborted) return
        stop.abort()
        this.#consumers.delete(consumer)
        worker.interrupt()
        // The loop hands out nothing from here on. Usually it ends at once, but a fetch that was under way when Redis
        // went away may never be answered.
        await endsWithin(systemClock, LAST_ANSWER_MS, loop)
        await worker.end()
      },
    }
    this.#consumers.add(consumer)
    return consumer
  }

  async forgot(): Promise<boolean> {
    await this.#requireConnection()
    return (await this.#redis.set(`${this.#options.prefix}:remembers`, '1', 'NX')) === 'OK'
  }

  async close(): Promise<void> {
    for (const consumer of [...this.#consumers]) await consumer.stop()
    for (const queue of this.#queues.values()) await queue.close()
    this.#redis.disconnect()
  }

  async #consume(pool: string, worker: WakeWorker, slots: Slots, take: Take, stop: AbortSignal) {
    let next: BullJob<Bundle> | undefined
    while (!stop.aborted) {
      await slots.free(stop)
      if (stop.aborted) break
      try {
        next ??= await worker.getNextJob(randomUUID())
        if (stop.aborted || !next) continue
        const ids = [next.data].flat()
        for (const id of ids.splice(0, slots.available)) slots.run(() => take(id))
        // Before the bundle is completed: what this process has no slot for may find one elsewhere.
        if (ids.length > 0) await this.#queue(pool).add('wake', ids, { lifo: true })
        next = await worker.complete(next, slots.available > 0)
      } catch (error) {
        next = undefined
        if (stop.aborted) return
        if (isWrongType(error)) await this.#repair(pool).catch(() => undefined)
        this.#log.warn({ err: error }, 'cannot take work from Redis, will try again')
        await delay(RETRY_MS, undefined, { signal: stop }).catch(() => undefined)
      }
    }
    await next?.moveToWait(next.token).catch((error) => {
      this.#log.debug({ err: error }, 'an id was not given back; the leader will publish it again')
    })
  }

  /** The ledger has all the work. Without Redis it is only found later, and by every instance that has a free slot. */
  async #standIn(slots: Slots, take: Take, due: DueIds, stop: AbortSignal) {
    for (let away = false; ; ) {
      await delay(STAND_IN_MS, undefined, { signal: stop }).catch(() => undefined)
      if (stop.aborted) return
      // One more look when it is back, for what could not be published just before.
      const wasAway = away
      away = this.#redis.status !== 'ready'
      if (!(away || wasAway) || slots.available <= 0) continue
      const ids = await due(slots.available).catch(() => [])
      if (stop.aborted) return
      for (const id of ids.slice(0, slots.available)) slots.run(() => take(id))
    }
  }

  #queue(pool: string): Queue<Bundle> {
    let queue = this.#queues.get(pool)
    if (!queue) {
      queue = new Queue(queueName(pool), {
        connection: this.#redis,
        prefix: this.#options.prefix,
        defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
        skipMetasUpdate: true,
        skipVersionCheck: true,
      })
      queue.on('error', (error) => this.#log.debug({ err: error }, 'redis connection error'))
      this.#queues.set(pool, queue)
    }
    return queue
  }

  async #requireConnection(): Promise<void> {
    await this.#connected
    if (this.#redis.status !== 'ready') throw new Error('Redis is away')
  }
}

/** Light ones share a trip through Redis; each of the others is handed to a free consumer. In their order. */
function inBundles(wakes: readonly Wake[]): { data: Bundle; delay: number }[] {
  const bundles: { data: Bundle; delay: number }[] = []
  let open: string[] | undefined
  for (const { id, delayMs, light = false } of wakes) {
    const joins = light && delayMs <= 0
    if (joins && open && open.length < MOST_IN_BUNDLE) open.push(id)
    else {
      open = joins ? [id] : undefined
      bundles.push({ data: open ?? id, delay: Math.max(0, delayMs) })
    }
  }
  return bundles
}

function queueName(pool: string): string {
  return `wake-${pool}`
}

/** Counts what is under way, so that a consumer asks for more only while a slot is free. */
class Slots {
  #available: number
  readonly #offered = new Map<string, () => Promise<void>>()
  #waiter: (() => void) | undefined

  constructor(size: number) {
    this.#available = size
  }

  get available(): number {
    return this.#available
  }

  /** Resolves as soon as at least one slot is free, or the signal aborts. For one waiter at a time. */
  async free(signal: AbortSignal): Promise<void> {
    const wake = () => this.#waiter?.()
    signal.addEventListener('abort', wake)
    while (this.#available <= 0 && !signal.aborted)
      await new Promise<void>((resolve) => (this.#waiter = resolve))
    signal.removeEventListener('abort', wake)
  }

  run(work: () => Promise<void>): void {
    this.#available--
    const done = work().finally(() => {
      this.#available++
      this.#runOffered()
      this.#waiter?.()
      this.#waiter = undefined
    })
    background('taking a job', done)
  }

  /** Runs it before anything else as soon as a slot is free. */
  offer(id: string, work: () => Promise<void>): void {
    this.#offered.set(id, work)
    this.#runOffered()
  }

  #runOffered(): void {
    for (const [id, work] of this.#offered) {
      if (this.#available <= 0) return
      this.#offered.delete(id)
      this.run(work)
    }
  }
}
