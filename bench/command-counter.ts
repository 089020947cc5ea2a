import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'

/** Counted by commandstats when they end, shown by MONITOR when they begin: left out where both are compared. */
const BLOCKING = /^b(zpop|lpop|rpop|lmove|zmpop|lmpop)/
const OWN = new Set(['echo', 'info', 'monitor'])

/**
 * Counts the commands that clients sent to Redis, in the server: MONITOR shows every call and marks those that come
 * from inside a script with `lua`, which `INFO commandstats` cannot separate. Commandstats is taken as well, and both
 * must agree on the sum: a MONITOR that fell behind or lost a line would be noticed.
 */
export class CommandCounter {
  readonly #redis: Redis
  #monitor: Redis | undefined
  #commands = new Map<string, number>()
  #fromScripts = 0
  #statsAtMark = 0
  #waiting: { token: string; seen: () => void } | undefined

  constructor(url: string) {
    this.#redis = new Redis(url)
  }

  async open(): Promise<void> {
    this.#monitor = await this.#redis.monitor()
    this.#monitor.on('monitor', (_time: string, [name = '', ...args]: string[], source: string) => {
      if (this.#waiting && args[0] === this.#waiting.token) return this.#waiting.seen()
      const command = name.toLowerCase()
      if (OWN.has(command)) return
      if (source === 'lua') this.#fromScripts++
      else this.#commands.set(command, (this.#commands.get(command) ?? 0) + 1)
    })
  }

  async mark(): Promise<void> {
    this.#statsAtMark = await this.#statsAt(() => {
      this.#commands = new Map()
      this.#fromScripts = 0
    })
  }

  /** Commands by name since the last mark; throws if MONITOR and commandstats do not agree. */
  async sinceMark(): Promise<Map<string, number>> {
    let commands = new Map<string, number>()
    let fromScripts = 0
    const stats = await this.#statsAt(() => {
      commands = new Map(this.#commands)
      fromScripts = this.#fromScripts
    })
    const seen = total(commands, (name) => !BLOCKING.test(name)) + fromScripts
    const counted = stats - this.#statsAtMark
    if (seen !== counted) throw new Error(`MONITOR saw ${seen} commands, commandstats counted ${counted}`)
    return commands
  }

  close(): void {
    this.#monitor?.disconnect()
    this.#redis.disconnect()
  }

  /**
   * MONITOR's lines arrive later than the commands, so a mark is itself a command, seen at its place among the lines.
   * Redis works off what one client sent in one piece before it turns to others, so INFO answers for the same moment.
   */
  async #statsAt(atMark: () => void): Promise<number> {
    const token = randomUUID()
    const seen = new Promise<void>((resolve) => {
      this.#waiting = {
        token,
        seen: () => {
          atMark()
          resolve()
        },
      }
    })
    const answers = await this.#redis.pipeline().echo(token).info('commandstats').exec()
    await seen
    this.#waiting = undefined
    return sumOfCalls(String(answers?.[1]?.[1]))
  }
}

export function total(
  counts: ReadonlyMap<string, number>,
  only: (name: string) => boolean = () => true,
): number {
  return [...counts].reduce((sum, [name, count]) => (only(name) ? sum + count : sum), 0)
}

/** Reads lines such as `cmdstat_get:calls=3,usec=…`. */
function sumOfCalls(info: string): number {
  let sum = 0
  for (const [, name = '', calls] of info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
    if (!OWN.has(name) && !BLOCKING.test(name)) sum += Number(calls)
  }
  return sum
}
