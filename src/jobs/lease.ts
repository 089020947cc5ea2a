import { sql, type UpdateObject } from 'kysely'
import {
  AppError,
  backoffDelay,
  type Clock,
  counted,
  ERRORS,
  isAppError,
  systemClock,
  type WaitsOn,
} from '../kernel/index.ts'
import { isOneOf, jsonRows, type Ledger, now, type Schema, type Tx } from '../ledger/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import { Gather } from './gather.ts'
import { isNow, JOB_ROW, type Job, type JobRow, toJob } from './job.ts'
import type { JobStoreDeps } from './job-store.ts'
import type { Change, DefinedKind } from './kind.ts'
import { WAKE_GRACE_MS } from './lane-queue.ts'
import { LETS_OTHERS_MS } from './lanes.ts'
import { endsJob, type Outcome } from './outcome.ts'
import { jobMeter, type PutBack } from './overview/index.ts'

/** What is known of a job since its claim: nobody else changes these while the claim holds. */
export type Claim = Pick<
  Job,
  | 'id'
  | 'kind'
  | 'lane'
  | 'fence'
  | 'attempts'
  | 'crashes'
  | 'outages'
  | 'owner'
  | 'payload'
  | 'createdAt'
  | 'startedAt'
>

interface Success {
  job: Claim
  kind: DefinedKind
  result: unknown
}

interface Move {
  change: Change
  set: UpdateObject<Schema, 'jobs'>
  /** Set when the job runs again. */
  delayMs: number | undefined
  /** Set when it runs again: jobs of its owner that were not tried yet go first. */
  letsOthers?: boolean
  /** Whoever ran it is to have it again. */
  atHome?: boolean
}

/** Whose job it is to take. */
export interface Home {
  jobId: string
  pool: string
  worker: string
}

const FREED_COLUMNS = { id: 'text', fence: 'bigint', event_type: 'text', event_data: 'text' } as const
const ENDED_COLUMNS = { ...FREED_COLUMNS, result: 'text', keep_ms: 'bigint' } as const

const PUT_BACK: Partial<Record<Outcome['what'], PutBack>> = {
  waiting: 'outage',
  released: 'released',
  abandoned: 'worker_lost',
}

/** A part that says when it is back is believed up to here: it may well be back before. */
const LONGEST_ASKED_MS = 10 * 60_000

/** A worker's side of a job: claim, renew, report, let go. Every write shows the fence of the claim. */
export class Leases {
  readonly #deps: JobStoreDeps
  readonly #clock: Pick<Clock, 'now'>
  readonly #leaseMs: number
  readonly #successes = new Gather<Success, boolean>((ends) => this.#succeed(ends))

