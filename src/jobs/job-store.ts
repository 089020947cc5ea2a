import { type RawBuilder, type Selectable, sql } from 'kysely'
import { AppError, type Clock, currentTraceparent, ERRORS, newId, systemClock } from '../kernel/index.ts'
import { jsonRows, type Ledger, now, type Tx } from '../ledger/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import type { Emitter, EventColumns } from './events/index.ts'
import { activeIn, isActive, type Job, toJob } from './job.ts'
import type { KindRegistry } from './kind.ts'
import { WAKE_GRACE_MS } from './lane-queue.ts'
import type { Lanes, Woken } from './lanes.ts'
import { jobMeter } from './overview/index.ts'
import type { JobsTable, TasksTable } from './tables.ts'

interface NewTask {
  id?: string
  projectId?: string
  /** Free for the domain to search by (exports: the operator). */
  label?: string
  details?: unknown
  /** Address of the callback. */
  callback?: string
}

export interface NewJob<P = unknown> {
  /** A new one when missing. A job whose id is taken is refused. */
  id?: string
  kind: string
  payload: P
  tasks?: NewTask[]
  /** Whose turn counts in a fair lane. */
  owner?: string
  /** Others of its lane go first, until it has waited for a while. */
  deferred?: boolean
  /** Requests with the same key share one job while it is unfinished. */
  shareKey?: string
  /** Ledger time; now when missing. */
  dueAt?: number
  /** Ledger time; now when missing. Work that is older than its job keeps its place in the lane. */
  createdAt?: number
  /** A `traceparent`; that of whatever runs now when missing. */
  trace?: string | undefined
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

export interface JobStoreDeps {
  ledger: Ledger
  kinds: KindRegistry
  lanes: Lanes
  emitter: Emitter
  /** The ledger's time, as near as this process knows it; used for metrics alone. */
  clock?: Pick<Clock, 'now'>
}

/** Writes requests into the ledger, and takes them back. Workers' side of a job is in `lease.ts`. */
export class JobStore {
  readonly #deps: JobStoreDeps
  readonly #clock: Pick<Clock, 'now'>

  constructor(deps: JobStoreDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
  }

  /** Task, job and event in the caller's transaction; `woken` hears after its commit of what is to be published. */
  async enqueue(tx: Tx, job: NewJob, woken: Woken = ignored): Promise<Enqueued> {
    const [enqueued] = await this.enqueueAll(tx, [job], woken)
    if (enqueued instanceof AppError) throw enqueued
    return enqueued as Enqueued
  }

  /** The same for several. The statements do not grow with their number; one that is refused is left out. */
  async enqueueAll(
    tx: Tx,
    jobs: readonly NewJob[],
    woken: Woken = ignored,
  ): Promise<(Enqueued | AppError)[]> {
    const orders = jobs.map((job) => {
      const tasks = (job.tasks ?? []).map((task) => ({ ...task, id: task.id ?? newId() }))
      return { id: job.id ?? newId(), job, tasks, live: tasks.length }
    })
    const written = await this.#joinOrInsert(tx, orders)
    return this.#enqueued(
      tx,
      orders.map((order) => {
        const taskIds = order.tasks.map(({ id }) => id)
        return { job: order.job, taskIds, ...(written.get(order) ?? refused(order.job)) }
      }),
      woken,
    )
  }

