import { randomUUID } from 'node:crypto'
import type { Redis } from 'ioredis'
import { type Clock, type Log, messageOf } from '../../kernel/index.ts'
import type { TaskRows } from '../stores/index.ts'
import { decodeMessage, hasEnded, type TaskReport, writeReport } from '../task.ts'
import { type RedisLink, untilReady } from './redis-link.ts'
import { putEndRight } from './redis-store.ts'

/** How long one BLMOVE waits. */
const BLOCK_SECONDS = 5
const KEEP_PROGRESS_SECONDS = 86_400
const RETRY_MS = 1_000
/** How long an end that cannot be written is tried again: Redis may be restarting, or being filled again. */
const FINISH_TRIES = 120

/** One task in the hands of one slot of a processor. */
export interface Claim {
  readonly taskId: string
  readonly originalFilePath: string
  readonly slot: number
  /** Where in a caller's trace the task was made, as `traceparent`. */
  readonly trace?: string

  readonly message: string
  /** The memory mark at the time of the claim. */
  readonly mark: string
}

export interface RedisQueueDeps {
  link: RedisLink
  clock: Clock
  log: Log
  /** Left out in a process that knows nothing but Redis. */
  rows?: Pick<TaskRows, 'get' | 'ledger'>
}

type TaskEnd = { status: 'COMPLETED'; resultPath: string } | { status: 'FAILED'; errorMessage: string }

/**
 * A processor's side of tasks in Redis: claim, touch, let go. Claims survive their processor: BLMOVE takes a task from the
 * queue into the list of one slot, where it stays until its end is written. The list is the claim; the leader finds the
 * lists of processors that no longer say they are alive. A slot holds at most one claim, and every call about a claim
 * answers false once the task is no longer this slot's.
 */