  constructor(deps: JobStoreDeps, leaseMs: number) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
    this.#leaseMs = leaseMs
  }

  /** Makes the job this worker's own, or answers undefined when it is not to be had (taken, ended, not yet due). */
  async claim(id: string, worker: string): Promise<Job | undefined> {
    return (await this.claimAll([id], worker))[0]
  }

  /** The same for several jobs in one transaction. An id that comes twice is claimed for the first. */
  async claimAll(ids: readonly string[], worker: string): Promise<(Job | undefined)[]> {
    const claimed = await this.#deps.ledger.transaction(async (tx) => {
      const { rows } = await sql<JobRow & { live_tasks: number }>`update jobs set state = 'running',
          attempts = attempts + 1, fence = fence + 1, worker = ${worker},
          lease_until = wharf_now() + ${this.#leaseMs}, started_at = coalesce(started_at, wharf_now()),
          wake_at = null, outage = null
        where ${isOneOf(this.#deps.ledger.dialect, 'jobs.id', ids)} and ${isNow('pending')} and due_at <= wharf_now()
          and ${this.#isOpenTo(worker)}
        returning ${JOB_ROW}, live_tasks`.execute(tx.db)
      const jobs = rows.map((row) => toJob(row))
      const watched = jobs.filter((_, index) => (rows[index]?.live_tasks ?? 0) > 0)
      if (watched.length > 0) this.#emitRunning(tx, watched)
      tx.afterCommit(() => {
        for (const job of jobs) jobMeter.claimed(this.#deps.kinds.get(job.kind), job)
      })
      return new Map(jobs.map((job) => [job.id, job]))
    })
    return ids.map((id) => {
      const job = claimed.get(id)
      claimed.delete(id)
      return job
    })
  }

  /** A statement of its own, sent with the commit: the event of a claim is known only once the row is. */
  #emitRunning(tx: Tx, jobs: Job[]): void {
    const { emitter, kinds } = this.#deps
    const events = jobs.map((job) => ({
      id: job.id,
      ...emitter.columns(tx, kinds.get(job.kind), job, { what: 'running' }),
    }))
    const statement = emitter.forTasks(tx, events)
    tx.atCommit({
      name: 'claim',
      statements: () => [statement.compile(tx.db)],
      inTurn: async () => (await statement.execute(tx.db)).rows,
    })
  }

  /** What another living worker has left on its disk is that one's, until the leader has to publish it again. */
  #isOpenTo(worker: string) {
    return sql`(jobs.worker is null or jobs.worker = ${worker} or jobs.wakes > 0 or jobs.wake_at <= wharf_now()
      or not exists (select 1 from instances
        where instances.id = jobs.worker and instances.seen_at > wharf_now() - ${this.#leaseMs}))`
  }

  /**
   * Why a claim got nothing. A wake that came too early is put back for the rest of the time; one for a pause that is over lets
   * its lane admit; one for a job of another worker is for its `home`, and the leader publishes it again if that does not take it.
   */
  async notYetDue(id: string, worker: string): Promise<{ wakes: Wake[]; home?: Home }> {
    const row = await this.#deps.ledger.db
      .selectFrom('jobs')
      .select([
        'kind',
        'state',
        'paused_until',
        'worker',
        'wakes',
        sql<number>`due_at - wharf_now()`.as('delay'),
      ])
      .where('id', '=', id)
      .executeTakeFirst()
    const paused = row?.state === 'waiting' && row.paused_until !== null
    if (!row || !(paused || row.state === 'pending')) return { wakes: [] }
    const delay = Number(row.delay)
    const { pool } = this.#deps.kinds.get(row.kind)
    const isAnothers = row.worker !== null && row.worker !== worker && row.wakes === 0
    if (!paused && delay <= 0 && isAnothers)
      return { wakes: [], home: { jobId: id, pool, worker: row.worker as string } }
    if (!paused || delay > 0) return { wakes: [{ id, pool, delayMs: Math.max(1, delay) }] }
    const woken: Wake[] = []
    await this.#deps.ledger.transaction((tx) =>
      this.#deps.lanes.endPause(tx, id, (wakes) => woken.push(...wakes)),
    )
    return { wakes: woken }
  }

  async othersWait({ lane, owner }: Pick<Job, 'lane' | 'owner'>): Promise<boolean> {
    return lane !== null && (await this.#deps.lanes.othersWait(lane, owner))
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
      .where(isOneOf(this.#deps.ledger.dialect, 'jobs.id', ids))
      .where(isNow('running'))
      .returning(['id', 'fence', 'cancel_requested'])
      .execute()
    return new Map(
      rows.map((row) => [row.id, { fence: row.fence, cancelRequested: row.cancel_requested === 1 }]),
    )
  }

  /** Throws JOB_LEASE_LOST, and thereby rolls back, unless the claim still holds. */
  async hold(tx: Pick<Tx, 'db'> | Ledger, job: Job, set: UpdateObject<Schema, 'jobs'> = {}): Promise<void> {
    const result = await tx.db
      .updateTable('jobs')
      .set({ ...set, lease_until: sql<number>`wharf_now() + ${this.#leaseMs}` })
      .where('id', '=', job.id)
      .where('fence', '=', job.fence)
      .where(isNow('running'))
      .executeTakeFirst()
    if (result.numUpdatedRows === 0n) throw leaseLost(job)
  }

  async progress(job: Job, value: unknown): Promise<void> {
    const { emitter, kinds, ledger } = this.#deps
    await emitter.alone((tx) => {
      const event = emitter.columns(tx, kinds.get(job.kind), job, { what: 'progress', progress: value })
      return this.hold(ledger, job, { progress: JSON.stringify(value), ...event })
    })
  }

  /** Ends the claim. Returns what may start now: this job again, or the next ones of its lane. */
  async settle(job: Claim, outcome: Outcome, progress?: unknown): Promise<Wake[]> {
    const kind = this.#deps.kinds.get(job.kind)
    if (outcome.what === 'succeeded' && isPlain(kind, job, outcome, progress)) {
      if (await this.#successes.add({ job, kind, result: outcome.result })) return []
      // Cancelled meanwhile, or the claim is over: the long way finds out.
    }
    const woken: Wake[] = []
    await this.#deps.ledger.transaction(async (tx) => {
      let move = this.#resolve(kind, job, outcome)
      const expired = outcome.what === 'abandoned'
      if (!(await this.#write(tx, job, move, progress, { cancelRequested: 0, expired }))) {
        // Either somebody asked for a cancel meanwhile, which wins over every other end, or the claim is over.
        move = this.#ended(kind, 'cancelled', { what: 'cancelled' })
        if (!(await this.#write(tx, job, move, progress, { cancelRequested: 1, expired })))
          throw leaseLost(job)
      }
      const { change } = move
      tx.afterCommit(() => this.#count(kind, job, change, outcome))
      if (outcome.what === 'succeeded' && move.change.what === 'succeeded') await outcome.commit?.(tx)
      const { delayMs } = move
      if (delayMs !== undefined) {
        tx.afterCommit(() => woken.push({ id: job.id, pool: kind.pool, delayMs }))
        if (job.lane !== null && pauses(kind, move))
          this.#deps.lanes.admit(tx, job.lane, (wakes) => woken.push(...wakes))
        return
      }
      await kind.onEnded?.(tx, { jobId: job.id, change: move.change })
      if (job.lane !== null) this.#deps.lanes.admit(tx, job.lane, (wakes) => woken.push(...wakes))
    })
    return woken
  }

  /**
   * Takes back what nobody renewed: one statement for all that simply run again, because a worker that has gone may leave
   * hundreds. The others (a cancel was asked for, too many workers have died over it) are settled one by one.
   */
  async takeBack(jobs: readonly Job[]): Promise<{ wakes: Wake[]; taken: number }> {
    if (jobs.length === 0) return { wakes: [], taken: 0 }
    const mayRun = (job: Job) => job.crashes + 1 < this.#deps.kinds.get(job.kind).maxCrashes
    const again = await this.#freeAll(jobs.filter(mayRun))
    const wakes = jobs
      .filter(({ id }) => again.has(id))
      .map(({ id, kind: name }) => {
        const kind = this.#deps.kinds.get(name)
        jobMeter.putBack(kind, 'worker_lost')
        return { id, pool: kind.pool, delayMs: 0 }
      })
    let taken = wakes.length
    for (const job of jobs.filter(({ id }) => !again.has(id))) {
      try {
        wakes.push(...(await this.settle(job, { what: 'abandoned' })))
        taken++
      } catch (error) {
        // Renewed or settled in this very moment: then there is nothing to take back.
        if (!isAppError(error, ERRORS.JOB_LEASE_LOST)) throw error
      }
    }
    return { wakes, taken }
  }

  async #freeAll(jobs: readonly Job[]): Promise<Set<string>> {
    if (jobs.length === 0) return new Set()
    const { emitter, kinds, ledger } = this.#deps
    const { rows } = await emitter.alone((tx) => {
      const freed = jobs.map((job) => ({
        id: job.id,
        fence: job.fence,
        ...emitter.columns(tx, kinds.get(job.kind), job, { what: 'pending' }),
      }))
      return sql<{ id: string }>`update jobs set state = 'pending', attempts = attempts - 1,
        crashes = crashes + 1, wakes = 0, worker = null, lease_until = null, due_at = wharf_now(),
        wake_at = wharf_now() + ${WAKE_GRACE_MS}, event_type = r.event_type, event_data = r.event_data
      from ${jsonRows(ledger.dialect, FREED_COLUMNS, freed)}
      where ${isOneOf(ledger.dialect, 'jobs.id', ids(jobs))} and jobs.id = r.id and jobs.fence = r.fence
        and ${isNow('running')} and jobs.cancel_requested = 0 and jobs.lease_until <= wharf_now()
      returning jobs.id as id`.execute(ledger.db)
    })
    return new Set(rows.map(({ id }) => id))
  }

  /** Ends several claims with one statement; answers for each whether it went through. */
  async #succeed(ends: readonly Success[]): Promise<boolean[]> {
    const { emitter, ledger } = this.#deps
    const { rows } = await emitter.alone((tx) => {
      const values = ends.map(({ job, kind, result }) => ({
        id: job.id,
        fence: job.fence,
        result: JSON.stringify(result ?? null),
        keep_ms: kind.keepMs,
        ...emitter.columns(tx, kind, job, { what: 'succeeded', result }),
      }))
      return sql<{ id: string }>`update jobs set state = 'succeeded', result = r.result,
        error_code = null, error_message = null, worker = null, lease_until = null, finished_at = wharf_now(),
        delete_after = wharf_now() + r.keep_ms, event_type = r.event_type, event_data = r.event_data
      from ${jsonRows(ledger.dialect, ENDED_COLUMNS, values)}
      where ${isOneOf(ledger.dialect, 'jobs.id', ids(values))} and jobs.id = r.id and jobs.fence = r.fence
        and ${isNow('running')} and jobs.cancel_requested = 0
      returning jobs.id as id`.execute(ledger.db)
    })
    const ended = new Set(rows.map(({ id }) => id))
    return ends.map(({ job, kind }) => {
      const went = ended.has(job.id)
      if (went) jobMeter.ended(kind, 'succeeded', this.#clock.now() - job.createdAt)
      return went
    })
  }

  #count(kind: DefinedKind, job: Claim, { what }: Change, outcome: Outcome): void {
    if (what === 'succeeded' || what === 'failed' || what === 'cancelled')
      jobMeter.ended(kind, what, this.#clock.now() - job.createdAt)
    else jobMeter.putBack(kind, PUT_BACK[outcome.what] ?? 'failed')
  }

  async #write(
    tx: Tx,
    job: Claim,
    move: Move,
    progress: unknown,
    { cancelRequested, expired }: { cancelRequested: 0 | 1; expired: boolean },
  ) {
    // The last value may not have been emitted yet; a reader of the events must not be left with an older one.
    const change = progress === undefined ? move.change : { ...move.change, progress }
    let update = tx.db
      .updateTable('jobs')
      .set({
        ...move.set,
        ...(pauses(this.#deps.kinds.get(job.kind), move) && {
          state: 'waiting' as const,
          paused_until: sql<number>`wharf_now() + ${move.delayMs}`,
          ...(move.letsOthers && { queued_at: sql<number>`wharf_now() + ${LETS_OTHERS_MS}` }),
        }),
        ...this.#deps.emitter.columns(tx, this.#deps.kinds.get(job.kind), job, change),
        ...(progress !== undefined && { progress: JSON.stringify(progress) }),
        ...(!move.atHome && { worker: null }),
        lease_until: null,
      })
      .where('id', '=', job.id)
      .where('fence', '=', job.fence)
      .where(isNow('running'))
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
        const message = `its worker died ${counted(crashes, 'time')} while it was running`
        return this.#failed(kind, new AppError(ERRORS.JOB_WORKER_LOST, message), { crashes })
      }
      case 'failed': {
        if (endsJob(kind, job, outcome)) return this.#failed(kind, outcome.error)
        const delayMs = outcome.error.retryAfter
          ? outcome.error.retryAfter * 1000
          : backoffDelay(job.attempts, kind.backoff)
        return this.#triedAgain(kind, outcome.error, delayMs)
      }
      case 'waiting':
        return this.#waiting(kind, job, outcome)
    }
  }

  #triedAgain(kind: DefinedKind, error: AppError, delayMs: number): Move {
    const { code, message } = error
    const what = kind.blames(error)
    const move = this.#again(delayMs, {
      error_code: code,
      error_message: message,
      outages: 0,
      outage: what,
      outage_since: what === null ? null : now,
    })
    const again = { ...move, letsOthers: isItsOwn(what), atHome: kind.goesOnAtHome }
    if (what === null) return again
    return { ...again, change: { what: 'pending', waitingFor: { what, code, message } } }
  }

  #waiting(kind: DefinedKind, job: Claim, { error, anew }: Extract<Outcome, { what: 'waiting' }>): Move {
    const outages = anew ? 1 : job.outages + 1
    const pause = backoffDelay(outages, kind.outageBackoff)
    const delayMs = Math.max(pause, Math.min((error.retryAfter ?? 0) * 1_000, LONGEST_ASKED_MS))
    const { code, message } = error
    const what = error.kind.outage ?? 'store'
    const move = this.#again(delayMs, {
      attempts: job.attempts - 1,
      outages,
      outage: what,
      outage_since: anew ? now : sql<number>`coalesce(outage_since, wharf_now())`,
      error_code: code,
      error_message: message,
    })
    const change = { what: 'pending', waitingFor: { what, code, message } } as const
    return { ...move, letsOthers: isItsOwn(what), atHome: kind.goesOnAtHome, change }
  }

  #failed(kind: DefinedKind, error: AppError, more: { crashes?: number } = {}): Move {
    const failure = { code: error.code, message: error.message }
    const ended = this.#ended(kind, 'failed', { what: 'failed', error: failure })
    return {
      ...ended,
      set: { ...ended.set, ...more, error_code: failure.code, error_message: failure.message },
    }
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

/** In a fair lane nobody waits for a job that itself waits. */
function pauses({ lane }: DefinedKind, { delayMs }: Move): boolean {
  return lane?.policy === 'fair' && delayMs !== undefined && delayMs > 0
}

/** Others of its lane would fare better: what failed is the job or its source, and no part that all of them need. */
function isItsOwn(what: WaitsOn | null): boolean {
  return what === null || what === 'source'
}

/** A success that changes nothing but its own row may be written together with others. */
function isPlain(
  kind: DefinedKind,
  job: Claim,
  { commit }: { commit?: unknown },
  progress: unknown,
): boolean {
  return !commit && !kind.onEnded && job.lane === null && progress === undefined
}

function ids(rows: readonly { id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

function leaseLost(job: Pick<Job, 'id' | 'fence'>): AppError {
  return new AppError(
    ERRORS.JOB_LEASE_LOST,
    `claim ${job.fence} of job ${job.id} is over, another worker has it`,
  )
}