  async job<P>(id: string): Promise<Job<P> | undefined> {
    const row = await this.#deps.ledger.db
      .selectFrom('jobs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && toJob<P>(row)
  }

  /** Jobs of a pool that have their place and are due, those first that wait for the longest time. */
  async due(pool: string, limit: number): Promise<string[]> {
    const kinds = this.#deps.kinds.all().flatMap((kind) => (kind.pool === pool ? [kind.name] : []))
    const rows = await this.#deps.ledger.db
      .selectFrom('jobs')
      .select('id')
      .where('state', '=', 'pending')
      .where('kind', 'in', kinds)
      .where('due_at', '<=', now)
      .orderBy('wake_at')
      .limit(limit)
      .execute()
    return rows.map(({ id }) => id)
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
    // Read again under the job's lock: others that cancel or join wait for it.
    const task = await tx.db.selectFrom('tasks').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
    if (task.cancelled_at !== null || !isActive(job.state)) {
      throw new AppError(ERRORS.TASK_FINISHED, `task ${id} has already ended`)
    }
    if (job.live_tasks <= 1) return this.#cancelLocked(tx, job, woken)
    const kind = this.#deps.kinds.get(job.kind)
    await tx.db
      .updateTable('tasks')
      .set({
        cancelled_at: now,
        ...this.#deps.emitter.columns(tx, kind, toJob(job), { what: 'cancelled' }),
      })
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
    if (!ended && old.state === 'succeeded')
      throw new AppError(ERRORS.TASK_FINISHED, `task ${id} has succeeded, so there is nothing to retry`)
    if (!ended)
      throw new AppError(ERRORS.TASK_NOT_FINISHED, `task ${id} has not failed, so there is nothing to retry`)
    const job: NewJob = {
      kind: old.kind,
      payload: JSON.parse(old.payload),
      ...(old.owner !== null && { owner: old.owner }),
      ...(old.share_key !== null && { shareKey: old.share_key }),
    }
    const order = { id: newId(), job, tasks: [], live: 1 }
    const written = (await this.#joinOrInsert(tx, [order])).get(order)
    if (!written) throw refused(job).error
    await tx.db
      .updateTable('tasks')
      .set({ job_id: written.jobId, cancelled_at: null, ...this.#pending(tx, job) })
      .where('id', '=', id)
      .execute()
    const [enqueued] = this.#enqueued(tx, [{ job, taskIds: [id], ...written }], woken)
    return enqueued as Enqueued
  }

  /** Each order's job; one without is refused. */
  async #joinOrInsert(tx: Tx, orders: readonly Order[]): Promise<Map<Order, Written>> {
    const written = new Map<Order, Written>()
    for (let open = orders; open.length > 0; ) {
      const shared = await this.#join(tx, open)
      const joined = open.map((order) => shared.get(order.job.shareKey ?? ''))
      const made = await this.#insert(tx, open, joined)
      for (const [index, order] of open.entries()) {
        const jobId = joined[index] ?? order.id
        const delayMs = made.get(order.id)
        if (joined[index] !== undefined || delayMs !== undefined)
          written.set(order, { jobId, joined: delayMs === undefined, delayMs: delayMs ?? 0 })
      }
      // Nothing inserted: somebody else with the same key was faster, so there is a job to join now. Without a key it
      // was a rule of the kind's own (a unique index), and waiting would not change that.
      open = open.filter((order) => order.job.shareKey !== undefined && !written.has(order))
    }
    return written
  }

  /** The jobs under way by the keys that these share. */
  async #join(tx: Tx, orders: readonly Order[]): Promise<Map<string, string>> {
    const live = new Map<string, number>()
    for (const { job, live: tasks } of orders)
      if (job.shareKey !== undefined) live.set(job.shareKey, (live.get(job.shareKey) ?? 0) + tasks)
    if (live.size === 0) return new Map()
    const rows = jsonRows(
      this.#deps.ledger.dialect,
      JOIN_COLUMNS,
      [...live].map(([share_key, tasks]) => ({ share_key, tasks })),
    )
    const { rows: joined } = await sql<{ id: string; share_key: string }>`update jobs
      set live_tasks = live_tasks + r.tasks from ${rows}
      where jobs.share_key = r.share_key and ${activeIn()} and jobs.cancel_requested = 0
      returning jobs.id as id, jobs.share_key as share_key`.execute(tx.db)
    return new Map(joined.map(({ id, share_key }) => [share_key, id]))
  }

  /** The jobs of those that joined none, and the tasks of all: one statement, where the ledger can write two tables with one. */
  async #insert(
    tx: Tx,
    orders: readonly Order[],
    joined: readonly (string | undefined)[],
  ): Promise<Map<string, number>> {
    const { dialect } = this.#deps.ledger
    const jobs = orders.filter((_, index) => joined[index] === undefined).map((order) => this.#jobRow(order))
    const tasks = orders.flatMap((order, index) => this.#taskRows(tx, order, joined[index]))
    const insertJobs = INSERT_JOBS(jsonRows(dialect, JOB_COLUMNS, jobs))
    const insertTasks = (those: typeof tasks, which = sql``) =>
      sql`${INSERT_TASKS} from ${jsonRows(dialect, TASK_COLUMNS, those)} ${which}`
    if (dialect === 'postgres') {
      const wanted = sql`where r.joined = 1 or r.job_id in (select id from made)`
      const { rows } = await sql<{ id: string; delay: number }>`with made as (${insertJobs}),
        wanted as (${insertTasks(tasks, wanted)}) select * from made`.execute(tx.db)
      return delays(rows)
    }
    const made = delays(jobs.length === 0 ? [] : (await insertJobs.execute(tx.db)).rows)
    const those = tasks.filter((task) => task.joined === 1 || made.has(task.job_id))
    if (those.length > 0) await insertTasks(those).execute(tx.db)
    return made
  }

  #jobRow({ id, job, live }: Order) {
    const { lane } = this.#deps.kinds.get(job.kind)
    return {
      id,
      kind: job.kind,
      lane: lane?.name ?? null,
      owner: job.owner ?? null,
      share_key: job.shareKey ?? null,
      state: lane ? 'waiting' : 'pending',
      payload: JSON.stringify(job.payload ?? null),
      due_at: job.dueAt ?? null,
      created_at: job.createdAt ?? null,
      live_tasks: live,
      trace: job.trace ?? currentTraceparent() ?? null,
      priority: job.deferred ? 1 : 0,
    }
  }

  #taskRows(tx: Tx, { id, job, tasks }: Order, joined: string | undefined) {
    return tasks.map((task) => ({
      id: task.id,
      job_id: joined ?? id,
      joined: joined === undefined ? 0 : 1,
      kind: job.kind,
      project_id: task.projectId ?? null,
      label: task.label ?? null,
      details: JSON.stringify(task.details ?? null),
      callback: task.callback ?? null,
      ...this.#pending(tx, job),
    }))
  }

  /** A joined job's lane admits as well: the job may have been passed over because its row was held here. */
  #enqueued(tx: Tx, jobs: readonly EnqueuedOrRefused[], woken: Woken): (Enqueued | AppError)[] {
    const wakes: Wake[] = []
    const enqueued = jobs.map((one) => {
      if ('error' in one) return one.error
      const { job, jobId, joined, taskIds, delayMs } = one
      const kind = this.#deps.kinds.get(job.kind)
      const answer: Enqueued = { jobId, taskIds, joined, admitted: !kind.lane }
      tx.afterCommit(() => jobMeter.accepted(kind, { jobs: joined ? 0 : 1, tasks: taskIds.length }))
      if (kind.lane)
        this.#deps.lanes.admit(tx, kind.lane.name, woken, {
          changed: [job.owner ?? null],
          admitted: (wakes) => {
            answer.admitted = wakes.some(({ id }) => id === jobId)
          },
        })
      else if (!joined)
        wakes.push({ id: jobId, pool: kind.pool, delayMs, ...(delayMs <= 0 && { light: true }) })
      return answer
    })
    if (wakes.length > 0) tx.afterCommit(() => woken(wakes))
    return enqueued
  }

  #pending(tx: Tx, job: NewJob): EventColumns {
    const described = { owner: job.owner ?? null, payload: job.payload, startedAt: null }
    return this.#deps.emitter.columns(tx, this.#deps.kinds.get(job.kind), described, { what: 'pending' })
  }

  /** A job that waits may be passed over while its row is locked here, so its lane admits again at the commit. */
  async #lockJob(tx: Tx, id: string, woken: Woken): Promise<Selectable<JobsTable>> {
    let query = tx.db.selectFrom('jobs').selectAll().where('id', '=', id)
    if (this.#deps.ledger.dialect === 'postgres') query = query.forUpdate()
    const row = await query.executeTakeFirst()
    if (!row) throw new AppError(ERRORS.TASK_NOT_FOUND, `there is no job ${id}`)
    if (row.lane !== null && row.state === 'waiting')
      this.#deps.lanes.admit(tx, row.lane, woken, { changed: [row.owner] })
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
        ...this.#deps.emitter.columns(tx, kind, toJob(job), { what: 'cancelled' }),
      })
      .where('id', '=', job.id)
      .execute()
    tx.afterCommit(() => jobMeter.ended(kind, 'cancelled', this.#clock.now() - job.created_at))
    await kind.onEnded?.(tx, { jobId: job.id, change: { what: 'cancelled' } })
    if (job.lane !== null) this.#deps.lanes.admit(tx, job.lane, woken, { changed: [job.owner] })
    return {}
  }
}

