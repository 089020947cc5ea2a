import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { TransferTarget } from '../../carriers/index.ts'
import type { Clock, Duty, Log, Part } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { measureRedis } from '../../redis/index.ts'
import { taskPrefix } from '../transfer-keys.ts'
import { TransferQueries } from '../views/transfer-queries.ts'
import type { JoinedTask, TransferWindow, WindowTarget } from '../windows/index.ts'
import { jobJson, keysOf, targetJson, taskJson } from './mirror-format.ts'

export interface MirrorOptions {
  url: string
  prefix: string
  ttlSeconds: number
}

const SCRIPT = readFileSync(new URL('./put-window.lua', import.meta.url), 'utf8')
const PAGE = 100
/** A window that changes all the time is written at most this often. */
const PAUSE_MS = 250
/** Few enough that a join meanwhile does not wait for them. */
const TASKS_PER_PIPELINE = 100

interface Scripted extends Redis {
  putWindow(...keysAndArguments: (string | number)[]): Promise<number>
}

/**
 * The windows in Redis, under the keys that other programs know. Nothing of Wharf reads them: the ledger decides, and
 * this follows it at a small distance. Joins are passed on as they come; of every other change the newest state is read
 * from the ledger when its turn comes. What could not be written is made good by the leader, which rebuilds the whole
 * when Redis has lost its memory.
 */
export class TransferMirror implements Duty, Part {
  readonly name = 'transfer-mirror'
  readonly #deps: { ledger: Ledger; clock: Clock; log: Log }
  readonly #options: MirrorOptions
  readonly #queries: TransferQueries
  readonly #redis: Scripted
  readonly #joined = new Map<string, JoinedTask[]>()
  readonly #changed = new Set<string>()
  readonly #closed = new AbortController()
  #pump: Promise<void> | undefined
  #unmarking = false

