import { AppError, ERRORS, isAppError, messageOf, outageOf } from '../kernel/index.ts'
import type { Tx } from '../ledger/index.ts'
import type { Job } from './job.ts'
import type { DefinedKind } from './kind.ts'

/** How a worker lets go of a job. */
export type Outcome =
  | { what: 'succeeded'; result: unknown; commit?: (tx: Tx) => Promise<void> }
  | { what: 'failed'; error: AppError; final: boolean }
  | { what: 'cancelled' }
  /** A part of the installation is away: the job goes back with no attempt lost, and is tried again after a pause. */
  | { what: 'waiting'; error: AppError; anew?: boolean }
  /** The process shuts down: the job goes back as if it had never been claimed. */
  | { what: 'released' }
  /** The lease was not renewed: the worker died or is stuck. */
  | { what: 'abandoned' }

/**
 * What an error that ended a handler means: a failure, an outage to wait for, a cancel, a shutdown. Decided here for every
 * kind of job, by the table of errors; a kind only limits how long it waits (`JobKind.givesUp`).
 */
export function outcomeOf(
  error: unknown,
  kind: Pick<DefinedKind, 'givesUp'>,
  job: Job,
  progress: unknown,
): Outcome | 'lost' {
  if (isAppError(error, ERRORS.JOB_LEASE_LOST)) return 'lost'
  if (isAppError(error, ERRORS.JOB_CANCELLED)) return { what: 'cancelled' }
  if (isAppError(error, ERRORS.SHUTTING_DOWN)) return { what: 'released' }
  const outage = outageOf(error)
  if (!outage) return failed(error)
  const failure = kind.givesUp(outage, job, progress)
  return failure ? failed(failure) : { what: 'waiting', error: outage }
}

export function failed(error: unknown): Outcome {
  if (error instanceof AppError) return { what: 'failed', error, final: !error.retryable }
  return {
    what: 'failed',
    error: new AppError(ERRORS.JOB_FAILED, messageOf(error), { cause: error }),
    final: false,
  }
}

/** Whether the job has ended. After a lost lease the next worker decides. */
export function endsJob(
  { maxAttempts }: Pick<DefinedKind, 'maxAttempts'>,
  { attempts }: Pick<Job, 'attempts'>,
  outcome: Outcome | 'lost',
): boolean {
  if (outcome === 'lost') return false
  if (outcome.what === 'failed') return outcome.final || attempts >= maxAttempts
  return outcome.what === 'succeeded' || outcome.what === 'cancelled'
}
