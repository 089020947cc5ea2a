import { randomUUID } from 'node:crypto'
import type { Clock, Duty, Log } from '../../kernel/index.ts'
import type { Memory, RedisLink } from '../redis/redis-link.ts'
import { contradicts, putEndRight, STANDING, saidBy, secondsLeft, toFields } from '../redis/redis-store.ts'
import { type TaskRow, type TaskRows, toRecord, tryOf } from '../stores/index.ts'
import { encodeMessage, hasEnded, isTaskStatus, type TaskRecord, TEXT } from '../task.ts'

const PAGE = 500
const FIELDS = [...STANDING, 'created_at', 'updated_at', 'slot'] as const
/** One pass in N reads every unfinished task. */
const FULL_PASS_EVERY = 15
/** A record that is missing for less than this may just be on its way. */
const ON_ITS_WAY_MS = 10_000
/** How long COMPLETED may be without a result: a processor may write the two one after the other. */
const RESULT_WITHIN_MS = 10_000

type UnfinishedRow = Awaited<ReturnType<TaskRows['page']>>[number]

type Hash = Record<string, string | null>

type Standing = Pick<TaskRecord, 'status' | 'resultPath' | 'errorMessage'>

const NO_RESULT: Standing = { status: 'FAILED', resultPath: '', errorMessage: TEXT.noResult }

export interface FollowRedisOptions {
  onItsWayMs?: number
  resultWithinMs?: number
}

export interface FollowRedisDeps {
  link: RedisLink
  rows: TaskRows
  clock: Clock
  log: Log
}

/**
 * Keeps the ledger's rows in step with what processors write into Redis, and fills a Redis that lost its memory from the
 * rows. The leader's duty. A processor that only uses HSET notifies nobody, so the unfinished records are read again and
 * again. The first end that is seen here is the end: it is sealed in the record.
 */
export class FollowRedisDuty implements Duty {
  readonly name = 'follow-redis'
  readonly #deps: FollowRedisDeps
  readonly #onItsWayMs: number
  readonly #resultWithinMs: number
  #passes = 0
  /** Since when a record says COMPLETED and names no result. */
  #withoutResult = new Map<string, number>()

  constructor(
    deps: FollowRedisDeps,
    { onItsWayMs = ON_ITS_WAY_MS, resultWithinMs = RESULT_WITHIN_MS }: FollowRedisOptions = {},
  ) {
    this.#deps = deps
    this.#onItsWayMs = onItsWayMs
    this.#resultWithinMs = resultWithinMs
  }

  async runOnce(signal: AbortSignal): Promise<{ restored: number; changed: number; idle: boolean }> {
    const memory = await this.#deps.link.recall()
    const lost = memory.state === 'current' ? 0 : await this.#compare(memory, signal)
    await this.#takeBackRevoked(signal)
    const { restored, changed, idle } = await this.#follow(signal)
    return { restored: restored + lost, changed, idle }
  }

  async #follow(signal: AbortSignal): Promise<{ restored: number; changed: number; idle: boolean }> {
    const { rows } = this.#deps
    // Tasks are taken in the order of their ids, so after a page in which everything waits as before nothing has happened,
    // either. Now and then all are read nevertheless: order is no promise.
    const everything = this.#passes++ % FULL_PASS_EVERY === 0
    let restored = 0
    let changed = 0
    let idle = true
    for await (const page of this.#pages(['PENDING', 'PROCESSING'], signal)) {
      idle = false
      const before = restored + changed
      const now = await rows.ledger.now()
      for (const [row, hash] of await this.#records(page)) {
        if (isTaskStatus(hash.status)) {
          if (await this.#take(row, hash)) changed++
        } else if (row.expires_at > now && row.seen_at <= now - this.#onItsWayMs) {
          if (await this.#restore(row, now)) restored++
        }
      }
      const allWait = page.every(({ status }) => status === 'PENDING')
      if (!everything && allWait && restored + changed === before) break
    }
    return { restored, changed, idle }
  }

  async #records(page: UnfinishedRow[]): Promise<[UnfinishedRow, Hash][]> {
    const { link } = this.#deps
    const reads = link.redis.pipeline()
    for (const { id } of page) reads.hmget(link.taskKey(id), ...FIELDS)
    const answers = (await reads.exec()) ?? []
    return page.map((row, index) => {
      const [error, answer] = answers[index] ?? [new Error('no answer'), null]
      if (error) throw error
      const fields = answer as (string | null)[]
      return [row, Object.fromEntries(FIELDS.map((name, at) => [name, fields[at] ?? null]))]
    })
  }

  /** The row takes over what the record says. The time to live starts again at the end. */
  async #take(row: UnfinishedRow, hash: Record<string, string | null>): Promise<boolean> {
    const { rows } = this.#deps
    const seen = hash.updated_at ?? ''
    const said = this.#lacksResult(row.id, hash) ? NO_RESULT : saidBy(hash)
    if (!said || (said.status === row.status && seen === row.seen)) return false
    if (hasEnded(said.status) && !(await this.#seal(row.id, said, hash))) return false
    return rows.change(row.id, {
      ...(said.status !== row.status && { status: said.status }),
      ...(said.status === 'COMPLETED' && { result_path: said.resultPath }),
      ...(said.status === 'FAILED' && { error_message: said.errorMessage }),
      seen,
      slot: hash.slot ?? '',
    })
  }

  /** False when the record has changed since it was read: the next pass looks again. */
  async #seal(id: string, end: Standing, hash: Record<string, string | null>): Promise<boolean> {
    const { link } = this.#deps
    const { status, resultPath, errorMessage } = end
    const found = [hash.status ?? '', hash.result_path ?? '']
    const args = [status, resultPath, errorMessage, link.options.ttlSeconds, ...found]
    return (await link.run('seal', [link.taskKey(id)], args)) === 1
  }

