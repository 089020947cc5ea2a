import { type Static, Type } from 'typebox'
import type { TaskViews } from '../domain/index.ts'
import {
  Completed,
  type Ended,
  type Engine,
  type JobContext,
  type JobKind,
  nullable,
  Time,
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
import { maskUrl, openUrl, type ProjectStore, type Sealer } from '../tenancy/index.ts'

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
  /** Stays the same over all attempts, so that the receiver can tell a repetition. */
  webhookId: string
}

export type Delivery = Static<typeof Delivery>
export const Delivery = Type.Object({
  attempt: Type.Integer(),
  at: Time,
  url: Type.String(),
  type: Type.String(),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  delivered: Type.Boolean(),
  channel: Type.String({ description: 'callback, email, or the kind of a chat' }),
})

const KIND = 'callback'
/** 5 s, 15 s, 45 s … up to six hours apart: about two days of trying. */
const BACKOFF = { base: 5_000, factor: 3, max: 6 * 3_600_000, jitter: 0.1 }
const MAX_ATTEMPTS = 15
/** As `delivered` of the last try when there will be no other. */
const GIVEN_UP = 2
const TIMEOUTS = { headersMs: 15_000, bodyMs: 15_000, totalMs: 20_000 }

/**
 * Tells business systems of the end of their tasks, by Standard Webhooks. The job that tells is written in the
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
      await this.#deps.engine.enqueue(tx, { kind: KIND, payload })
    }
  }

  /** Every attempt at telling of this task, oldest first. */
  async deliveries(taskId: string): Promise<Delivery[]> {
    const rows = await this.#deps.ledger.db
      .selectFrom('deliveries')
      .selectAll()
      .where('task_id', '=', taskId)
      .orderBy('at')
      .orderBy('id')
      .execute()
    return rows.map((row) => ({
      attempt: row.attempt,
      at: new Date(row.at).toISOString(),
      url: row.channel === 'email' ? row.url : maskUrl(row.url),
      type: row.event_type,
      status: row.status,
      error: row.error,
      delivered: row.delivered === 1,
      channel: row.channel,
    }))
  }

  /** The task itself has nothing left to do: its stage moves from `notifying` to `done`, and watchers are notified. */
  async #ended(tx: Tx, { jobId, change }: Ended): Promise<void> {
    // An end that another one has overtaken is not told, and no task waits for it.
    if (change.error?.code === ERRORS.TASK_NOT_FINISHED.code) return
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
    const { payload, attempts } = job
    try {
      const status = await this.#post(payload, signal)
      const delivered = status >= 200 && status < 300
      const told = { status, error: null, delivered }
      // With the end of the job: an outage of the ledger between the two would tell the receiver twice.
      if (delivered)
        return new Completed(null, async (tx) => {
          await this.#record(tx, payload, attempts, told)
          tx.afterCommit(() => metrics.callbacks.inc({ outcome: 'delivered' }))
        })
      await this.#record(this.#deps.ledger, payload, attempts, told)
      metrics.callbacks.inc({ outcome: 'refused' })
      throw new AppError(ERRORS.CALLBACK_REFUSED, `the callback answered with status ${status}`)
    } catch (error) {
      if (!isAppError(error, ERRORS.CALLBACK_REFUSED) && !outageOf(error) && !signal.aborted) {
        metrics.callbacks.inc({ outcome: 'unreachable' })
        const failed = { status: null, error: messageOf(error), delivered: false }
        await this.#record(this.#deps.ledger, payload, attempts, failed)
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
      const message = `task ${taskId} was tried again; its new end is told instead`
      throw new AppError(ERRORS.TASK_NOT_FINISHED, message, { retryable: false })
    }
    const at = this.#deps.clock.now()
    const body = JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: view })
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

  async #record(
    { db }: Pick<Tx, 'db'> | Ledger,
    payload: CallbackPayload,
    attempt: number,
    outcome: { status: number | null; error: string | null; delivered: boolean },
  ): Promise<void> {
    await db
      .insertInto('deliveries')
      .values({
        id: newId(),
        task_id: payload.taskId,
        event_type: payload.type,
        url: payload.url,
        attempt,
        at: now,
        status: outcome.status,
        error: outcome.error,
        delivered: outcome.delivered ? 1 : 0,
      })
      .execute()
  }
}
