import { randomUUID } from 'node:crypto'
import type { Clock, Duty, Log } from '../../kernel/index.ts'
import type { RedisLink } from '../stores/redis-link.ts'
import { toFields } from '../stores/redis-store.ts'
import { type TaskRow, type TaskRows, toRecord } from '../stores/task-rows.ts'
import { encodeMessage, hasEnded, isTaskStatus } from '../task.ts'

const PAGE = 500
const EVERY_MS = 2_000
/** One pass in so many reads every unfinished task. */
const FULL_PASS_EVERY = 15
/** A duty that takes long comes seldom: it never costs more than this part of the time. */
const PAUSE_TO_WORK = 20
/** A record that is missing for less than this may just be on its way. */
const ON_ITS_WAY_MS = 10_000

type UnfinishedRow = Awaited<ReturnType<TaskRows['page']>>[number]

export interface FollowRedisDeps {
  link: RedisLink
  rows: TaskRows
  clock: Clock
  log: Log
}

/**
 * Keeps the ledger's rows in step with what processors write into Redis, and fills a Redis that lost its memory from the
 * rows. The leader's duty. A processor that only knows HSET tells nobody, so the unfinished records are read again and
 * again; the pause grows with the time that takes.
 */
export class FollowRedisDuty implements Duty {
  readonly name = 'follow-redis'
  readonly #deps: FollowRedisDeps
  readonly #onItsWayMs: number
  #passes = 0

  constructor(deps: FollowRedisDeps, { onItsWayMs = ON_ITS_WAY_MS }: { onItsWayMs?: number } = {}) {
    this.#deps = deps
    this.#onItsWayMs = onItsWayMs
  }

  async runOnce(signal: AbortSignal): Promise<{ nextInMs: number; restored: number; changed: number }> {
    const started = this.#deps.clock.now()
    const lost = await this.#restoreIfForgotten(signal)
    await this.#takeBackRevoked(signal)
    const { restored, changed } = await this.#follow(signal)
    const took = this.#deps.clock.now() - started
    return { nextInMs: Math.max(EVERY_MS, took * PAUSE_TO_WORK), restored: restored + lost, changed }
  }

  async #follow(signal: AbortSignal): Promise<{ restored: number; changed: number }> {
    const { rows, link } = this.#deps
    // Tasks are taken in the order of their ids, so behind a page in which everything waits as before nothing has happened,
    // either. Now and then all are read nevertheless: order is no promise.
    const everything = this.#passes++ % FULL_PASS_EVERY === 0
    let restored = 0
    let changed = 0
    for await (const page of this.#pages(['PENDING', 'PROCESSING'], signal)) {
      const before = restored + changed
      const now = await rows.ledger.now()
      const reads = link.redis.pipeline()
      for (const { id } of page) {
        reads.hmget(link.taskKey(id), 'status', 'result_path', 'error_message', 'updated_at')
      }
      const answers = (await reads.exec()) ?? []
      for (const [index, row] of page.entries()) {
        const [error, fields] = answers[index] ?? [new Error('no answer'), null]
        if (error) throw error
        const [status, result, message, updated] = fields as (string | null)[]
        if (isTaskStatus(status)) {
          if (await this.#take(row, status, result ?? '', message ?? '', updated ?? '')) changed++
        } else if (row.expires_at > now && row.seen_at <= now - this.#onItsWayMs) {
          if (await this.#restore(row, now)) restored++
        }
      }
      const allWait = page.every(({ status }) => status === 'PENDING')
      if (!everything && allWait && restored + changed === before) break
    }
    return { restored, changed }
  }

  /** The row takes over what the record says. The time to live starts again at the end. */
  async #take(
    row: UnfinishedRow,
    status: UnfinishedRow['status'],
    result: string,
    error: string,
    seen: string,
  ) {
    const { rows, link } = this.#deps
    if (status === row.status && seen === row.seen) return false
    if (hasEnded(status)) await link.redis.expire(link.taskKey(row.id), link.options.ttlSeconds)
    return rows.change(row.id, {
      ...(status !== row.status && { status }),
      ...(status === 'COMPLETED' && { result_path: result }),
      ...(status === 'FAILED' && { error_message: error }),
      seen,
    })
  }

  /** Redis starts anew: everything that has not expired comes back, also what has ended. */
  async #restoreIfForgotten(signal: AbortSignal): Promise<number> {
    const { link, rows, log } = this.#deps
    if ((await link.redis.exists(link.memoryKey)) === 1) return 0
    let restored = 0
    for await (const page of this.#pages(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'], signal)) {
      const now = await rows.ledger.now()
      for (const row of page) if (row.expires_at > now && (await this.#restore(row, now))) restored++
    }
    if (signal.aborted) return restored
    await link.redis.set(link.memoryKey, randomUUID(), 'NX')
    if (restored > 0) log.warn({ restored }, 'Redis had lost its memory; its tasks are back')
    return restored
  }

  async #restore(row: UnfinishedRow, now: number): Promise<boolean> {
    const { link } = this.#deps
    const message = row.status === 'PENDING' ? encodeMessage(row.id, row.original_file_path) : ''
    const keys = [link.taskKey(row.id), link.options.queueKey]
    const seconds = Math.max(1, Math.ceil((row.expires_at - now) / 1000))
    return (await link.run('restore', keys, [message, seconds, ...toFields(toRecord(row))])) === 1
  }

  async #takeBackRevoked(signal: AbortSignal): Promise<void> {
    const { rows, link } = this.#deps
    for await (const page of this.#pages(['REVOKED'], signal)) {
      for (const row of page) {
        await link.removeTask(row.id, row.original_file_path)
        await rows.delete(row.id)
      }
    }
  }

  async *#pages(statuses: TaskRow['status'][], signal: AbortSignal): AsyncGenerator<UnfinishedRow[]> {
    let after = ''
    while (!signal.aborted) {
      const page = await this.#deps.rows.page(after, statuses, PAGE)
      if (page.length > 0) yield page
      if (page.length < PAGE) return
      after = page.at(-1)?.id ?? ''
    }
  }
}
