import type { Clock, Duty, Log } from '../../kernel/index.ts'
import type { RedisLink } from '../redis/redis-link.ts'
import type { TaskRow, TaskRows } from '../stores/index.ts'
import { decodeMessage, encodeMessage, TEXT } from '../task.ts'

const PAGE = 1_000

export interface PutBackOptions {
  /** How often a task may be put back before it fails. */
  maxReturns: number
  /** How long a record may say PROCESSING while its `updated_at` does not change. */
  stalledMs: number
  /** A processor of ours comes back to its tasks several times within this. */
  aliveMs: number
  /** How long a task may be PENDING and in no list: a BLPOP may just have taken it. */
  missingMs?: number
}

interface Suspect {
  id: string
  message: string
  /** The slot's list that holds it, or '' when no list does. */
  list: string
  status: string
  updatedAt: string
  where: 'head' | 'tail'
}

/**
 * Finds tasks whose processor is gone and puts them back, a limited number of times. The leader's duty. After an outage of Redis
 * nobody is judged before all had time to say again that they are alive.
 *
 * 1. What is in the lists of a processor of ours that no longer says it is alive.
 * 2. What is PENDING but in no list for a while: a foreign processor took it with BLPOP and died before its first HSET.
 * 3. What one of ours was working on and no list holds: Redis lost its memory, and the processor did not come back to it.
 * 4. What is PROCESSING while its `updated_at` does not change for too long.
 */
export class PutBackDuty implements Duty {
  readonly name = 'put-back'
  readonly #deps: { link: RedisLink; rows: TaskRows; clock: Clock; log: Log }
  readonly #options: Required<PutBackOptions>
  /** Since when a task was not seen in any list. */
  #missing = new Map<string, number>()
  #returns: number
  /** When this leader first found Redis back. */
  #backSince = Number.NEGATIVE_INFINITY

  constructor(deps: { link: RedisLink; rows: TaskRows; clock: Clock; log: Log }, options: PutBackOptions) {
    this.#deps = deps
    // It may not be connected yet: the first time is no return.
    this.#returns = Math.max(0, deps.link.returns)
    this.#options = { missingMs: 60_000, ...options }
  }

