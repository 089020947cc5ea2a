import {
  AppError,
  backoffDelay,
  type Clock,
  type Duty,
  ERRORS,
  isAppError,
  type Log,
  messageOf,
} from '../kernel/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import type { Job } from './job.ts'
import { Completed, type DefinedKind, type KindRegistry } from './kind.ts'
import type { Leases, Outcome } from './lease.ts'
import type { Ledger } from './ledger/ledger.ts'
import { ProgressThrottle } from './progress.ts'

export interface WorkerDeps {
  id: string
  ledger: Ledger
  kinds: KindRegistry
  leases: Leases
  clock: Clock
  log: Log
  /** Publishes what may start now. */
  wake(wakes: Wake[]): void
}

export interface WorkerOptions {
  leaseMs: number
  /** How long a handler that was told to stop may take before its job is settled without it. */
  abortGraceMs?: number
}

interface Running {
  job: Job
  abort: AbortController
  done: Promise<void>
}

const NEVER_SETTLED = Symbol('the handler did not stop')

/** Works on the jobs of one process: claims by id, keeps the leases alive, and settles how each one ended. */
export class Worker implements Duty {
  readonly name = 'renew-leases'
  readonly #deps: WorkerDeps
  readonly #leaseMs: number
  readonly #abortGraceMs: number
  readonly #running = new Map<string, Running>()
  /** Cancels heard of jobs that are not running here: one of them may be in the middle of its claim. */
  readonly #cancelledEarly = new Set<string>()
  #claiming = 0
  #renewedAt: number

  constructor(deps: WorkerDeps, { leaseMs, abortGraceMs = 5_000 }: WorkerOptions) {
    this.#deps = deps
    this.#leaseMs = leaseMs
    this.#abortGraceMs = abortGraceMs
    this.#renewedAt = deps.clock.now()
  }

  get size(): number {
    return this.#running.size
  }

  /** Claims and works on one job; resolves when its slot is free again. Never rejects. */
  async take(id: string): Promise<void> {
    try {
      const job = await this.#claim(id)
      if (job) await this.#work(job)
      else {
        const later = await this.#deps.leases.notYetDue(id)
        if (later) this.#deps.wake([later])
      }
    } catch (error) {
      // The ledger still has the job: it is published again when it is overdue.
      this.#deps.log.warn({ jobId: id, err: error }, 'could not take a job')
    }
  }

