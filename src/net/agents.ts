import type { Agent } from 'undici'
import { type ConnectGuard, guardedConnect, type Resolver } from './guard/index.ts'

export interface AgentsOptions {
  connectionsPerOrigin: number
  connectMs: number
}

interface Opened {
  guarded: Agent
  pinned: Agent
}

/** The connections of a client. undici is loaded with the first request: a server with nothing to ask does without it. */
export class Agents {
  readonly #guard: ConnectGuard
  readonly #resolver: Resolver
  readonly #options: AgentsOptions
  #opened: Promise<Opened> | undefined
  #closed = false

  constructor(deps: { guard: ConnectGuard; resolver: Resolver }, options: AgentsOptions) {
    this.#guard = deps.guard
    this.#resolver = deps.resolver
    this.#options = options
  }

  async guarded(): Promise<Agent> {
    return (await this.#open()).guarded
  }

  /** A pool of its own: a connection opened for the samples must never carry a request that the guard has to judge. */
  async pinned(): Promise<Agent> {
    return (await this.#open()).pinned
  }

  /** Cuts what is under way; whatever asks later is refused. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#opened) await destroy(await this.#opened)
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#load()
    return this.#opened
  }

  async #load(): Promise<Opened> {
    const { Agent } = await import('undici')
    const { connectionsPerOrigin, connectMs } = this.#options
    const agent = (guard: ConnectGuard) =>
      new Agent({
        connect: guardedConnect({ guard, resolver: this.#resolver }, { timeoutMs: connectMs }),
        connections: connectionsPerOrigin,
        pipelining: 1,
        keepAliveTimeout: 10_000,
        keepAliveMaxTimeout: 60_000,
      })
    const opened = { guarded: agent(this.#guard), pinned: agent(undefined) }
    if (this.#closed) await destroy(opened)
    return opened
  }
}

async function destroy({ guarded, pinned }: Opened): Promise<void> {
  await Promise.all([guarded.destroy(), pinned.destroy()])
}
