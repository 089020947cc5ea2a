import { type Selectable, sql } from 'kysely'
import { AppError, ERRORS } from '../kernel/index.ts'
import { type Telling, telling } from './events/telling.ts'
import { newId } from './id.ts'
import { activeIn, isActive, type Job, toJob } from './job.ts'
import type { KindRegistry } from './kind.ts'
import { type Lanes, type Woken, wakeAt } from './lanes.ts'
import { type Ledger, now, type Tx } from './ledger/ledger.ts'
import type { JobsTable, TasksTable } from './ledger/schema.ts'

export interface NewTask {
  id?: string
  projectId?: string
  /** Free for the domain to search by (exports: the operator). */
  label?: string
  details?: unknown
  /** Address that is told of the end. */
  callback?: string
}

export interface NewJob<P = unknown> {
  kind: string
  payload: P
  tasks?: NewTask[]
  /** Whose turn counts in a fair lane. */
  owner?: string
  /** Requests with the same key share one job while it is unfinished. */
  shareKey?: string
  /** Ledger time; now when missing. */
  dueAt?: number
}

export interface Enqueued {
  jobId: string
  taskIds: string[]
  /** True if the tasks joined a job that was already under way. */
  joined: boolean
  /** True if the job need not wait for a place in its lane. Known once the transaction is committed. */
  admitted: boolean
}

export interface Task {
  id: string
  jobId: string
  kind: string
  projectId: string | null
  label: string | null
  details: unknown
  createdAt: number
  cancelledAt: number | null
  callback: string | null
}

/** Writes requests into the ledger, and takes them back. Workers' side of a job is in `lease.ts`. */
export class JobStore {
  readonly #deps: { ledger: Ledger; kinds: KindRegistry; lanes: Lanes }

  constructor(deps: { ledger: Ledger; kinds: KindRegistry; lanes: Lanes }) {
    this.#deps = deps
  }

  /** Task, job and event in the caller's transaction; `woken` hears after its commit of what is to be published. */
  async enqueue(tx: Tx, job: NewJob, woken: Woken = ignored): Promise<Enqueued> {
    const tasks = (job.tasks ?? []).map((task) => ({ ...task, id: task.id ?? newId() }))
    const taskIds = tasks.map(({ id }) => id)
    const joinedOrNew = await this.#joinOrInsert(tx, job, tasks.length)
    const { jobId } = joinedOrNew
    if (tasks.length > 0) {
      await tx.db
        .insertInto('tasks')
        .values(
          tasks.map((task) => ({
            id: task.id,
            job_id: jobId,
            kind: job.kind,
            project_id: task.projectId ?? null,
            label: task.label ?? null,
            details: JSON.stringify(task.details ?? null),
            created_at: now,
            cancelled_at: null,
            callback: task.callback ?? null,
            ...this.#pending(job),
          })),
        )
        .execute()
    }
    return this.#enqueued(tx, job, { ...joinedOrNew, taskIds }, woken)
  }

  async job<P>(id: string): Promise<Job<P> | undefined> {
    const row = await this.#deps.ledger.db
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && toJob<P>(row)
  }

  async task(id: string): Promise<{ task: Task; job: Job } | undefined> {
    const row = await this.#deps.ledger.db
      .selectFrom('tasks')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    const job = row && (await this.job(row.job_id))
    return row && job && { task: toTask(row), job }
  }

  /**
   * Takes one task back. The job goes on for its other tasks; with the last one it stops, at once if it was still
   * waiting, else as soon as its worker has let go.
   */
  async cancelTask(tx: Tx, id: string, woken: Woken = ignored): Promise<{ abort?: string }> {
    const found = await tx.db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()
    if (!found) throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no task ${id}`)
    const job = await this.#lockJob(tx, found.job_id, woken)
    // Read again under the job's lock: whoever else cancels or joins waits for it.
    const task = await tx.db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    if (task.cancelled_at !== null || !isActive(job.state)) {
      throw new AppError(ERRORS.TASK_FINISHED, `task ${id} has already ended`)
    }
    if (job.live_tasks <= 1) return this.#cancelLocked(tx, job, woken)
    const kind = this.#deps.kinds.get(job.kind)
    await tx.db
      .updateTable('tasks')
      .set({ cancelled_at: now, ...telling(kind, toJob(job), { what: 'cancelled' }) })
      .where('id', '=', id)
      .execute()
    await tx.db
      .updateTable('jobs')
      .set({ live_tasks: sql<number>`live_tasks - 1` })
      .where('id', '=', job.id)
      .execute()
    await kind.onEnded?.(tx, { jobId: job.id, taskId: id, change: { what: 'cancelled' } })
    return {}
  }

  async cancelJob(tx: Tx, id: string, woken: Woken = ignored): Promise<{ abort?: string }> {
    const job = await this.#lockJob(tx, id, woken)
    if (!isActive(job.state)) throw new AppError(ERRORS.TASK_FINISHED, `job ${id} has already ended`)
    return this.#cancelLocked(tx, job, woken)
  }

  /** Gives a failed or cancelled task another job with the same work. */
  async retryTask(tx: Tx, id: string, woken: Woken = ignored): Promise<Enqueued> {
    const task = await tx.db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirst()
    if (!task) throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no task ${id}`)
    const old = await this.#lockJob(tx, task.job_id, woken)
    const ended = old.state === 'failed' || old.state === 'cancelled' || task.cancelled_at !== null
    if (!ended)
      throw new AppError(ERRORS.TASK_NOT_FINISHED, `task ${id} has not failed, so there is nothing to retry`)
    const job: NewJob = {
      kind: old.kind,
      payload: JSON.parse(old.payload),
      ...(old.owner !== null && { owner: old.owner }),
      ...(old.share_key !== null && { shareKey: old.share_key }),
    }
    const joinedOrNew = await this.#joinOrInsert(tx, job, 1)
    await tx.db
      .updateTable('tasks')
      .set({ job_id: joinedOrNew.jobId, cancelled_at: null, ...this.#pending(job) })
      .where('id', '=', id)
      .execute()
    return this.#enqueued(tx, job, { ...joinedOrNew, taskIds: [id] }, woken)
  }

  async #joinOrInsert(tx: Tx, job: NewJob, taskCount: number): Promise<{ jobId: string; joined: boolean }> {
    for (;;) {
      const shared = job.shareKey === undefined ? undefined : await this.#join(tx, job.shareKey, taskCount)
      if (shared) return { jobId: shared, joined: true }
      const inserted = await this.#insert(tx, job, taskCount)
      if (inserted) return { jobId: inserted, joined: false }
      // Nothing inserted: somebody else with the same key was faster, so there is a job to join now. Without a key it
      // was a rule of the kind's own (a unique index), and waiting would not change that.
      if (job.shareKey === undefined)
        throw new AppError(
          ERRORS.JOB_REFUSED,
          `the ledger takes no further '${job.kind}' job of this owner now`,
        )
    }
  }

