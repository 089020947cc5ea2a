import type { TaskViews } from '../domain/index.ts'
import { Completed, type Ended, type Engine, type JobContext, type JobKind } from '../jobs/index.ts'
import {
  AppError,
  type Clock,
  ERRORS,
  excerpt,
  isAppError,
  messageOf,
  newId,
  outageOf,
  SecretMask,
} from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import { type HttpClient, readAll } from '../net/index.ts'
import type { Sealer } from '../tenancy/index.ts'
import { CHAT_FORMATS } from './chat-formats.ts'
import type { Mailer } from './mailer.ts'
import { noticeOf } from './notice-text.ts'
import type { Chat, Language, NotifyWish } from './notify-wish.ts'

export interface NoticeDeps {
  engine: Engine
  ledger: Ledger
  sealer: Sealer
  http: HttpClient
  clock: Clock
  /** Null without a mail server. */
  mailer: Mailer | null
  views: TaskViews
}

interface NoticePayload {
  taskId: string
  kind: string
  type: string
  channel: 'email' | Chat
  /** The address, sealed: that of a chat holds its password. */
  to: string
  language?: Language
  /** Stays the same over all attempts. */
  id: string
  at: number
}

const KIND = 'notice'
const BACKOFF = { base: 5_000, factor: 3, max: 6 * 3_600_000, jitter: 0.1 }
/** A mail server that is away costs no attempt, so time must end the trying. */
const OUTAGE_BACKOFF = { base: 5_000, factor: 3, max: 30 * 60_000, jitter: 0.2 }
const LONGEST_MS = 3 * 24 * 3_600_000
const MAX_ATTEMPTS = 15
const TIMEOUTS = { headersMs: 15_000, bodyMs: 15_000, totalMs: 20_000 }
const LARGEST_ANSWER = 64 * 1024

/** Notifies people of the end of an export, by e-mail and in chats. Each message is a job of its own, so that none waits for another. */
export class Notices {
  readonly #deps: NoticeDeps

  constructor(deps: NoticeDeps) {
    this.#deps = deps
  }

  get kind(): JobKind<NoticePayload, null> {
    return {
      name: KIND,
      domain: 'notify',
      pool: 'callbacks',
      maxAttempts: MAX_ATTEMPTS,
      backoff: BACKOFF,
      outageBackoff: OUTAGE_BACKOFF,
      run: (context) => this.#deliver(context),
      givesUp: (outage, { payload }) => this.#givesUp(outage, payload),
    }
  }

  /** For `onEnded`: in the transaction that ends the task. The caller that cancels knows of it. */
  async announce(tx: Tx, kind: string, { jobId, taskId, change }: Ended): Promise<void> {
    if (taskId !== undefined || (change.what !== 'succeeded' && change.what !== 'failed')) return
    const tasks = await tx.db
      .selectFrom('tasks')
      .select(['id', 'details'])
      .where('job_id', '=', jobId)
      .where('cancelled_at', 'is', null)
      .execute()
    for (const { id, details } of tasks)
      for (const recipient of this.#recipients(details)) {
        const payload: NoticePayload = {
          ...recipient,
          taskId: id,
          kind,
          type: `${kind}.${change.what}`,
          id: newId(),
          at: this.#deps.clock.now(),
        }
        await this.#deps.engine.enqueue(tx, { kind: KIND, payload })
      }
  }

