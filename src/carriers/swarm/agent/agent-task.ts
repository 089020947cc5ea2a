import { type Clock, type Log, messageOf } from '../../../kernel/index.ts'
import type { Holding, RateLimit } from '../pieces/index.ts'
import {
  type Credentials,
  type FromAgent,
  type Manifest,
  type PeerAddress,
  type Place,
  type PlaceOutcome,
  RESULT,
  type TargetFailure,
  type TaskReport,
  toTargetFailure,
} from '../wire/index.ts'
import { ParentFollower } from './parent-follower.ts'
import { type AllowList, copyToPlace, notKept, PartFile, type Roots } from './place/index.ts'

export interface AgentTaskDeps {
  roots: Roots
  allow: AllowList
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

/** How often a file whose pieces changed on disk is fetched before its place fails. */
const MOST_TRIES = 3

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
  /** Resolves when there is something to take from, or never will be. */
  readonly #opened = Promise.withResolvers<void>()
  #part: PartFile | undefined
  #outcome: (PlaceOutcome & { places: PlaceOutcome[] }) | undefined

  constructor(deps: AgentTaskDeps, order: AgentTaskOrder) {
    this.#deps = deps
    this.#order = order
    this.#follower = new ParentFollower(deps, { task: order.task, signal: this.#stop.signal })
    this.#running = this.#run()
  }

  /** What others may take, once it is open; undefined when it is not to be had. */
  async holding(): Promise<Holding | undefined> {
    await this.#opened.promise
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
    this.#opened.resolve()
    await this.#running
    await this.#part?.close({ remove: !keep })
    this.#part = undefined
  }

  /** Each place ends for itself. The first that the file can be written to takes the pieces, the others get a copy. */
  async #run(): Promise<void> {
    const places: PlaceOutcome[] = []
    for (const place of this.#order.places) {
      try {
        const { roots, allow } = this.#deps
        await allow.checkUser(place.user)
        if (this.#part) await copyToPlace(roots, this.#part, { ...this.#order, place })
        else await this.#fetchTo(place)
        places.push({ code: RESULT.DONE, message: '' })
      } catch (error) {
        if (this.#stop.signal.aborted) return
        places.push(await this.#failedAt(place, toTargetFailure(error)))
      }
    }
    this.#opened.resolve()
    this.#settle(places)
  }

  async #fetchTo(place: Place): Promise<void> {
    const part = await PartFile.open(this.#deps.roots, { ...this.#order, place })
    this.#part = part
    this.#opened.resolve()
    for (let tries = 1; ; tries++) {
      await this.#follower.fill(part)
      if (await part.recheck()) break
      this.#deps.log.warn(
        { task: this.#order.task, have: part.have },
        'pieces changed on disk; fetched again',
      )
      if (tries === MOST_TRIES) throw notKept()
    }
    await part.finish()
  }

  /** A file that is whole but may not have its name here can still be copied to the other places. */
  async #failedAt({ directory }: Place, failure: TargetFailure): Promise<PlaceOutcome> {
    const { log } = this.#deps
    log.warn({ err: failure, task: this.#order.task, directory }, 'a file could not be put here')
    const part = this.#part
    if (part && !part.isWhole) {
      this.#part = undefined
      await part.close({ remove: true }).catch((error) => log.warn(messageOf(error)))
    }
    return { code: failure.code, message: failure.message }
  }

  #settle(places: PlaceOutcome[]): void {
    const best = places.find(({ code }) => code === RESULT.DONE) ?? places[0]
    this.#outcome = { ...(best ?? { code: RESULT.PATH_REFUSED, message: 'no place was named' }), places }
    this.repeatOutcome()
  }
}
