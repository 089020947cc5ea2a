import { type Clock, type Log, messageOf } from '../../kernel/index.ts'
import type { FromAgent, PeerAddress, Place, TaskReport } from '../engines/swarm/wire/control-message.ts'
import type { Credentials } from '../engines/swarm/wire/credentials.ts'
import type { Holding } from '../engines/swarm/wire/holding.ts'
import type { Manifest } from '../engines/swarm/wire/manifest.ts'
import type { RateLimit } from '../engines/swarm/wire/rate-limit.ts'
import { RESULT, type TargetFailure, toTargetFailure } from '../engines/swarm/wire/result-code.ts'
import { copyToPlace } from './copy-to-place.ts'
import type { Roots } from './guarded-directory.ts'
import { ParentFollower } from './parent-follower.ts'
import { PartFile } from './part-file.ts'

export interface AgentTaskDeps {
  roots: Roots
  credentials(): Credentials
  /** The host by which this agent knows the server. */
  serverHost: string
  download: RateLimit
  send(message: FromAgent): void
  clock: Clock
  log: Log
}

export interface AgentTaskOrder {
  task: string
  fileName: string
  manifest: Manifest
  places: Place[]
}

/**
 * One file on its way to this host. States: opening → following a parent → finishing → ended (done or failed); from
 * any of them `end` leads out. A task that is done goes on giving pieces to others until the server ends it.
 */
export class AgentTask {
  readonly #deps: AgentTaskDeps
  readonly #order: AgentTaskOrder
  readonly #stop = new AbortController()
  readonly #follower: ParentFollower
  readonly #running: Promise<void>
  #opening: Promise<unknown> = Promise.resolve()
  #part: PartFile | undefined
  #outcome: { code: number; message: string } | undefined

  constructor(deps: AgentTaskDeps, order: AgentTaskOrder) {
    this.#deps = deps
    this.#order = order
    this.#follower = new ParentFollower(deps, { task: order.task, signal: this.#stop.signal })
    this.#running = this.#run()
  }

  /** What others may take, once it is open; undefined when it is not to be had. */
  async holding(): Promise<Holding | undefined> {
    await this.#opening
    return this.#part
  }

  get report(): Omit<TaskReport, 'children'> {
    return { task: this.#order.task, have: this.#part?.have ?? 0, parent: this.#follower.parent }
  }

  follow(parent: PeerAddress, ticket: string): void {
    const host = parent.host ?? this.#deps.serverHost
    this.#follower.follow({ ...parent, host }, ticket)
  }

  /** Says the outcome again, for a server that did not hear it. */
  repeatOutcome(): void {
    if (this.#outcome) this.#deps.send({ type: 'done', task: this.#order.task, ...this.#outcome })
  }

  /** `keep`: the agent stops, the task does not; its `.part` waits for the next start. */
  async end({ keep = false }: { keep?: boolean } = {}): Promise<void> {
    this.#stop.abort(new Error('the task has ended'))
    await this.#running
    await this.#part?.close({ remove: !keep })
    this.#part = undefined
  }

  async #run(): Promise<void> {
    const [first, ...others] = this.#order.places
    try {
      if (!first) throw new Error('a task without a place')
      const { roots } = this.#deps
      const opening = PartFile.open(roots, { ...this.#order, place: first })
      this.#opening = opening.catch(() => undefined)
      this.#part = await opening
      await this.#follower.fill(this.#part)
      await this.#part.finish()
      for (const place of others) await copyToPlace(roots, this.#part, { ...this.#order, place })
      this.#settle(RESULT.DONE, '')
    } catch (error) {
      if (this.#stop.signal.aborted) return
      await this.#fail(toTargetFailure(error))
    }
  }

  async #fail(failure: TargetFailure): Promise<void> {
    this.#deps.log.warn({ err: failure, task: this.#order.task }, 'a file could not be put here')
    const part = this.#part
    this.#part = undefined
    await part?.close({ remove: true }).catch((error) => this.#deps.log.warn(messageOf(error)))
    this.#settle(failure.code, failure.message)
  }

  #settle(code: number, message: string): void {
    this.#outcome = { code, message }
    this.repeatOutcome()
  }
}
