import { sql } from 'kysely'
import type { TaskViews } from '../domain/index.ts'
import {
  activeIn,
  Completed,
  type Ended,
  type Engine,
  isActive,
  type Job,
  type JobContext,
  type JobKind,
} from '../jobs/index.ts'
import {
  AppError,
  type Clock,
  ERRORS,
  isAppError,
  messageOf,
  metrics,
  newId,
  outageOf,
} from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import { type HttpClient, signCallback } from '../net/index.ts'
import { openUrl, type ProjectStore, type Sealer } from '../tenancy/index.ts'

export interface CallbackDeps {
  engine: Engine
  ledger: Ledger
  projects: ProjectStore
  sealer: Sealer
  http: HttpClient
  clock: Clock
  views: TaskViews
}

interface CallbackPayload {
  taskId: string
  projectId: string
  kind: string
  type: string
  url: string
  /** Stays the same over all attempts, so that the receiver can recognize a repetition. */
  webhookId: string
}

interface EndedTask {
  kind: string
  status: string
}

interface CallbackBody {
  type: string
  timestamp: string
  data: object
}

const ENDS: readonly string[] = ['succeeded', 'failed', 'cancelled']
const KIND = 'callback'
/** 5 s, 15 s, 45 s … up to six hours apart: about two days of trying. */
const BACKOFF = { base: 5_000, factor: 3, max: 6 * 3_600_000, jitter: 0.1 }
const MAX_ATTEMPTS = 15
/** As `delivered` of the last try when there will be no other. */
const GIVEN_UP = 2
const TIMEOUTS = { headersMs: 15_000, bodyMs: 15_000, totalMs: 20_000 }

/**
 * Notifies business systems of the end of their tasks, by Standard Webhooks. The job that does so is written in the
 * transaction that ends the task, so no end is ever untold; a callback that fails for days fails nothing but itself.
 */
export class Callbacks {
  readonly #deps: CallbackDeps

  constructor(deps: CallbackDeps) {
    this.#deps = deps
  }

  get kind(): JobKind<CallbackPayload, null> {
    return {
      name: KIND,
      domain: 'notify',
      pool: 'callbacks',
      maxAttempts: MAX_ATTEMPTS,
      backoff: BACKOFF,
      run: (context) => this.#deliver(context),
      onEnded: (tx, ended) => this.#ended(tx, ended),
    }
  }

  /** For `onEnded` of a kind whose tasks may have a callback. */
  async announce(tx: Tx, kind: string, { jobId, taskId, change }: Ended): Promise<void> {
    let query = tx.db
      .selectFrom('tasks')
      .select(['id', 'project_id', 'callback'])
      .where('callback', 'is not', null)
      .where('job_id', '=', jobId)
    query = taskId === undefined ? query.where('cancelled_at', 'is', null) : query.where('id', '=', taskId)
    for (const task of await query.execute()) {
      const payload: CallbackPayload = {
        taskId: task.id,
        projectId: task.project_id ?? '',
        kind,
        type: `${kind}.${change.what}`,
        url: task.callback ?? '',
        webhookId: `msg_${newId()}`,
      }
      await this.#send(tx, payload)
    }
  }

  /** What would be sent now. */
  async body(taskId: string, { kind, status }: EndedTask): Promise<CallbackBody> {
    requireEnd(taskId, status)
    return this.#bodyOf(`${kind}.${status}`, (await this.#deps.views[kind]?.callback?.(taskId)) ?? {})
  }