const ignored: Woken = () => undefined

interface Order {
  /** Of its job, unless it joins another. */
  id: string
  job: NewJob
  tasks: (NewTask & { id: string })[]
  /** How many tasks the job has of it. */
  live: number
}

interface Written {
  jobId: string
  joined: boolean
  delayMs: number
}

type EnqueuedOrRefused = { job: NewJob; taskIds: string[] } & (Written | { error: AppError })

const JOIN_COLUMNS = { share_key: 'text', tasks: 'integer' } as const

const JOB_COLUMNS = {
  id: 'text',
  kind: 'text',
  lane: 'text',
  owner: 'text',
  share_key: 'text',
  state: 'text',
  payload: 'text',
  due_at: 'bigint',
  created_at: 'bigint',
  live_tasks: 'integer',
  trace: 'text',
  priority: 'integer',
} as const

const TASK_COLUMNS = {
  id: 'text',
  job_id: 'text',
  joined: 'integer',
  kind: 'text',
  project_id: 'text',
  label: 'text',
  details: 'text',
  callback: 'text',
  event_type: 'text',
  event_data: 'text',
} as const

/** In the order of keys: two transactions with the same ones must not wait for each other in a circle. */
const INSERT_JOBS = (rows: RawBuilder<unknown>) => sql<{ id: string; delay: number }>`insert into jobs
    (id, kind, lane, owner, share_key, state, payload, due_at, wake_at, live_tasks, trace, priority, created_at)
  select id, kind, lane, owner, share_key, state, payload, coalesce(due_at, wharf_now()),
    coalesce(due_at, wharf_now()) + ${WAKE_GRACE_MS}, live_tasks, trace, priority, coalesce(created_at, wharf_now())
  from ${rows} where true order by share_key, id
  on conflict do nothing returning id, due_at - wharf_now() as delay`

const INSERT_TASKS = sql`insert into tasks
    (id, job_id, kind, project_id, label, details, created_at, callback, event_type, event_data)
  select id, job_id, kind, project_id, label, details, wharf_now(), callback, event_type, event_data`

function delays(rows: readonly { id: string; delay: number }[]): Map<string, number> {
  return new Map(rows.map(({ id, delay }) => [id, Math.max(0, Number(delay))]))
}

function refused({ kind }: NewJob): { error: AppError } {
  const message = `the ledger takes no further '${kind}' job of this owner now`
  return { error: new AppError(ERRORS.JOB_REFUSED, message) }
}

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