  constructor(deps: { ledger: Ledger; clock: Clock; log: Log }, options: MirrorOptions) {
    this.#deps = deps
    this.#options = options
    this.#queries = new TransferQueries(deps.ledger)
    this.#redis = new Redis(options.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 10_000,
      retryStrategy: (times) => Math.min(50 * 2 ** times, 1_000),
    }) as Scripted
    measureRedis(this.#redis)
    this.#redis.on('error', (error) => deps.log.debug({ err: error }, 'redis connection error'))
    this.#redis.defineCommand('putWindow', { numberOfKeys: 3, lua: SCRIPT })
  }

  /** To be called after the commit of joins. */
  joined(tasks: JoinedTask[]): void {
    for (const task of tasks) {
      const known = this.#joined.get(task.windowId)
      if (known) known.push(task)
      else this.#joined.set(task.windowId, [task])
    }
    this.#wake()
  }

  /** To be called after the commit of any other change. */
  changed(windowId: string): void {
    this.#changed.add(windowId)
    this.#wake()
  }

  /** Resolves when everything that was announced so far is written or given up. */
  async settled(): Promise<void> {
    await this.#pump
  }

  /** The leader's look: a mark that is gone means that Redis was emptied, or that somebody could not write. */
  async runOnce(signal: AbortSignal): Promise<{ rebuilt: number }> {
    if (this.#redis.status !== 'ready') return { rebuilt: 0 }
    if ((await this.#redis.set(this.#mark, '1', 'NX')) !== 'OK') return { rebuilt: 0 }
    try {
      return { rebuilt: await this.#rebuild(signal) }
    } catch (error) {
      await this.#redis.del(this.#mark).catch(() => undefined)
      throw error
    }
  }

  async stop(): Promise<void> {
    this.#closed.abort()
    await this.#pump
    this.#redis.disconnect()
  }

  get #mark(): string {
    return `${this.#options.prefix}:transfers-mirrored`
  }

  #wake(): void {
    if (this.#closed.signal.aborted) return
    this.#pump ??= this.#run().finally(() => {
      this.#pump = undefined
    })
  }

  async #run(): Promise<void> {
    while (this.#joined.size + this.#changed.size > 0) {
      const joined = [...this.#joined]
      const changed = [...this.#changed]
      this.#joined.clear()
      this.#changed.clear()
      for (const [id, tasks] of joined)
        await this.#putJoined(id, tasks).catch((error) => this.#missed(id, error))
      for (const id of changed) await this.#put(id).catch((error) => this.#missed(id, error))
      await this.#deps.clock.sleep(PAUSE_MS, this.#closed.signal).catch(() => undefined)
    }
  }

  /** Without its mark the leader rebuilds, so this one need not remember what it could not write. */
  #missed(windowId: string, error: unknown): void {
    this.#deps.log.debug({ err: error, windowId }, 'a transfer was not mirrored; the leader will do it')
    this.#unmark()
  }

  #unmark(): void {
    if (this.#unmarking) return
    this.#unmarking = true
    const again = () => {
      this.#unmarking = false
      this.#unmark()
    }
    this.#redis.del(this.#mark).then(
      () => (this.#unmarking = false),
      () => this.#redis.once('ready', again),
    )
  }

  async #rebuild(signal: AbortSignal): Promise<number> {
    let rebuilt = 0
    for (let after = ''; !signal.aborted; ) {
      const rows = await this.#deps.ledger.db
        .selectFrom('transfer_windows')
        .select('id')
        .where('id', '>', after)
        .orderBy('id')
        .limit(PAGE)
        .execute()
      for (const { id } of rows) {
        signal.throwIfAborted()
        await this.#put(id)
        rebuilt++
      }
      after = rows.at(-1)?.id ?? after
      if (rows.length < PAGE) break
    }
    return rebuilt
  }

  /** A late one of these must not take back what is known of a task by now: it only fills gaps. */
  async #putJoined(windowId: string, tasks: JoinedTask[]): Promise<void> {
    const window = await this.#queries.window(windowId)
    // Closed meanwhile: its targets have results by now.
    if (window?.status !== 'Pending') return this.#put(windowId)
    for (let from = 0; from < tasks.length; from += TASKS_PER_PIPELINE) {
      const some = tasks.slice(from, from + TASKS_PER_PIPELINE)
      await this.#putWindow(
        window,
        [],
        some.map(({ request }) => request.target),
      )
      const entries = some.map(({ taskId, createdAt, request: { target } }) => ({
        key: taskId,
        value: taskJson(taskId, createdAt, window, { ...target, status: 'Pending' }),
      }))
      await this.#setAll(entries, 'NX')
    }
  }

  async #put(windowId: string): Promise<void> {
    const { window, targets } = await this.#queries.read(windowId)
    if (!window) return
    await this.#putWindow(window, targets, targets)
    const byId = new Map(targets.map((target) => [target.id, target]))
    const prefix = taskPrefix(window)
    for (let after: string | undefined = ''; after !== undefined; ) {
      const tasks: Awaited<ReturnType<TransferQueries['tasksOf']>> = await this.#queries.tasksOf(
        windowId,
        after,
        TASKS_PER_PIPELINE,
      )
      await this.#setAll(
        tasks.flatMap(({ id, target_id, created_at }) => {
          const target = byId.get(target_id)
          const key = prefix + id
          return target ? [{ key, value: taskJson(key, created_at, window, target) }] : []
        }),
      )
      after = tasks.length < TASKS_PER_PIPELINE ? undefined : tasks.at(-1)?.id
    }
  }

  /** `results` makes the job's four maps, `listed` are the targets that its list must have. */
  async #putWindow(window: TransferWindow, results: WindowTarget[], listed: TransferTarget[]): Promise<void> {
    await this.#redis.putWindow(
      ...keysOf(window, this.#options.prefix),
      this.#options.ttlSeconds,
      window.version,
      jobJson(window, results, listed[0]),
      ...listed.map(targetJson),
    )
  }

  async #setAll(entries: { key: string; value: string }[], only?: 'NX'): Promise<void> {
    const pipeline = this.#redis.pipeline()
    const ttl = this.#options.ttlSeconds
    for (const { key, value } of entries)
      if (only) pipeline.set(key, value, 'EX', ttl, only)
      else pipeline.set(key, value, 'EX', ttl)
    for (const [error] of (await pipeline.exec()) ?? []) if (error) throw error
  }
}
