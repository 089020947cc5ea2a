import {
  AppError,
  type Backoff,
  backoffDelay,
  type Clock,
  DutyLoop,
  ERRORS,
  endsBefore,
  isAppError,
  type Log,
  messageOf,
  type Part,
  traced,
  within,
} from '../../kernel/index.ts'
import type { Claim, RedisTaskQueue } from '../redis/redis-queue.ts'
import { ERROR_CHARACTERS, type TaskReport } from '../task.ts'
import { runTask, type TaskRunOptions } from './task-run.ts'

export interface ProcessorOptions extends TaskRunOptions {
  concurrency: number
  /** How long running commands may finish when the processor is asked to stop. */
  drainMs: number
  /** How often it says that it and its tasks are alive. */
  touchMs: number
}

const STORE_AWAY: Backoff = { base: 500, factor: 2, max: 10_000, jitter: 0.5 }

/** What is said of a task with the next touch. */
interface Held {
  report: TaskReport | null
}

/**
 * Takes tasks from Redis and runs the command on them, `concurrency` at a time.
 *
 * A slot claims, works and lets go, in this order and for ever. While it works, a touch every few seconds keeps the task;
 * a touch that is refused means the task was cancelled or given to somebody else, and the command is killed.
 */
export class Processor implements Part {
  readonly name = 'processor'
  readonly #deps: { queue: RedisTaskQueue; clock: Clock; log: Log }
  readonly #options: ProcessorOptions
  readonly #stopClaiming = new AbortController()
  readonly #stopWorking = new AbortController()
  readonly #heartbeat: DutyLoop
  #slots: Promise<void>[] = []
  #drained: Promise<void> | undefined

  constructor(deps: { queue: RedisTaskQueue; clock: Clock; log: Log }, options: ProcessorOptions) {
    this.#deps = deps
    this.#options = options
    const duty = { name: 'processor-heartbeat', runOnce: () => deps.queue.heartbeat() }
    this.#heartbeat = new DutyLoop(duty, deps, { everyMs: options.touchMs })
  }

  async start(): Promise<void> {
    const { queue, log } = this.#deps
    // Known before its first claim, so that the claim is found if it dies at once.
    await queue.heartbeat().catch((error) => log.warn({ err: error }, 'the processor could not sign on yet'))
    this.#heartbeat.start()
    this.#slots = Array.from({ length: this.#options.concurrency }, (_, slot) => this.#loop(slot))
  }

  /** No new claims; running commands may end until `until` aborts, then they are killed and their tasks given back. */
  drain(until: AbortSignal): Promise<void> {
    this.#drained ??= this.#drain(until)
    return this.#drained
  }

  async #drain(until: AbortSignal): Promise<void> {
    this.#stopClaiming.abort()
    const all = Promise.all(this.#slots)
    await endsBefore(until, all)
    this.#stopWorking.abort(new AppError(ERRORS.SHUTTING_DOWN, 'the processor is shutting down'))
    await all
  }

  /** Without a `drain` before, it drains by itself for as long as its options say. */
  async stop(): Promise<void> {
    await within(this.#deps.clock, this.#options.drainMs, (until) => this.drain(until))
    await this.#heartbeat.stop()
    await this.#deps.queue.close()
  }

  async #loop(slot: number): Promise<void> {
    const { queue, clock, log } = this.#deps
    const { signal } = this.#stopClaiming
    while (!signal.aborted) {
      try {
        const claim = await queue.claim(slot, signal)
        if (claim) await this.#work(claim)
      } catch (error) {
        log.warn({ err: error }, 'a processor slot stumbled, will go on')
        await clock.sleep(1_000, signal).catch(() => undefined)
      }
    }
  }

  #work(claim: Claim): Promise<void> {
    const attributes = { 'wharf.task.id': claim.taskId }
    return traced('task', { kind: 'consumer', parent: claim.trace ?? null, attributes }, () =>
      this.#workOn(claim),
    )
  }

  async #workOn(claim: Claim): Promise<void> {
    const { queue, clock } = this.#deps
    const log = this.#deps.log.child({ taskId: claim.taskId })
    const lost = new AbortController()
    const finished = new AbortController()
    const signal = AbortSignal.any([lost.signal, this.#stopWorking.signal])
    const held: Held = { report: null }
    const touching = this.#keepTouching(claim, held, lost, finished.signal)
    try {
      log.info('a task was taken')
      const resultPath = await runTask(
        {
          ...{ taskId: claim.taskId, input: claim.originalFilePath, signal, log, clock },
          onProgress: (value) => (held.report = value),
          onWaiting: (waiting) => (held.report = waiting),
          stillMine: () => this.#stillMine(claim, held, signal),
        },
        this.#options,
      )
      log.info({ written: await queue.finish(claim, { status: 'COMPLETED', resultPath }) }, 'a task is done')
    } catch (error) {
      await this.#endBadly(claim, signal.aborted ? signal.reason : error, log)
    } finally {
      finished.abort()
      await touching
    }
  }

  async #endBadly(claim: Claim, error: unknown, log: Log): Promise<void> {
    const { queue } = this.#deps
    if (isAppError(error, ERRORS.JOB_LEASE_LOST)) return log.warn('the task was taken away')
    if (isAppError(error, ERRORS.SHUTTING_DOWN)) {
      log.info({ released: await queue.release(claim) }, 'the task is given back')
      return
    }
    const errorMessage = messageOf(error).slice(0, ERROR_CHARACTERS)
    const written = await queue.finish(claim, { status: 'FAILED', errorMessage })
    log.warn({ written, errorMessage }, 'a task failed')
  }

  /** While the task store is away nobody can take the task over, so a finished result waits for its answer. */
  async #stillMine(claim: Claim, held: Held, signal: AbortSignal): Promise<boolean> {
    const { queue, clock, log } = this.#deps
    for (let tried = 1; ; tried++) {
      try {
        return await queue.touch(claim, held.report)
      } catch (error) {
        log.warn(
          { taskId: claim.taskId, reason: messageOf(error) },
          'a finished task waits for the task store',
        )
        await clock.sleep(backoffDelay(tried, STORE_AWAY), signal)
      }
    }
  }

  async #keepTouching(claim: Claim, held: Held, lost: AbortController, finished: AbortSignal): Promise<void> {
    const { queue, clock, log } = this.#deps
    for (;;) {
      await clock.sleep(this.#options.touchMs, finished).catch(() => undefined)
      if (finished.aborted) return
      const mine = await queue.touch(claim, held.report).catch((error) => {
        // While the store is away nobody can take the task over either.
        log.debug({ err: error }, 'a touch did not get through')
        return true
      })
      if (!mine) {
        lost.abort(new AppError(ERRORS.JOB_LEASE_LOST, `task ${claim.taskId} was taken away`))
        return
      }
    }
  }
}
