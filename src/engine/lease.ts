import { sql, type UpdateObject } from 'kysely'
import { AppError, backoffDelay, ERRORS } from '../kernel/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import type { EventLog } from './events/event-log.ts'
import { type Job, toJob } from './job.ts'
import type { Change, DefinedKind, KindRegistry } from './kind.ts'
import { type Lanes, WAKE_GRACE_MS } from './lanes.ts'
import { type Ledger, now, type Tx } from './ledger/ledger.ts'
import type { Schema } from './ledger/schema.ts'

/** How a worker lets go of a job. */
export type Outcome =
  | { what: 'succeeded'; result: unknown; commit?: (tx: Tx) => Promise<void> }
  | { what: 'failed'; error: AppError; final: boolean }
  | { what: 'cancelled' }
  /** The process shuts down: the job goes back as if it had never been claimed. */
  | { what: 'released' }
  /** Nobody renewed the lease: the worker died or lost its way. */
  | { what: 'abandoned' }

/** What is known of a job since its claim: nobody else changes these while the claim holds. */
export type Claim = Pick<Job, 'id' | 'kind' | 'lane' | 'fence' | 'attempts' | 'crashes'>

interface Move {
  change: Change
  set: UpdateObject<Schema, 'jobs'>
  /** Set when the job runs again. */
  delayMs: number | undefined
}

/** A worker's side of a job: claim, renew, report, let go. Every write shows the fence of the claim. */
export class Leases {
  readonly #deps: { ledger: Ledger; kinds: KindRegistry; lanes: Lanes; events: EventLog }
  readonly #leaseMs: number

  constructor(
    deps: { ledger: Ledger; kinds: KindRegistry; lanes: Lanes; events: EventLog },
    leaseMs: number,
  ) {
    this.#deps = deps
    this.#leaseMs = leaseMs
  }