  async runOnce(signal: AbortSignal): Promise<{ putBack: number; idle: boolean }> {
    const { state, cameBackAt } = await this.#deps.link.recall()
    // What it says of tasks may be out of date until it was compared with the ledger.
    if (state === 'older') return { putBack: 0, idle: false }
    const judges = this.#judges(cameBackAt)
    let putBack = judges ? await this.#reapProcessors(signal) : 0
    const listed: TaskRow[] = []
    let now = 0
    let after = ''
    let idle = judges
    while (!signal.aborted) {
      const page = await this.#deps.rows.page(after, ['PENDING', 'PROCESSING'])
      if (page.length > 0) idle = false
      if (page.length > 0 && now === 0) {
        now = await this.#deps.rows.ledger.now()
      }
      for (const row of page) {
        if (row.status === 'PENDING' || row.slot !== '') listed.push(row)
        if (judges && row.status === 'PROCESSING' && row.seen_at <= now - this.#options.stalledMs) {
          putBack += await this.#putBack(
            suspect(row, 'PROCESSING'),
            'its processor has not moved it for too long',
          )
        }
      }
      if (page.length < 500) break
      after = page.at(-1)?.id ?? ''
    }
    putBack += await this.#findMissing(listed)
    return { putBack, idle }
  }

  /** Whether Redis has been back for two leases, be it from an outage that this leader noticed or from a snapshot. */
  #judges(cameBackAt: number): boolean {
    const { link, clock } = this.#deps
    const now = clock.now()
    if (link.returns > this.#returns) {
      this.#backSince = now
      this.#missing = new Map()
    }
    this.#returns = link.returns
    const within = (since: number) => now >= since && now - since < 2 * this.#options.aliveMs
    return !within(this.#backSince) && !within(cameBackAt)
  }

  async #reapProcessors(signal: AbortSignal): Promise<number> {
    const { link, log } = this.#deps
    let putBack = 0
    for (const [processor, slots] of Object.entries(await link.redis.hgetall(link.processorsKey))) {
      if (signal.aborted) break
      if ((await link.redis.exists(link.aliveKey(processor))) === 1) continue
      for (let slot = 0; slot < Number(slots); slot++) {
        const list = link.slotKey(processor, slot)
        for (const message of await link.redis.lrange(list, 0, -1)) {
          const task = decodeMessage(message)
          if (!task) await link.redis.lrem(list, 1, message)
          else {
            const found: Suspect = {
              id: task.taskId,
              message,
              list,
              status: '',
              updatedAt: '',
              where: 'head',
            }
            putBack += await this.#putBack(found, 'its processor is gone')
          }
        }
      }
      await link.redis.hdel(link.processorsKey, processor)
      log.info({ processor, putBack }, 'a processor is gone')
    }
    return putBack
  }

  /** `rows`: of tasks that a list should hold. */
  async #findMissing(rows: TaskRow[]): Promise<number> {
    const { clock, link } = this.#deps
    const before = this.#missing
    this.#missing = new Map()
    if (rows.length === 0) return 0
    const listed = await this.#listed()
    const now = clock.now()
    let putBack = 0
    for (const row of rows) {
      if (listed.has(row.id)) continue
      const [status, updatedAt] = await link.redis.hmget(link.taskKey(row.id), 'status', 'updated_at')
      if (status !== row.status) continue
      const since = before.get(row.id) ?? now
      const longest = status === 'PENDING' ? this.#options.missingMs : 2 * this.#options.aliveMs
      if (now - since < longest) this.#missing.set(row.id, since)
      else {
        const found = { ...suspect(row, row.status), updatedAt: updatedAt ?? '' }
        putBack += await this.#putBack(found, 'no list holds it')
      }
    }
    return putBack
  }

  /** Every task that is in the queue or in a slot's list. */
  async #listed(): Promise<Set<string>> {
    const { link } = this.#deps
    const ids = new Set<string>()
    const add = (messages: string[]) => {
      for (const message of messages) {
        const task = decodeMessage(message)
        if (task) ids.add(task.taskId)
      }
    }
    for (const [processor, slots] of Object.entries(await link.redis.hgetall(link.processorsKey))) {
      for (let slot = 0; slot < Number(slots); slot++) {
        add(await link.redis.lrange(link.slotKey(processor, slot), 0, -1))
      }
    }
    // The head may move on while the tail is read: an entry is missed, if ever, for this one look.
    for (let from = 0; ; from += PAGE) {
      const page = await link.redis.lrange(link.options.queueKey, from, from + PAGE - 1)
      add(page)
      if (page.length < PAGE) return ids
    }
  }

  async #putBack(found: Suspect, reason: string): Promise<number> {
    const { link, rows, clock, log } = this.#deps
    const { maxReturns } = this.#options
    const returns = await rows.returns(found.id)
    const verdict = returns < maxReturns ? found.where : 'fail'
    const keys = [found.list, link.taskKey(found.id), link.options.queueKey]
    const seconds = Math.floor(clock.now() / 1000)
    const args = [found.message, seconds, verdict, TEXT.gaveUp(returns), link.options.ttlSeconds]
    const done = (await link.run('put-back', keys, [...args, found.status, found.updatedAt])) === 1
    if (!done) return 0
    await rows.countReturn(found.id)
    log.warn({ taskId: found.id, reason, returns, verdict }, 'a task was put back')
    const change =
      verdict === 'fail'
        ? { status: 'FAILED' as const, error_message: TEXT.gaveUp(returns) }
        : { status: 'PENDING' as const }
    await rows.change(found.id, { ...change, seen: String(seconds) })
    return 1
  }
}

function suspect(row: TaskRow, status: string): Suspect {
  const message = encodeMessage(row.id, row.original_file_path)
  return { id: row.id, message, list: '', status, updatedAt: row.seen, where: 'tail' }
}