  #recipients(details: string): Pick<NoticePayload, 'channel' | 'to' | 'language'>[] {
    const { notify } = (JSON.parse(details) ?? {}) as { notify?: string }
    if (notify === undefined) return []
    const { sealer } = this.#deps
    const { email = [], chat = [], language } = JSON.parse(sealer.open(notify)) as NotifyWish
    const spoken = language === undefined ? {} : { language }
    return [
      ...email.map((to) => ({ channel: 'email' as const, to: sealer.seal(to), ...spoken })),
      ...chat.map(({ kind, url }) => ({ channel: kind, to: sealer.seal(url), ...spoken })),
    ]
  }

  async #deliver({ job, signal }: JobContext<NoticePayload>): Promise<Completed<null>> {
    const { payload } = job
    const to = this.#deps.sealer.open(payload.to)
    const attempt = { payload, to, attempt: job.attempts + job.outages }
    try {
      const status = await this.#send(payload, to, signal)
      // With the end of the job: nobody gets it twice because the ledger was away in between.
      return new Completed(null, (tx) => this.#record(tx, attempt, { status, error: null, delivered: true }))
    } catch (error) {
      const isAway = isAppError(error, ERRORS.MAIL_UNAVAILABLE)
      const untried = isAppError(error, ERRORS.TASK_NOT_FOUND) || isAppError(error, ERRORS.TASK_NOT_FINISHED)
      if (signal.aborted || untried || (outageOf(error) && !isAway)) throw error
      const status =
        isAppError(error) && typeof error.details.status === 'number' ? error.details.status : null
      const failed = { status, error: messageOf(error), delivered: false }
      await this.#record(this.#deps.ledger, attempt, failed)
      throw error
    }
  }

  #givesUp(outage: AppError, { at }: NoticePayload): AppError | undefined {
    if (!isAppError(outage, ERRORS.MAIL_UNAVAILABLE) || this.#deps.clock.now() - at <= LONGEST_MS)
      return undefined
    return new AppError(ERRORS.MAIL_REFUSED, `given up: ${outage.message}`, { retryable: false })
  }

  async #send(payload: NoticePayload, to: string, signal: AbortSignal): Promise<number | null> {
    const { taskId, kind, type, channel, language, id } = payload
    const task = await this.#deps.views[kind]?.notice?.(taskId)
    if (!task) throw new AppError(ERRORS.TASK_NOT_FOUND, `task ${taskId} is gone`, { retryable: false })
    if (type !== `${kind}.${task.status}`)
      throw new AppError(
        ERRORS.TASK_NOT_FINISHED,
        `task ${taskId} was tried again; its new end is sent instead`,
        {
          retryable: false,
        },
      )
    const notice = noticeOf(task, language)
    if (channel !== 'email') return secretsOf(to).guard(() => this.#post(channel, to, notice.text, signal))
    const { mailer } = this.#deps
    if (!mailer)
      throw new AppError(ERRORS.MAIL_UNAVAILABLE, 'SMTP_URL or WHARF_PUBLIC_URL is not set any more')
    await mailer.send(to, notice, { id, signal })
    return null
  }

  async #post(chat: Chat, url: string, text: string, signal: AbortSignal): Promise<number> {
    const format = CHAT_FORMATS[chat]
    const response = await this.#deps.http.request({
      url,
      method: 'POST',
      domain: 'notify',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: JSON.stringify(format.body(text)),
      signal,
      timeouts: TIMEOUTS,
      mayStray: false,
    })
    const { status } = response
    const answer = (await readAll(response.body, LARGEST_ANSWER)).toString()
    const fine = status >= 200 && status < 300
    const complaint = fine ? format.complaint(answer) : `status ${status}: ${excerpt(answer, 300)}`
    if (complaint === null) return status
    throw new AppError(ERRORS.CHAT_REFUSED, `${chat} did not take the message: ${complaint}`, {
      details: { status },
    })
  }

  async #record(
    { db }: Pick<Ledger, 'db'>,
    { payload, to, attempt }: { payload: NoticePayload; to: string; attempt: number },
    outcome: { status: number | null; error: string | null; delivered: boolean },
  ): Promise<void> {
    const { channel, taskId, type } = payload
    await db
      .insertInto('deliveries')
      .values({
        id: newId(),
        task_id: taskId,
        event_type: type,
        url: channel === 'email' ? `mailto:${to}` : `${new URL(to).origin}/***`,
        attempt,
        at: now,
        status: outcome.status,
        error: outcome.error,
        delivered: outcome.delivered ? 1 : 0,
        channel,
      })
      .execute()
  }
}

/** The address of a chat holds its password, in the path or in a parameter. */
function secretsOf(address: string): SecretMask {
  const { pathname, search, searchParams } = new URL(address)
  return new SecretMask()
    .addUrl(address)
    .add(`${pathname}${search}`, pathname.length > 1 ? pathname : null, pathname.split('/').at(-1))
    .add(...searchParams.values())
}
