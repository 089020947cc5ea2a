import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import { type AppError, ERRORS, type Log } from '../../kernel/index.ts'
import { measureRedis, reportOutages } from '../../redis/index.ts'
import { encodeMessage, type OneTry, taskError } from '../task.ts'

export interface RedisLinkOptions {
  url: string
  queueKey: string
  /** Before the keys that are ours alone. `task:{id}` and the queue have the names that others know. */
  prefix: string
  ttlSeconds: number
  commandTimeoutMs?: number
}

const SCRIPTS = [
  'create',
  'begin',
  'touch',
  'finish',
  'put-back',
  'restore',
  'requeue',
  'remove',
  'cancel',
  'seal',
  'recall',
  'put-right',
] as const
export type ScriptName = (typeof SCRIPTS)[number]

export interface Memory {
  run: string
  /** `older`: it comes out of a snapshot, and the ledger may know more. */
  state: 'none' | 'older' | 'current'
  /** When it came back from a snapshot, by the clock of the leader of then; 0 where it did not. */
  cameBackAt: number
}

/** A connection to Redis, the names of the keys, and the scripts. Commands fail at once while Redis is away. */
export class RedisLink {
  readonly redis: Redis
  readonly options: RedisLinkOptions
  /** How often the connection was lost and is back. */
  returns = -1
  readonly #log: Log
  #holding = false

  constructor(log: Log, options: RedisLinkOptions) {
    this.#log = log
    this.options = options
    this.redis = this.#connect({ commandTimeout: options.commandTimeoutMs ?? 5_000 })
    this.redis.on('ready', () => this.returns++)
    const memory = readLua('memory')
    for (const name of SCRIPTS) this.redis.defineCommand(commandOf(name), { lua: memory + readLua(name) })
  }

  /** A second connection, for commands that block. */
  connectBlocking(): Redis {
    return this.#connect({})
  }

  async ready(ms?: number): Promise<void> {
    await untilReady(this.redis, ms)
  }

  async run(name: ScriptName, keys: string[], args: (string | number)[]): Promise<unknown> {
    this.#hold()
    const script = this.redis as unknown as Record<string, (...args: (string | number)[]) => Promise<unknown>>
    return script[commandOf(name)]?.(keys.length, ...keys, ...args)
  }

  /** The fields of a record, none when there is no such task. */
  async record(id: string): Promise<Record<string, string>> {
    this.#hold()
    return this.redis.hgetall(this.taskKey(id))
  }

  taskKey(id: string): string {
    return `task:${id}`
  }

  progressKey(id: string): string {
    return `${this.options.prefix}:progress:${id}`
  }

  /** Names of slots' lists start with this; then come the processor, a colon and the slot. */
  get slotPrefix(): string {
    return `${this.options.prefix}:processor:`
  }

  slotKey(processor: string, slot: number): string {
    return `${this.slotPrefix}${processor}:${slot}`
  }

  aliveKey(processor: string): string {
    return `${this.options.prefix}:alive:${processor}`
  }

  /** Hash of the processors that are ours: name to number of slots. */
  get processorsKey(): string {
    return `${this.options.prefix}:processors`
  }

  /** Holds a mark for as long as Redis remembers; what is in it is said in memory.lua. */
  get memoryKey(): string {
    return `${this.options.prefix}:task-memory`
  }

  /** Waiting tasks that were brought back, until all of them are. */
  get restoringKey(): string {
    return `${this.options.prefix}:task-restoring`
  }

  /** A later try of the same task is left alone. */
  async removeTask({ id, originalFilePath, createdAt }: OneTry): Promise<void> {
    const keys = [this.taskKey(id), this.options.queueKey, this.progressKey(id)]
    await this.run('remove', keys, [encodeMessage(id, originalFilePath), Math.floor(createdAt / 1000)])
  }

  /** Whether what Redis holds was compared with the ledger in this run of it. */
  async recall(): Promise<Memory> {
    const [run, state, mark] = (await this.run('recall', [this.memoryKey], [])) as string[]
    return { run, state, cameBackAt: Number(mark?.split(':')[1]) || 0 } as Memory
  }

  /** Forces a record and the lists to what the ledger says. */
  async putRight(
    task: OneTry,
    fields: string[],
    {
      seconds,
      queue = '',
      found = ['', ''],
    }: { seconds: number; queue?: string; found?: [status: string, updatedAt: string] },
  ): Promise<boolean> {
    const { id, originalFilePath, createdAt } = task
    const keys = [this.taskKey(id), this.options.queueKey, this.processorsKey, queue]
    const message = encodeMessage(id, originalFilePath)
    const args = [message, this.slotPrefix, Math.floor(createdAt / 1000), seconds, ...found, ...fields]
    return (await this.run('put-right', keys, args)) === 1
  }

  close(): void {
    this.redis.disconnect()
  }

  /**
   * What many callers send in one turn of the event loop leaves in one write: writing is the dearest part of a command.
   * (The library's own pipelining saves the write too, but spends as much again.)
   */
  #hold(): void {
    if (this.#holding) return
    const { stream } = this.redis
    // Not connected yet: the command fails by itself.
    if (!stream) return
    this.#holding = true
    stream.cork()
    setImmediate(() => {
      this.#holding = false
      stream.uncork()
    })
  }

  #connect(more: { commandTimeout?: number }): Redis {
    const redis = new Redis(this.options.url, {
      ...more,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      // A command whose answer was lost may have been carried out: sending it again is for the caller to decide.
      autoResendUnfulfilledCommands: false,
      retryStrategy: (times) => Math.min(50 * 2 ** times, 1_000),
    })
    reportOutages(redis, this.#log)
    measureRedis(redis)
    return redis
  }
}

function readLua(name: string): string {
  return readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8')
}

function commandOf(name: ScriptName): string {
  return `wharf_${name.replace('-', '_')}`
}

/** Resolves when Redis answers, or after a while when it does not: it may come later. */
export async function untilReady(redis: Redis, ms = 2_000): Promise<void> {
  if (redis.status === 'ready') return
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timer)
      redis.off('ready', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    redis.once('ready', end)
  })
}

/** Everything that Redis or the way to it can throw, in the seed's words. */
export function storeUnavailable(cause: unknown): AppError {
  return taskError(ERRORS.TASK_STORE_UNAVAILABLE, 'storeUnavailable', { cause, retryAfter: 2 })
}
