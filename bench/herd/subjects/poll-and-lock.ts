import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import pg from 'pg'
import { execute } from '../../services.ts'
import type { Ground, Instance, Subject } from './subject.ts'

export interface Remedies {
  /** Take a Redis lock before looking. */
  lock?: boolean
  /** Look only at ids of this instance's residue class. */
  shards?: boolean
  /** How long to stay away after a lost race, and whether a wake signal may end that early. */
  afterConflict?: { ms: number; deaf: boolean }
}

const TASK_TYPE = 6
const PENDING = 0
const PROCESSING = 1
const SUCCEEDED = 2
/** How long a worker waits when the table holds nothing at all, not even for later. */
const IDLE_MS = 10_000
const AFTER_ERROR_MS = 3_000
const CHANNEL = 'async_task:wake'
const LOCK_KEY = `async_task:lock:${TASK_TYPE}`
const LOCK_MS = 10_000
const UNLOCK = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

const SCHEMA = `
  create table t_async_task (
    id bigserial primary key, task_type int not null, status int not null, version int not null,
    next_retry_time bigint not null, update_time bigint not null);
  create index t_async_task_due on t_async_task (task_type, status, next_retry_time)`

/**
 * The worker loop that started it all: look for any due task, claim it by its version, ask for the next time when
 * there is none. A new task wakes every instance. In two points it is kinder than the original: it counts in
 * milliseconds (with seconds and `<`, no task starts within its first second), and shards hold for both queries
 * (else the other instances spin on a task that is not theirs).
 */
export function pollAndLock(name: string, remedies: Remedies = {}): Subject {
  return {
    name,
    idleSeconds: 20,
    lostRaces(statements, commands) {
      const claims = statements.filter(({ text }) =>
        text.startsWith('update t_async_task set status = $1, version'),
      )
      const conflicts = claims.reduce((sum, { calls, rows }) => sum + calls - rows, 0)
      // Every lock that was had is given back with one EVAL.
      return conflicts + (commands.get('set') ?? 0) - (commands.get('eval') ?? 0)
    },
    prepare: (databaseUrl) => execute(databaseUrl, SCHEMA),
    async open(ground, started) {
      const instance = new PollingInstance(ground, remedies, started)
      await instance.start()
      return instance
    },
  }
}

class PollingInstance implements Instance {
  readonly #ground: Ground
  readonly #remedies: Remedies
  readonly #started: (id: string) => void
  readonly #pool: pg.Pool
  readonly #redis: Redis
  readonly #subscriber: Redis
  #signalled = false
  #wake: (() => void) | undefined
  #stopped = false
  #loop: Promise<void> | undefined

  constructor(ground: Ground, remedies: Remedies, started: (id: string) => void) {
    this.#ground = ground
    this.#remedies = remedies
    this.#started = started
    this.#pool = new pg.Pool({ connectionString: ground.databaseUrl, max: 10, idleTimeoutMillis: 60_000 })
    this.#redis = new Redis(ground.redisUrl)
    this.#subscriber = new Redis(ground.redisUrl)
  }

  async start(): Promise<void> {
    this.#subscriber.on('message', () => this.#signal())
    await this.#subscriber.subscribe(CHANNEL)
    this.#loop = this.#work()
  }

  async enqueue(committed: () => void): Promise<string> {
    const now = Date.now()
    const { rows } = await this.#pool.query<{ id: string }>(
      `insert into t_async_task (task_type, status, version, next_retry_time, update_time)
       values ($1, $2, 0, $3, $4) returning id`,
      [TASK_TYPE, PENDING, now, now],
    )
    committed()
    await this.#redis.publish(CHANNEL, String(TASK_TYPE))
    return String(rows[0]?.id)
  }

  async close(): Promise<void> {
    this.#stopped = true
    this.#wake?.()
    await this.#loop
    this.#redis.disconnect()
    this.#subscriber.disconnect()
    await this.#pool.end()
  }

  /** Like a channel that holds one signal: what comes while the worker is busy is not lost. */
  #signal(): void {
    this.#signalled = true
    this.#wake?.()
  }

  async #work(): Promise<void> {
    let nextFetch = 0
    let deaf = false
    while (!this.#stopped) {
      await this.#pause(nextFetch - Date.now(), deaf)
      if (this.#stopped) return
      deaf = false
      const found = await this.#fetchPending()
      if (found === 'conflict' || found === 'locked') {
        const { ms, deaf: noEars } = this.#remedies.afterConflict ?? { ms: AFTER_ERROR_MS, deaf: false }
        nextFetch = Date.now() + ms
        deaf = noEars
      } else if (found) {
        this.#started(found.id)
        await this.#finish(found)
        nextFetch = 0
      } else {
        nextFetch = (await this.#minNextRetryTime()) ?? Date.now() + IDLE_MS
      }
    }
  }

  async #pause(ms: number, deaf: boolean): Promise<void> {
    if (ms > 0 && (deaf || !this.#signalled)) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          if (deaf && !this.#stopped) return
          clearTimeout(timer)
          resolve()
        }
      })
      this.#wake = undefined
    }
    this.#signalled = false
  }

  async #fetchPending(): Promise<{ id: string; version: number } | 'conflict' | 'locked' | undefined> {
    if (!this.#remedies.lock) return this.#fetchUnlocked()
    const token = randomUUID()
    if ((await this.#redis.set(LOCK_KEY, token, 'PX', LOCK_MS, 'NX')) !== 'OK') return 'locked'
    try {
      return await this.#fetchUnlocked()
    } finally {
      await this.#redis.eval(UNLOCK, 1, LOCK_KEY, token)
    }
  }

  async #fetchUnlocked(): Promise<{ id: string; version: number } | 'conflict' | undefined> {
    const { rows } = await this.#pool.query<{ id: string; version: number }>(
      `select id, version from t_async_task where task_type = $1 and status = $2 and next_retry_time <= $3
       ${this.#shard(4)} order by next_retry_time limit 1`,
      [TASK_TYPE, PENDING, Date.now(), ...this.#shardValues()],
    )
    const task = rows[0]
    if (!task) return undefined
    const { rowCount } = await this.#pool.query(
      `update t_async_task set status = $1, version = version + 1, update_time = $2 where id = $3 and version = $4`,
      [PROCESSING, Date.now(), task.id, task.version],
    )
    return rowCount === 0 ? 'conflict' : { id: task.id, version: task.version + 1 }
  }

  async #minNextRetryTime(): Promise<number | undefined> {
    const { rows } = await this.#pool.query<{ next_retry_time: string }>(
      `select next_retry_time from t_async_task where task_type = $1 and status = $2
       ${this.#shard(3)} order by next_retry_time limit 1`,
      [TASK_TYPE, PENDING, ...this.#shardValues()],
    )
    return rows[0] && Number(rows[0].next_retry_time)
  }

  async #finish({ id, version }: { id: string; version: number }): Promise<void> {
    await this.#pool.query(
      `update t_async_task set status = $1, update_time = $2 where id = $3 and version = $4`,
      [SUCCEEDED, Date.now(), id, version],
    )
  }

  #shard(parameter: number): string {
    return this.#remedies.shards ? `and id % $${parameter} = $${parameter + 1}` : ''
  }

  #shardValues(): number[] {
    return this.#remedies.shards ? [this.#ground.total, this.#ground.index] : []
  }
}