  #lacksResult(id: string, { status, result_path, end_status }: Record<string, string | null>): boolean {
    const lacks = status === 'COMPLETED' && !result_path && !end_status
    if (!lacks) {
      this.#withoutResult.delete(id)
      return false
    }
    const now = this.#deps.clock.now()
    const since = this.#withoutResult.get(id) ?? now
    this.#withoutResult.set(id, since)
    return now - since >= this.#resultWithinMs
  }

  /**
   * Redis starts anew, empty or from a snapshot: everything that has not expired comes back, also what has ended, and a record
   * that is older than its row is put right. Tasks that wait are gathered in a list of their own, in the order of their
   * creation, and put before what came in meanwhile at one moment: a processor that waits for work must not get the last one
   * first. A pass that was broken off goes on with that list. Only then is the memory marked as that of this run.
   */
  async #compare({ run, state }: Memory, signal: AbortSignal): Promise<number> {
    const { link, rows, log, clock } = this.#deps
    let restored = 0
    const waiting: [UnfinishedRow, Hash][] = []
    const compare = async (row: UnfinishedRow, hash: Hash, now: number) => {
      // Where nothing came back, what is there was written since.
      const older = state === 'older' && isOlder(row, hash)
      if (row.expires_at > now && (await this.#compareOne(row, hash, { now, older }))) restored++
    }
    for await (const page of this.#pages(['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'], signal)) {
      const now = await rows.ledger.now()
      for (const [row, hash] of await this.#records(page)) {
        if (row.status === 'PENDING') waiting.push([row, hash])
        else await compare(row, hash, now)
      }
    }
    const now = await rows.ledger.now()
    waiting.sort(([a], [b]) => byCreation(a, b))
    for (const [row, hash] of waiting) if (!signal.aborted) await compare(row, hash, now)
    if (signal.aborted) return restored
    await link.run('requeue', [link.restoringKey, link.options.queueKey], [])
    await link.redis.set(link.memoryKey, `${run}:${state === 'older' ? clock.now() : 0}:${randomUUID()}`)
    if (restored > 0)
      log.warn({ restored, memory: state }, 'Redis had lost tasks or ends of them; they are back')
    return restored
  }

  /** Whether something of it was lost. */
  async #compareOne(
    row: UnfinishedRow,
    hash: Hash,
    { now, older }: { now: number; older: boolean },
  ): Promise<boolean> {
    const { link } = this.#deps
    const ended = hasEnded(row.status)
    const said = saidBy(hash)
    if (!said && !ended) return this.#restore(row, now, link.restoringKey)
    if (ended) return (!said || contradicts(row, said)) && putEndRight(link, row, now)
    if (!older) return false
    return link.putRight(tryOf(row), fieldsOf(row), {
      seconds: secondsLeft(row, now),
      queue: row.status === 'PENDING' ? link.restoringKey : '',
      found: [hash.status ?? '', hash.updated_at ?? ''],
    })
  }

  async #restore(row: UnfinishedRow, now: number, list = this.#deps.link.options.queueKey): Promise<boolean> {
    const { link } = this.#deps
    const message = row.status === 'PENDING' ? encodeMessage(row.id, row.original_file_path) : ''
    const keys = [link.taskKey(row.id), list, link.options.queueKey]
    return (await link.run('restore', keys, [message, secondsLeft(row, now), ...fieldsOf(row)])) === 1
  }

  /** A leader that was stopped in the middle may come back after the next try was made: that one is not taken back. */
  async #takeBackRevoked(signal: AbortSignal): Promise<void> {
    const { rows, link } = this.#deps
    for await (const page of this.#pages(['REVOKED'], signal)) {
      for (const row of page) {
        await link.removeTask(tryOf(row))
        await rows.delete(tryOf(row))
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

/** Ids are no order: an upload has its id long before it becomes a task. */
function byCreation(a: UnfinishedRow, b: UnfinishedRow): number {
  return a.created_at - b.created_at || (a.id < b.id ? -1 : 1)
}

function fieldsOf(row: UnfinishedRow): string[] {
  return [...(row.slot === '' ? [] : ['slot', row.slot]), ...toFields(toRecord(row))]
}

/** Whether the ledger has seen a later state of an unfinished task than its record has, or the record is of an earlier try. */
function isOlder(row: UnfinishedRow, hash: Hash): boolean {
  const created = Math.floor(row.created_at / 1000)
  if (hash.created_at != null && Number(hash.created_at) < created) return true
  if (hash.status !== 'PENDING' && hash.status !== 'PROCESSING') return false
  const [at, seen] = [Number(hash.updated_at), Number(row.seen)]
  // Nothing is known but that it was made: whatever the record says came later, by whatever clock.
  if (row.status === 'PENDING' && row.returns === 0 && seen <= created) return false
  // A task is made and taken within one second.
  return at < seen || (at === seen && hash.status === 'PENDING' && row.status === 'PROCESSING')
}
