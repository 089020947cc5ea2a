import {
  AppError,
  backoffDelay,
  type Clock,
  type Duty,
  ERRORS,
  endsBefore,
  isAppError,
  type Log,
  messageOf,
  orAborted,
  outageOf,
  Span,
  unforeseen,
} from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import { Gather } from './gather.ts'
import type { Job } from './job.ts'
import { Completed, type DefinedKind, type KindRegistry } from './kind.ts'
import type { Home, Leases } from './lease.ts'
import { endsJob, failed, type Outcome, outcomeOf } from './outcome.ts'
import { jobMeter } from './overview/index.ts'
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
  /** Tells another instance of a job that it is to take. */
  tell(home: Home): void
}

export interface WorkerOptions {
  leaseMs: number
  /** How long a handler may take to stop before its job is settled without it. */
  abortGraceMs?: number
}

interface Running {
  job: Job
  abort: AbortController
  done: Promise<void>
}

/** The same when the process shuts down. */
const SHUTDOWN_GRACE_MS = 1_000
/** An outage that a job meets after it has worked for this long is a new one: its pauses begin anew. */
const NEW_OUTAGE_MS = 5 * 60_000
/** A reason of its own: without one, each abort makes an error with a stack. */
const FINISHED = Symbol('the handler has finished')
const NEVER_SETTLED = Symbol('the handler did not stop')

/** Works on the jobs of one process: claims by id, keeps the leases alive, and settles how each one ended. */
export class Worker implements Duty {
  readonly name = 'renew-leases'
  readonly #deps: WorkerDeps
  readonly #leaseMs: number
  readonly #abortGraceMs: number
  /** Not by job id: a job that was taken away from a stalled run may well come back to this very process. */
  readonly #running = new Set<Running>()
  /** Every id that was handed over and has not left its slot yet, claimed or not. */
  readonly #taking = new Set<Promise<void>>()
  /** Cancels heard of jobs that are not running here: one of them may be in the middle of its claim. */
  readonly #cancelledEarly = new Set<string>()
  readonly #claims: Gather<string, Job | undefined>
  #claiming = 0
  #renewedAt: number
  #draining: 'no' | 'waits' | 'aborts' = 'no'
  /** Aborts when the process can wait no longer, neither for handlers nor for the ledger. */
  readonly #hurry = new AbortController()

  constructor(deps: WorkerDeps, { leaseMs, abortGraceMs = 5_000 }: WorkerOptions) {
    this.#deps = deps
    this.#claims = new Gather((ids) => deps.leases.claimAll(ids, deps.id))
    this.#leaseMs = leaseMs
    this.#abortGraceMs = abortGraceMs
    this.#renewedAt = deps.clock.now()
  }

  get size(): number {
    return this.#running.size
  }

  /** Claims and works on one job; resolves when its slot is free again. Never rejects. `offered`: others know of the job too. */
  async take(id: string, offered = false): Promise<void> {
    if (this.#draining !== 'no') return
    const taking = this.#take(id, offered)
    this.#taking.add(taking)
    await taking
    this.#taking.delete(taking)
  }

  async #take(id: string, offered: boolean): Promise<void> {
    try {
      const running = await this.#claim(id)
      if (running) await running.done
      else if (!offered) {
        const { wakes, home } = await this.#deps.leases.notYetDue(id, this.#deps.id)
        if (wakes.length > 0) this.#deps.wake(wakes)
        if (home) this.#deps.tell(home)
      }
    } catch (error) {
      // The ledger still has the job: it is published again when it is overdue.
      this.#deps.log.warn({ jobId: id, err: error }, 'could not take a job')
    }
  }

  /** Until the job is under way, a cancel that comes for it must not be forgotten. */
  async #claim(id: string): Promise<Running | undefined> {
    this.#claiming++
    try {
      const job = await this.#claims.add(id)
      return job && this.#work(job)
    } finally {
      this.#claiming--
      if (this.#claiming === 0) this.#cancelledEarly.clear()
    }
  }