  async #join(tx: Tx, shareKey: string, taskCount: number): Promise<string | undefined> {
    const row = await tx.db
      .updateTable('jobs')
      .set({ live_tasks: sql<number>`live_tasks + ${taskCount}` })
      .where('share_key', '=', shareKey)
      .where(activeIn())
      .where('cancel_requested', '=', 0)
      .returning('id')
      .executeTakeFirst()
    return row?.id
  }

  async #insert(tx: Tx, job: NewJob, taskCount: number): Promise<string | undefined> {
    const { lane } = this.#deps.kinds.get(job.kind)
    const row = await tx.db
      .insertInto('jobs')
      .values({
        id: newId(),
        kind: job.kind,
        lane: lane?.name ?? null,
        owner: job.owner ?? null,
        share_key: job.shareKey ?? null,
        state: lane ? 'waiting' : 'pending',
        payload: JSON.stringify(job.payload ?? null),
        due_at: job.dueAt ?? now,
        wake_at: wakeAt(job.dueAt ?? null),
        live_tasks: taskCount,
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
      .executeTakeFirst()
    return row?.id
  }

  /** A joined job's lane admits as well: the job may have been passed over because its row was held here. */
  async #enqueued(
    tx: Tx,
    job: NewJob,
    written: Pick<Enqueued, 'jobId' | 'taskIds' | 'joined'>,
    woken: Woken,
  ): Promise<Enqueued> {
    const kind = this.#deps.kinds.get(job.kind)
    const enqueued: Enqueued = { ...written, admitted: !kind.lane }
    const { jobId, joined } = written
    if (kind.lane) {
      this.#deps.lanes.admit(tx, kind.lane.name, woken, (wakes) => {
        enqueued.admitted = wakes.some(({ id }) => id === jobId)
      })
    } else if (!joined) {
      const delayMs = job.dueAt === undefined ? 0 : job.dueAt - (await tx.now())
      tx.afterCommit(() => woken([{ id: jobId, pool: kind.pool, delayMs }]))
    }
    return enqueued
  }

  #pending(job: NewJob): Telling {
    const described = { owner: job.owner ?? null, payload: job.payload, startedAt: null }
    return telling(this.#deps.kinds.get(job.kind), described, { what: 'pending' })
  }

  /** A job that waits may be passed over while its row is locked here, so its lane admits again at the commit. */
  async #lockJob(tx: Tx, id: string, woken: Woken): Promise<Selectable<JobsTable>> {
    let query = tx.db.selectFrom('jobs').selectAll().where('id', '=', id)
    if (this.#deps.ledger.dialect === 'postgres') query = query.forUpdate()
    const row = await query.executeTakeFirst()
    if (!row) throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no job ${id}`)
    if (row.lane !== null && row.state === 'waiting') this.#deps.lanes.admit(tx, row.lane, woken)
    return row
  }

  async #cancelLocked(tx: Tx, job: Selectable<JobsTable>, woken: Woken): Promise<{ abort?: string }> {
    if (job.state === 'running') {
      await tx.db.updateTable('jobs').set({ cancel_requested: 1 }).where('id', '=', job.id).execute()
      return { abort: job.id }
    }
    const kind = this.#deps.kinds.get(job.kind)
    await tx.db
      .updateTable('jobs')
      .set({
        state: 'cancelled',
        cancel_requested: 1,
        finished_at: now,
        wake_at: null,
        delete_after: sql<number>`wharf_now() + ${kind.keepMs}`,
        ...telling(kind, toJob(job), { what: 'cancelled' }),
      })
      .where('id', '=', job.id)
      .execute()
    await kind.onEnded?.(tx, { jobId: job.id, change: { what: 'cancelled' } })
    if (job.lane !== null) this.#deps.lanes.admit(tx, job.lane, woken)
    return {}
  }
}

const ignored: Woken = () => undefined

function toTask(row: Selectable<TasksTable>): Task {
  return {
    id: row.id,
    jobId: row.job_id,
    kind: row.kind,
    projectId: row.project_id,
    label: row.label,
    details: JSON.parse(row.details),
    createdAt: row.created_at,
    cancelledAt: row.cancelled_at,
    callback: row.callback,
  }
}