  /** Notifies of the end of a task once more, at once, whatever came of it before. */
  async resend(tx: Tx, taskId: string, { kind, status }: EndedTask): Promise<void> {
    requireEnd(taskId, status)
    const { project_id, callback } = await tx.db
      .selectFrom('tasks')
      .select(['project_id', 'callback'])
      .where('id', '=', taskId)
      .executeTakeFirstOrThrow()
    if (callback === null)
      throw new AppError(ERRORS.REQUEST_INVALID, `task ${taskId} was asked for without a callback`)
    const before = (await this.#underWay(tx, taskId)) ?? (await this.#lastJob(tx, taskId))
    const type = `${kind}.${status}`
    // The receiver knows a repetition by its id.
    const same = before && before.payload.type === type ? before.payload.webhookId : undefined
    // One of an older version has no key to be found by.
    if (before && isActive(before.state)) await this.#cancel(tx, before.id)
    const webhookId = same ?? `msg_${newId()}`
    const payload: CallbackPayload = {
      taskId,
      projectId: project_id ?? '',
      kind,
      type,
      url: callback,
      webhookId,
    }
    await this.#send(tx, payload)
  }

  /** A task has one chain of attempts: what waits or is under way is taken over. Of two at the same moment, one joins the other. */
  async #send(tx: Tx, payload: CallbackPayload): Promise<void> {
    const before = await this.#underWay(tx, payload.taskId)
    if (before) await this.#cancel(tx, before.id)
    await this.#deps.engine.enqueue(tx, { kind: KIND, payload, shareKey: chainOf(payload.taskId) })
  }