  /** Makes the job this worker's own, or answers undefined when it is not to be had (taken, ended, not yet due). */
  async claim(id: string, worker: string): Promise<Job | undefined> {
    return this.#deps.ledger.transaction(async (tx) => {
      const row = await tx.db
        .updateTable('jobs')
        .set({
          state: 'running',
          attempts: sql<number>`attempts + 1`,
          fence: sql<number>`fence + 1`,
          worker,
          lease_until: sql<number>`wharf_now() + ${this.#leaseMs}`,
          started_at: sql<number>`coalesce(started_at, wharf_now())`,
          wake_at: null,
        })
        .where('id', '=', id)
        .where('state', '=', 'pending')
        .where('due_at', '<=', now)
        .returningAll()
        .executeTakeFirst()
      if (!row) return undefined
      await this.#deps.events.append(tx, this.#deps.kinds.get(row.kind), id, { what: 'running' })
      return toJob(row)
    })
  }

  /** A wake that came too early is put back for the rest of the time. */
  async notYetDue(id: string): Promise<Wake | undefined> {
    const row = await this.#deps.ledger.db
      .selectFrom('jobs')
      .select(['kind', sql<number>`due_at - wharf_now()`.as('delay')])
      .where('id', '=', id)
      .where('state', '=', 'pending')
      .executeTakeFirst()
    if (!row) return undefined
    return { id, pool: this.#deps.kinds.get(row.kind).pool, delayMs: Math.max(1, Number(row.delay)) }
  }

  /**
   * One statement for all that this worker has in hand; what does not come back is no longer its own. What the
   * ledger calls its own but is not in its hand (the answer to a claim was lost) is left to run out.
   */
  async renew(
    worker: string,
    ids: string[],
  ): Promise<Map<string, { fence: number; cancelRequested: boolean }>> {
    const rows = await this.#deps.ledger.db
      .updateTable('jobs')
      .set({ lease_until: sql<number>`wharf_now() + ${this.#leaseMs}` })
      .where('worker', '=', worker)
      .where('state', '=', 'running')
      .where('id', 'in', ids)
      .returning(['id', 'fence', 'cancel_requested'])
      .execute()
    return new Map(
      rows.map((row) => [row.id, { fence: row.fence, cancelRequested: row.cancel_requested === 1 }]),
    )
  }

  /** Throws JOB_LEASE_LOST, and thereby rolls back, unless the claim still holds. */
  async hold(tx: Tx, job: Job, progress?: unknown): Promise<void> {
    const result = await tx.db
      .updateTable('jobs')
      .set({
        lease_until: sql<number>`wharf_now() + ${this.#leaseMs}`,
        ...(progress !== undefined && { progress: JSON.stringify(progress) }),
      })
      .where('id', '=', job.id)
      .where('fence', '=', job.fence)
      .where('state', '=', 'running')
      .executeTakeFirst()
    if (result.numUpdatedRows === 0n) throw leaseLost(job)
  }

  async progress(job: Job, value: unknown): Promise<void> {
    await this.#deps.ledger.transaction(async (tx) => {
      await this.hold(tx, job, value)
      await this.#deps.events.append(tx, this.#deps.kinds.get(job.kind), job.id, {
        what: 'progress',
        progress: value,
      })
    })
  }

  /** Ends the claim. Returns what may start now: this job again, or the next ones of its lane. */
  async settle(job: Claim, outcome: Outcome, progress?: unknown): Promise<Wake[]> {
    const kind = this.#deps.kinds.get(job.kind)
    return this.#deps.ledger.transaction(async (tx) => {
      const lane = job.lane === null ? undefined : await this.#deps.lanes.lock(tx, job.lane)
      let move = this.#resolve(kind, job, outcome)
      const expired = outcome.what === 'abandoned'
      if (!(await this.#write(tx, job, move, progress, { cancelRequested: 0, expired }))) {
        // Either somebody asked for a cancel meanwhile, which wins over every other end, or the claim is over.
        move = this.#ended(kind, 'cancelled', { what: 'cancelled' })
        if (!(await this.#write(tx, job, move, progress, { cancelRequested: 1, expired })))
          throw leaseLost(job)
      }
      if (outcome.what === 'succeeded' && move.change.what === 'succeeded') await outcome.commit?.(tx)
      await this.#deps.events.append(tx, kind, job.id, move.change)
      if (move.delayMs !== undefined) return [{ id: job.id, pool: kind.pool, delayMs: move.delayMs }]
      return job.lane === null ? [] : this.#deps.lanes.admit(tx, job.lane, lane)
    })
  }

  async #write(
    tx: Tx,
    job: Claim,
    move: Move,
    progress: unknown,
    { cancelRequested, expired }: { cancelRequested: 0 | 1; expired: boolean },
  ) {
    let update = tx.db
      .updateTable('jobs')
      .set({
        ...move.set,
        ...(progress !== undefined && { progress: JSON.stringify(progress) }),
        worker: null,
        lease_until: null,
      })
      .where('id', '=', job.id)
      .where('fence', '=', job.fence)
      .where('state', '=', 'running')
      .where('cancel_requested', '=', cancelRequested)
    // The worker may have renewed its lease since somebody saw it run out.
    if (expired) update = update.where('lease_until', '<=', now)
    return (await update.executeTakeFirst()).numUpdatedRows > 0n
  }

  /** What an outcome means for a job with this history: its next state, its event, and when it runs again. */
  #resolve(kind: DefinedKind, job: Claim, outcome: Outcome): Move {
    switch (outcome.what) {
      case 'succeeded':
        return this.#ended(kind, 'succeeded', { what: 'succeeded', result: outcome.result })
      case 'cancelled':
        return this.#ended(kind, 'cancelled', { what: 'cancelled' })
      case 'released':
        return this.#again(0, { attempts: job.attempts - 1 })
      case 'abandoned': {
        const crashes = job.crashes + 1
        if (crashes < kind.maxCrashes) return this.#again(0, { attempts: job.attempts - 1, crashes })
        const message = `its worker died ${crashes} times while it was running`
        return this.#failed(kind, new AppError(ERRORS.JOB_WORKER_LOST, message), { crashes })
      }
      case 'failed': {
        if (outcome.final || job.attempts >= kind.maxAttempts) return this.#failed(kind, outcome.error)
        const delayMs = outcome.error.retryAfter
          ? outcome.error.retryAfter * 1000
          : backoffDelay(job.attempts, kind.backoff)
        return this.#again(delayMs, { error_code: outcome.error.code, error_message: outcome.error.message })
      }
    }
  }

  #failed(kind: DefinedKind, error: AppError, more: { crashes?: number } = {}): Move {
    const told = { code: error.code, message: error.message }
    const ended = this.#ended(kind, 'failed', { what: 'failed', error: told })
    return { ...ended, set: { ...ended.set, ...more, error_code: told.code, error_message: told.message } }
  }

  #ended(kind: DefinedKind, state: 'succeeded' | 'failed' | 'cancelled', change: Change): Move {
    return {
      change,
      delayMs: undefined,
      set: {
        state,
        ...(change.what === 'succeeded' && {
          result: JSON.stringify(change.result ?? null),
          error_code: null,
          error_message: null,
        }),
        finished_at: now,
        delete_after: sql<number>`wharf_now() + ${kind.keepMs}`,
      },
    }
  }

  #again(delayMs: number, set: Move['set']): Move {
    return {
      change: { what: 'pending' },
      delayMs,
      set: {
        ...set,
        state: 'pending',
        wakes: 0,
        due_at: sql<number>`wharf_now() + ${delayMs}`,
        wake_at: sql<number>`wharf_now() + ${delayMs + WAKE_GRACE_MS}`,
      },
    }
  }
}

function leaseLost(job: Pick<Job, 'id' | 'fence'>): AppError {
  return new AppError(
    ERRORS.JOB_LEASE_LOST,
    `claim ${job.fence} of job ${job.id} is over, another worker has it`,
  )
}
