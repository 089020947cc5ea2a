import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { Order, Seen } from './instance-host.ts'
import type { SubjectName } from './subjects/index.ts'

const MOST_HOSTS = 5

/** Instances of one subject, spread over a few processes. */
export class Fleet {
  readonly #hosts: Host[]
  readonly #size: number
  #next = 0

  constructor(size: number) {
    this.#size = size
    this.#hosts = Array.from({ length: Math.min(size, MOST_HOSTS) }, () => new Host())
  }

  get size(): number {
    return this.#size
  }

  async open(subject: SubjectName, databaseUrl: string, redisUrl: string): Promise<void> {
    const all = Array.from({ length: this.#size }, (_, index) => index)
    await Promise.all(
      this.#hosts.map((host, number) => {
        const mine = all.filter((index) => index % this.#hosts.length === number)
        const grounds = mine.map((index) => ({ databaseUrl, redisUrl, index, total: this.#size }))
        return host.ask({ what: 'open', subject, grounds })
      }),
    )
  }

  /** Tasks arrive at one instance after the other, as behind a load balancer. */
  async enqueue(): Promise<void> {
    const index = this.#next++ % this.#size
    const host = this.#hosts[index % this.#hosts.length] as Host
    await host.ask({ what: 'enqueue', instance: Math.floor(index / this.#hosts.length) })
  }

  async report(): Promise<{ committed: Map<string, number>; started: Map<string, number> }> {
    const seen = await Promise.all(this.#hosts.map((host) => host.ask<Seen>({ what: 'report' })))
    return {
      committed: new Map(seen.flatMap(({ committed }) => committed)),
      started: new Map(seen.flatMap(({ started }) => started)),
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#hosts.map((host) => host.ask({ what: 'close' }).finally(() => host.end())))
  }
}

interface Answer {
  id: number
  answer?: unknown
  error?: string
}

class Host {
  readonly #child: ChildProcess
  readonly #pending = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>()
  #lastId = 0

  constructor() {
    this.#child = fork(new URL('./instance-host.ts', import.meta.url), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    this.#child.on('message', ({ id, answer, error }: Answer) => {
      const waiter = this.#pending.get(id)
      this.#pending.delete(id)
      if (error === undefined) waiter?.resolve(answer)
      else waiter?.reject(new Error(error))
    })
    this.#child.once('exit', (code) => {
      for (const { reject } of this.#pending.values()) reject(new Error(`a host ended with code ${code}`))
    })
  }

  ask<T>(order: Order): Promise<T> {
    const id = ++this.#lastId
    return new Promise<T>((resolve, reject) => {
      this.#pending.set(id, { resolve: resolve as (answer: unknown) => void, reject })
      this.#child.send({ id, order })
    })
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const gone = once(this.#child, 'exit')
    this.#child.disconnect()
    await gone
  }
}