  async #cancel(tx: Tx, jobId: string): Promise<void> {
    await this.#deps.engine.cancelJob(tx, jobId).catch((error: unknown) => {
      if (!isAppError(error, ERRORS.TASK_FINISHED)) throw error
    })
  }

  async #underWay(tx: Tx, taskId: string) {
    const row = await tx.db
      .selectFrom('jobs')
      .select(['id', 'state', 'payload'])
      .where('share_key', '=', chainOf(taskId))
      .where(activeIn())
      .where(sql<boolean>`cancel_requested = 0`)
      .executeTakeFirst()
    return row && { ...row, payload: JSON.parse(row.payload) as CallbackPayload }
  }

  async #lastJob(tx: Tx, taskId: string) {
    const row = await tx.db
      .selectFrom('deliveries')
      .innerJoin('jobs', 'jobs.id', 'deliveries.job_id')
      .select(['jobs.id', 'jobs.state', 'jobs.payload'])
      .where('deliveries.task_id', '=', taskId)
      .where('deliveries.channel', '=', 'callback')
      .orderBy('deliveries.at', 'desc')
      .orderBy('deliveries.id', 'desc')
      .limit(1)
      .executeTakeFirst()
    return row && { ...row, payload: JSON.parse(row.payload) as CallbackPayload }
  }

  /** The task itself has nothing left to do: its stage moves from `notifying` to `done`, and watchers are notified. */
  async #ended(tx: Tx, { jobId, change }: Ended): Promise<void> {
    // An end that a later one has replaced, or that is sent again by hand: no task waits for it.
    if (change.what === 'cancelled' || change.error?.code === ERRORS.TASK_NOT_FINISHED.code) return
    const { payload } = await tx.db
      .selectFrom('jobs')
      .select('payload')
      .where('id', '=', jobId)
      .executeTakeFirstOrThrow()
    const { taskId, projectId, kind, type, url } = JSON.parse(payload) as CallbackPayload
    const task = await tx.db.selectFrom('tasks').select('job_id').where('id', '=', taskId).executeTakeFirst()
    if (!task) return
    const delivered = change.what === 'succeeded'
    if (!delivered) tx.afterCommit(() => metrics.callbacks.inc({ outcome: 'given_up' }))
    if (!delivered) await this.#giveUp(tx, { taskId, type, url, reason: change.error?.message ?? null })
    await this.#deps.engine.emit(tx, {
      type: `${kind}.notified`,
      kind,
      projectId,
      taskId,
      jobId: task.job_id,
      data: { status: type.slice(kind.length + 1), stage: 'done', delivered },
    })
  }

  /** Marks the last try as the last. A worker that died over it has left none to mark. */
  async #giveUp(
    tx: Tx,
    { taskId, type, url, reason }: { taskId: string; type: string; url: string; reason: string | null },
  ): Promise<void> {
    const last = await tx.db
      .selectFrom('deliveries')
      .select(['id', 'delivered'])
      .where('task_id', '=', taskId)
      .where('event_type', '=', type)
      .where('channel', '=', 'callback')
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .executeTakeFirst()
    if (last?.delivered === 0)
      await tx.db.updateTable('deliveries').set({ delivered: GIVEN_UP }).where('id', '=', last.id).execute()
    else
      await tx.db
        .insertInto('deliveries')
        .values({
          id: newId(),
          task_id: taskId,
          event_type: type,
          url,
          attempt: MAX_ATTEMPTS,
          at: now,
          status: null,
          error: reason,
          delivered: GIVEN_UP,
        })
        .execute()
  }

  async #deliver({ job, signal }: JobContext<CallbackPayload>): Promise<Completed<null>> {
    try {
      const status = await this.#post(job.payload, signal)
      const delivered = status >= 200 && status < 300
      const sent = { status, error: null, delivered }
      // With the end of the job: an outage of the ledger between the two would notify the receiver twice.
      if (delivered)
        return new Completed(null, async (tx) => {
          await this.#record(tx, job, sent)
          tx.afterCommit(() => metrics.callbacks.inc({ outcome: 'delivered' }))
        })
      await this.#record(this.#deps.ledger, job, sent)
      metrics.callbacks.inc({ outcome: 'refused' })
      throw new AppError(ERRORS.CALLBACK_REFUSED, `the callback answered with status ${status}`)
    } catch (error) {
      if (!isAppError(error, ERRORS.CALLBACK_REFUSED) && !outageOf(error) && !signal.aborted) {
        metrics.callbacks.inc({ outcome: 'unreachable' })
        const failed = { status: null, error: messageOf(error), delivered: false }
        await this.#record(this.#deps.ledger, job, failed)
      }
      throw error
    }
  }

  async #post(
    { taskId, projectId, kind, type, url, webhookId }: CallbackPayload,
    signal: AbortSignal,
  ): Promise<number> {
    const view = await this.#deps.views[kind]?.callback?.(taskId)
    if (!view) throw new AppError(ERRORS.TASK_NOT_FOUND, `task ${taskId} is gone`, { retryable: false })
    if (type !== `${kind}.${view.status}`) {
      const message = `task ${taskId} was tried again; its new end is sent instead`
      throw new AppError(ERRORS.TASK_NOT_FINISHED, message, { retryable: false })
    }
    const at = this.#deps.clock.now()
    const body = JSON.stringify(this.#bodyOf(type, view, at))
    const secrets = await this.#deps.projects.webhookSecrets(projectId)
    const response = await this.#deps.http.request({
      url: openUrl(this.#deps.sealer, url),
      method: 'POST',
      domain: 'notify',
      headers: { 'content-type': 'application/json' },
      sign: () => signCallback(secrets, { id: webhookId, now: at, body }),
      body,
      signal,
      timeouts: TIMEOUTS,
      // What a task holds is for the receiver that was named.
      mayStray: false,
    })
    response.body.destroy()
    return response.status
  }

  #bodyOf(type: string, data: object, at = this.#deps.clock.now()): CallbackBody {
    return { type, timestamp: new Date(at).toISOString(), data }
  }

  async #record(
    { db }: Pick<Tx, 'db'> | Ledger,
    { id: jobId, payload, attempts }: Job<CallbackPayload>,
    outcome: { status: number | null; error: string | null; delivered: boolean },
  ): Promise<void> {
    await db
      .insertInto('deliveries')
      .values({
        id: newId(),
        task_id: payload.taskId,
        event_type: payload.type,
        url: payload.url,
        attempt: attempts,
        at: now,
        status: outcome.status,
        error: outcome.error,
        delivered: outcome.delivered ? 1 : 0,
        job_id: jobId,
      })
      .execute()
  }
}

function chainOf(taskId: string): string {
  return `callback:${taskId}`
}

function requireEnd(taskId: string, status: string): void {
  if (ENDS.includes(status)) return
  throw new AppError(ERRORS.TASK_NOT_FINISHED, `task ${taskId} is ${status}, so there is nothing to send`)
}