  /** One pass of renewing every lease of this process. */
  async runOnce(): Promise<void> {
    if (this.#running.size === 0) {
      this.#renewedAt = this.#deps.clock.now()
      return
    }
    const before = [...this.#running]
    const started = this.#deps.clock.now()
    try {
      const held = await this.#deps.leases.renew(
        this.#deps.id,
        before.map(({ job }) => job.id),
      )
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
    for (const { job, abort } of this.#running) if (job.id === jobId) abort.abort(cancelled(job))
    if (this.#claiming > 0) this.#cancelledEarly.add(jobId)
  }

  /**
   * Takes nothing more and waits for what is under way; when `until` aborts it is stopped. Jobs that did not end by
   * themselves go back to `pending`, those included whose claim was answered only now.
   */
  async drain(until: AbortSignal): Promise<void> {
    this.#draining = 'waits'
    const all = Promise.all(this.#taking)
    await endsBefore(until, all)
    this.#draining = 'aborts'
    for (const { abort } of this.#running) abort.abort(shuttingDown())
    const ended = new AbortController()
    this.#deps.clock.sleep(SHUTDOWN_GRACE_MS, ended.signal).then(
      () => this.#hurry.abort(),
      () => undefined,
    )
    await all
    ended.abort()
  }

  /**
   * While the ledger is away nobody can take the jobs over, but once it is back somebody may: stop in time. Where nobody
   * does, the job is put back by its own fence, and its worker does not count as dead.
   */
  #abortIfExpired(running: Running[]): void {
    if (this.#deps.clock.now() - this.#renewedAt < this.#leaseMs) return
    for (const { abort } of running) abort.abort(ledgerAway())
  }

  #work(job: Job): Running {
    const kind = this.#deps.kinds.get(job.kind)
    const abort = new AbortController()
    const running: Running = { job, abort, done: this.#traced(kind, job, abort) }
    this.#running.add(running)
    running.done = running.done.finally(() => this.#running.delete(running))
    if (this.#cancelledEarly.delete(job.id)) abort.abort(cancelled(job))
    if (this.#draining === 'aborts') abort.abort(shuttingDown())
    return running
  }

  /** Below the request that made the job, whichever instance took that; what the end makes is below the job. */
  async #traced(kind: DefinedKind, job: Job, abort: AbortController): Promise<void> {
    const span = new Span(`job ${job.kind}`, {
      kind: 'consumer',
      parent: job.trace,
      attributes: { 'wharf.job.id': job.id, 'wharf.job.kind': job.kind, 'wharf.job.attempt': job.attempts },
    })
    await span.run(() => this.#runAndSettle(kind, job, abort, span))
    span.end()
  }

  async #runAndSettle(kind: DefinedKind, job: Job, abort: AbortController, span: Span): Promise<void> {
    const log = this.#deps.log.child({ jobId: job.id, kind: job.kind, attempt: job.attempts })
    const progress = new ProgressThrottle(this.#deps.clock, (value) =>
      this.#deps.leases.progress(job, value).then(
        () => true,
        (error) => {
          if (isAppError(error, ERRORS.JOB_LEASE_LOST)) abort.abort(error)
          else log.warn({ err: error }, 'progress was not written')
          return false
        },
      ),
    )
    const outcome = await this.#run(kind, job, abort, progress, log)
    const rest = await progress.close()
    span.set({ 'wharf.job.outcome': outcome === 'lost' ? outcome : outcome.what })
    if (outcome === 'lost') return jobMeter.leaseLost(kind)
    if (outcome.what === 'failed') log.warn({ err: outcome.error, final: outcome.final }, 'job failed')
    if (outcome.what === 'waiting')
      log.warn({ err: outcome.error }, `job waits for the ${outcome.error.kind.outage}`)
    await this.#settle(job, outcome, rest, log)
    if (outcome.what === 'failed' || outcome.what === 'waiting') span.end(outcome.error)
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
    const started = this.#deps.clock.now()
    let reported = job.progress
    const outcomeAfter = (error: unknown) =>
      outcomeOf(signal.aborted ? signal.reason : error, kind, job, reported)
    if (kind.timeoutMs !== undefined) this.#abortAfter(kind.timeoutMs, abort, finished.signal)
    try {
      const result = await orAborted(
        kind.run({
          job,
          signal,
          log,
          progress: (value) => {
            reported = value
            progress.report(value)
          },
          transaction: (work) =>
            this.#deps.ledger.transaction(async (tx) => {
              await this.#deps.leases.hold(tx, job)
              return work(tx)
            }),
          othersWait: () => this.#deps.leases.othersWait(job),
          isFinal: (error) => endsJob(kind, job, outcomeAfter(error)),
        }),
        this.#stuckAfter(signal, finished.signal),
      )
      if (result instanceof Completed)
        return { what: 'succeeded', result: result.result, commit: result.commit }
      return { what: 'succeeded', result }
    } catch (error) {
      if (error === NEVER_SETTLED)
        log.error(
          { reason: messageOf(signal.reason) },
          'the handler did not stop when asked to; its job goes on without it',
        )
      const outcome = outcomeAfter(error)
      if (outcome !== 'lost' && outcome.what === 'failed' && outcome.error.kind === ERRORS.INTERNAL)
        unforeseen(`job ${job.id} failed`, outcome.error)
      const anew = this.#deps.clock.now() - started > NEW_OUTAGE_MS
      return outcome !== 'lost' && outcome.what === 'waiting' ? { ...outcome, anew } : outcome
    } finally {
      finished.abort(FINISHED)
    }
  }

  #abortAfter(ms: number, abort: AbortController, finished: AbortSignal): void {
    const timedOut = () =>
      abort.abort(
        new AppError(ERRORS.JOB_TIMED_OUT, `it took longer than ${inWords(ms)}`, { retryable: false }),
      )
    this.#deps.clock.sleep(ms, finished).then(timedOut, () => undefined)
  }

  /** Aborts once a handler that was asked to stop has had its grace and has not finished. */
  #stuckAfter(signal: AbortSignal, finished: AbortSignal): AbortSignal {
    const stuck = new AbortController()
    const giveUp = () => {
      if (!finished.aborted) stuck.abort(NEVER_SETTLED)
    }
    const grace = () => {
      const over = AbortSignal.any([finished, this.#hurry.signal])
      this.#deps.clock.sleep(this.#abortGraceMs, over).then(giveUp, giveUp)
    }
    signal.addEventListener('abort', grace, { once: true })
    return stuck.signal
  }

  /** The work is done; losing that to a short outage of the ledger would be a waste. */
  async #settle(job: Job, outcome: Outcome, progress: unknown, log: Log): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        this.#deps.wake(await this.#deps.leases.settle(job, outcome, progress))
        return
      } catch (error) {
        if (isAppError(error, ERRORS.JOB_LEASE_LOST)) {
          jobMeter.leaseLost(this.#deps.kinds.get(job.kind))
          return log.warn('another worker has taken the job over')
        }
        if (!outageOf(error)) {
          log.error({ err: error }, 'the end of a job could not be written')
          // What the handler handed over is at fault, so the job has failed; without it the end can be written.
          if (outcome.what === 'succeeded') return this.#settle(job, failed(error), undefined, log)
          return
        }
        if (this.#hurry.signal.aborted)
          return log.error({ err: error }, 'the ledger is away; the lease will run out')
        const pause = backoffDelay(attempt, { base: 200, factor: 2, max: 5_000, jitter: 0.2 })
        await this.#deps.clock.sleep(pause, this.#hurry.signal).catch(() => undefined)
      }
    }
  }
}

function leaseLost(job: Job): AppError {
  return new AppError(ERRORS.JOB_LEASE_LOST, `the lease of job ${job.id} ran out`)
}

function ledgerAway(): AppError {
  return new AppError(ERRORS.LEDGER_UNAVAILABLE, 'the ledger was away for longer than a lease lasts')
}

function cancelled(job: Job): AppError {
  return new AppError(ERRORS.JOB_CANCELLED, `job ${job.id} was cancelled`)
}

function shuttingDown(): AppError {
  return new AppError(ERRORS.SHUTTING_DOWN, 'this instance is shutting down')
}

function inWords(ms: number): string {
  const [count, unit] = ms >= 60_000 ? [ms / 60_000, 'minute'] : [ms / 1_000, 'second']
  return `${Number(count.toFixed(1))} ${unit}${count === 1 ? '' : 's'}`
}