export class RedisTaskQueue {
  readonly processor = randomUUID()
  readonly #deps: RedisQueueDeps
  readonly #options: { slots: number; aliveMs: number }
  readonly #blocking: Redis
  #taking: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(deps: RedisQueueDeps, options: { slots: number; aliveMs: number }) {
    this.#deps = deps
    this.#options = options
    this.#blocking = deps.link.connectBlocking()
  }

  /** Waits for a task, a while at most; undefined when none came. */
  async claim(slot: number, signal: AbortSignal): Promise<Claim | undefined> {
    // One connection blocks for all slots, so they take turns.
    const turn = this.#taking.then(() => (signal.aborted ? undefined : this.#take(slot, signal)))
    this.#taking = turn.catch(() => undefined)
    try {
      return await turn
    } catch (error) {
      if (!signal.aborted) {
        this.#deps.log.debug({ err: error }, 'cannot take tasks from Redis, will try again')
        await this.#deps.clock.sleep(RETRY_MS, signal).catch(() => undefined)
      }
      return undefined
    }
  }

  async touch(claim: Claim, report: TaskReport | null): Promise<boolean> {
    const { link, clock } = this.#deps
    const { message, mark } = claim
    const keys = [this.#slot(claim.slot), link.taskKey(claim.taskId), link.memoryKey]
    const args = [
      message,
      seconds(clock),
      mark,
      report === null ? '' : writeReport(report),
      KEEP_PROGRESS_SECONDS,
    ]
    return (
      (await link.run('touch', [...keys, link.options.queueKey, link.progressKey(claim.taskId)], args)) === 1
    )
  }

  async finish(claim: Claim, end: TaskEnd): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.#finishOnce(claim, end)
        if (answer !== -1) return answer === 1
        if (!(await this.touch(claim, null))) return false
      } catch (error) {
        this.#deps.log.warn(
          { taskId: claim.taskId, reason: messageOf(error) },
          'the end of a task waits for Redis',
        )
      }
      if (tries >= FINISH_TRIES) return false
      await this.#deps.clock.sleep(RETRY_MS)
    }
  }

  /** Back to the head of the queue, as if it had never been claimed. */
  async release(claim: Claim): Promise<boolean> {
    return this.#putBack(claim.slot, claim.taskId, claim.message)
  }

  /** Says that the processor is alive. */
  async heartbeat(): Promise<void> {
    const { link } = this.#deps
    const { slots, aliveMs } = this.#options
    await link.redis
      .multi()
      .hset(link.processorsKey, this.processor, slots)
      .set(link.aliveKey(this.processor), '1', 'PX', aliveMs)
      .exec()
  }

  /** Gives back whatever the processor still has, and ends. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#blocking.disconnect()
    await this.#taking
    const { link } = this.#deps
    try {
      // Also what a BLMOVE moved whose answer nobody heard. One may still come to its end in Redis: the leader, which looks
      // for processors that are not alive, finds what it moves.
      for (let slot = 0; slot < this.#options.slots; slot++) {
        for (const message of await link.redis.lrange(this.#slot(slot), 0, -1)) {
          const taskId = decodeMessage(message)?.taskId
          if (taskId !== undefined) await this.#putBack(slot, taskId, message)
        }
      }
      await link.redis.del(link.aliveKey(this.processor))
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the processor could not sign off; the leader will notice')
    }
  }

  async #take(slot: number, signal: AbortSignal): Promise<Claim | undefined> {
    const { link } = this.#deps
    const left = await this.#begin(slot, true)
    if (left) return left
    const stop = () => this.#blocking.disconnect(true)
    signal.addEventListener('abort', stop, { once: true })
    try {
      await untilReady(this.#blocking)
      while (!signal.aborted) {
        const from = link.options.queueKey
        const moved = await this.#blocking.blmove(from, this.#slot(slot), 'LEFT', 'RIGHT', BLOCK_SECONDS)
        if (moved === null) return undefined
        const claim = await this.#begin(slot, false)
        if (claim) return claim
      }
      return undefined
    } finally {
      signal.removeEventListener('abort', stop)
    }
  }

  async #begin(slot: number, left: boolean): Promise<Claim | undefined> {
    const { link, clock, log } = this.#deps
    for (;;) {
      const args = [seconds(clock), left ? '1' : '']
      const answer = await link.run('begin', [this.#slot(slot), link.memoryKey], args)
      const [verdict, message, mark, trace] = answer as [string, string, string, string]
      if (verdict === 'empty') return undefined
      if (verdict === 'waits') throw new Error('Redis came back from a snapshot and is being put right')
      const task = decodeMessage(message)
      if (verdict === 'claimed' && task && !(await this.#endedBefore(task.taskId)))
        return { ...task, slot, message, mark, ...(trace && { trace }) }
      log.info({ message }, 'a queue entry without a waiting task was dropped')
    }
  }

  /** What the ledger knows has ended is not worked on again, whatever Redis says. */
  async #endedBefore(id: string): Promise<boolean> {
    const { rows, link } = this.#deps
    const row = await rows?.get(id)
    if (!rows || !row || !hasEnded(row.status)) return false
    return putEndRight(link, row, await rows.ledger.now())
  }

  async #finishOnce(claim: Claim, end: TaskEnd): Promise<number> {
    const { link, clock } = this.#deps
    const keys = [
      this.#slot(claim.slot),
      link.taskKey(claim.taskId),
      link.memoryKey,
      link.progressKey(claim.taskId),
    ]
    const result = end.status === 'COMPLETED' ? end.resultPath : ''
    const error = end.status === 'FAILED' ? end.errorMessage : ''
    const args = [
      claim.message,
      end.status,
      result,
      error,
      seconds(clock),
      link.options.ttlSeconds,
      claim.mark,
    ]
    return Number(await link.run('finish', keys, args))
  }

  async #putBack(slot: number, taskId: string, message: string): Promise<boolean> {
    const { link, clock } = this.#deps
    const keys = [this.#slot(slot), link.taskKey(taskId), link.options.queueKey]
    return (await link.run('put-back', keys, [message, seconds(clock), 'head', '', 0, '', ''])) === 1
  }

  #slot(slot: number): string {
    return this.#deps.link.slotKey(this.processor, slot)
  }
}

function seconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