  async #claim(id: string): Promise<Job | undefined> {
    this.#claiming++
    try {
      return await this.#deps.leases.claim(id, this.#deps.id)
    } finally {
      this.#claiming--
    }
  }

  /** One pass of renewing every lease of this process. */
  async runOnce(): Promise<void> {
    if (this.#running.size === 0) {
      this.#renewedAt = this.#deps.clock.now()
      return
    }
    const before = [...this.#running.values()]
    const started = this.#deps.clock.now()
    try {
      const held = await this.#deps.leases.renew(this.#deps.id)
      this.#renewedAt = started
      for (const { job, abort } of before) {
        const mine = held.get(job.id)
        if (mine?.fence !== job.fence) abort.abort(leaseLost(job))
        else if (mine.cancelRequested) abort.abort(cancelled(job))
      }
    } catch (error) {
      this.#abortIfExpired(before)
      throw error
    }
  }

  abort(jobId: string): void {
    const running = this.#running.get(jobId)
    if (running) running.abort.abort(cancelled(running.job))
    else if (this.#claiming > 0) this.#cancelledEarly.add(jobId)
  }

  /** Waits up to `graceMs` for running jobs, then tells them to stop; they go back to `pending`. */
  async drain(graceMs: number): Promise<void> {
    const all = () => Promise.all([...this.#running.values()].map(({ done }) => done))
    const over = new AbortController()
    await Promise.race([all(), this.#deps.clock.sleep(graceMs, over.signal).catch(() => undefined)])
    over.abort()
    const shutdown = new AppError(ERRORS.SHUTTING_DOWN, 'this instance is shutting down')
    for (const { abort } of this.#running.values()) abort.abort(shutdown)
    await all()
  }

  /** While the ledger is away nobody can take the jobs over, but once it is back somebody may: stop in time. */
  #abortIfExpired(running: Running[]): void {
    if (this.#deps.clock.now() - this.#renewedAt < this.#leaseMs) return
    for (const { job, abort } of running) abort.abort(leaseLost(job))
  }

  async #work(job: Job): Promise<void> {
    const kind = this.#deps.kinds.get(job.kind)
    const abort = new AbortController()
    const done = this.#runAndSettle(kind, job, abort)
    this.#running.set(job.id, { job, abort, done })
    if (this.#cancelledEarly.delete(job.id)) abort.abort(cancelled(job))
    if (this.#claiming === 0) this.#cancelledEarly.clear()
    try {
      await done
    } finally {
      this.#running.delete(job.id)
    }
  }

  async #runAndSettle(kind: DefinedKind, job: Job, abort: AbortController): Promise<void> {
    const log = this.#deps.log.child({ jobId: job.id, kind: job.kind, attempt: job.attempts })
    const progress = new ProgressThrottle(this.#deps.clock, (value) =>
      this.#deps.leases.progress(job, value).catch((error) => {
        if (isAppError(error, ERRORS.JOB_LEASE_LOST)) abort.abort(error)
        else log.warn({ err: error }, 'progress was not written')
      }),
    )
    const outcome = await this.#run(kind, job, abort, progress, log)
    const rest = await progress.close()
    if (outcome === 'lost') return
    if (outcome.what === 'failed') log.warn({ err: outcome.error, final: outcome.final }, 'job failed')
    await this.#settle(job, outcome, rest, log)
  }

  async #run(
    kind: DefinedKind,
    job: Job,
    abort: AbortController,
    progress: ProgressThrottle,
    log: Log,
  ): Promise<Outcome | 'lost'> {
    const { signal } = abort
    const finished = new AbortController()
    if (kind.timeoutMs !== undefined) this.#abortAfter(kind.timeoutMs, abort, finished.signal)
    try {
      const result = await Promise.race([
        kind.run({
          job,
          signal,
          log,
          progress: (value) => progress.report(value),
          transaction: (work) =>
            this.#deps.ledger.transaction(async (tx) => {
              await this.#deps.leases.hold(tx, job)
              return work(tx)
            }),
        }),
        this.#graceAfterAbort(signal, finished.signal),
      ])
      if (result === NEVER_SETTLED) {
        log.error(
          { reason: messageOf(signal.reason) },
          'the handler did not stop when told to; its job goes on without it',
        )
        throw signal.reason
      }
      if (result instanceof Completed)
        return { what: 'succeeded', result: result.result, commit: result.commit }
      return { what: 'succeeded', result }
    } catch (error) {
      return outcomeOf(signal.aborted ? signal.reason : error)
    } finally {
      finished.abort()
    }
  }

  #abortAfter(ms: number, abort: AbortController, finished: AbortSignal): void {
    const timedOut = () =>
      abort.abort(
        new AppError(ERRORS.JOB_TIMED_OUT, `it took longer than ${inWords(ms)}`, { retryable: false }),
      )
    this.#deps.clock.sleep(ms, finished).then(timedOut, () => undefined)
  }

  async #graceAfterAbort(signal: AbortSignal, finished: AbortSignal): Promise<typeof NEVER_SETTLED> {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    await this.#deps.clock.sleep(this.#abortGraceMs, finished).catch(() => undefined)
    return NEVER_SETTLED
  }

  /** The work is done; losing that to a short outage of the ledger would be a waste. */
  async #settle(job: Job, outcome: Outcome, progress: unknown, log: Log): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.#deps.wake(await this.#deps.leases.settle(job, outcome, progress))
        return
      } catch (error) {
        if (isAppError(error, ERRORS.JOB_LEASE_LOST)) return log.warn('another worker has taken the job over')
        if (!isAppError(error, ERRORS.LEDGER_UNAVAILABLE) || attempt > 60) {
          return log.error({ err: error }, 'the end of a job could not be written; its lease will run out')
        }
        await this.#deps.clock.sleep(backoffDelay(attempt, { base: 200, factor: 2, max: 5_000, jitter: 0.2 }))
      }
    }
  }
}

function outcomeOf(error: unknown): Outcome | 'lost' {
  if (isAppError(error, ERRORS.JOB_LEASE_LOST)) return 'lost'
  if (isAppError(error, ERRORS.JOB_CANCELLED)) return { what: 'cancelled' }
  if (isAppError(error, ERRORS.SHUTTING_DOWN)) return { what: 'released' }
  if (error instanceof AppError) return { what: 'failed', error, final: !error.retryable }
  return {
    what: 'failed',
    error: new AppError(ERRORS.JOB_FAILED, messageOf(error), { cause: error }),
    final: false,
  }
}

function leaseLost(job: Job): AppError {
  return new AppError(ERRORS.JOB_LEASE_LOST, `the lease of job ${job.id} ran out`)
}

function cancelled(job: Job): AppError {
  return new AppError(ERRORS.JOB_CANCELLED, `job ${job.id} was cancelled`)
}

function inWords(ms: number): string {
  const [count, unit] = ms >= 60_000 ? [ms / 60_000, 'minute'] : [ms / 1_000, 'second']
  return `${Number(count.toFixed(1))} ${unit}${count === 1 ? '' : 's'}`
}
