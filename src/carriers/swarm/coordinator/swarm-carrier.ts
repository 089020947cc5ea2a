import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { background, DutyLoop, swarms } from '../../../kernel/index.ts'
import type { Tx } from '../../../ledger/index.ts'
import type { Carrier, TransferOrder, TransferResult, TransferTarget } from '../../carrier.ts'
import type { AgentIdentities } from '../identity/agent-identities.ts'
import { PieceServer, RateLimit } from '../pieces/index.ts'
import { type AgentName, enrollmentToken, PING_MS, REPORT_MS, serverPeerId } from '../wire/index.ts'
import { AgentDirectory } from './agent-directory.ts'
import { AgentHub, type Refuse } from './agent-hub.ts'
import type { Pace } from './message-pace.ts'
import type { EnrolledAgent, SwarmAgent } from './swarm-store.ts'
import { SwarmTasks, type SwarmTasksDeps, type SwarmTasksOptions } from './swarm-tasks.ts'

export interface SwarmCarrierDeps extends Omit<SwarmTasksDeps, 'directory' | 'pieces'> {
  identities: AgentIdentities
}

export interface SwarmCarrierOptions extends SwarmTasksOptions {
  /** Where agents fetch pieces from this server; 0 picks a free one. */
  port?: number
  /** Bytes per second out of this server; null: no limit. */
  uploadLimit?: number | null
  /** How fast one agent may talk. */
  agentPace?: Pace
}

/** Carries files by relay between agents: who may connect, who is connected, and the pieces that this server sends. */
export class SwarmCarrier implements Carrier {
  readonly #deps: SwarmCarrierDeps
  readonly #options: SwarmCarrierOptions
  readonly #directory: AgentDirectory
  readonly #hub: AgentHub
  readonly #pieces: PieceServer
  readonly #tasks: SwarmTasks
  readonly #looking: DutyLoop
  readonly #learning: DutyLoop
  #unsubscribe: (() => void) | undefined
  #unwatch: (() => void) | undefined

  constructor(deps: SwarmCarrierDeps, options: SwarmCarrierOptions) {
    const { store, bus, instance, authority, clock, log } = deps
    this.#deps = deps
    this.#options = options
    this.#directory = new AgentDirectory({ store, bus, instance, log })
    this.#hub = new AgentHub({
      authority,
      directory: this.#directory,
      clock,
      log,
      identities: deps.identities,
      ...(options.agentPace && { pace: options.agentPace }),
      revoked: (keys) => this.#pieces.revoke(keys),
    })
    this.#pieces = new PieceServer({
      credentials: authority.credentials(serverPeerId(instance)),
      find: async (task) => this.#tasks.source(task),
      now: () => clock.now(),
      upload: new RateLimit(clock, options.uploadLimit ?? null),
      log,
    })
    this.#tasks = new SwarmTasks({ ...deps, directory: this.#directory, pieces: this.#pieces }, options)
    this.#directory.listen({
      changed: (key) => this.#tasks.agentChanged(key),
      received: (key, message) => this.#tasks.receive(key, message),
      wanted: () => this.#tasks.size > 0,
    })
    const look = { name: 'swarm look', runOnce: () => this.look() }
    this.#looking = new DutyLoop(look, { clock, log }, { everyMs: REPORT_MS, jitter: 0 })
    const learn = { name: 'swarm ledger', runOnce: () => this.#learn() }
    this.#learning = new DutyLoop(learn, { clock, log }, { everyMs: PING_MS })
  }

  /** Lets agents in. */
  async open(): Promise<void> {
    await this.#pieces.listen(this.#options.host, this.#options.port ?? 0)
    this.#unsubscribe = this.#deps.bus.subscribe('swarm', ({ from, about, message }) => {
      if (from === this.#deps.instance) return
      if (about === 'taken') background('dropping a task', this.#tasks.drop(String(message)))
      if (about === 'revoked' && Array.isArray(message)) this.#hub.revoke(message.map(String))
    })
    await this.#directory.start()
    await this.#hub.start()
    this.#unwatch = swarms.watch(() => ({ agents: this.#hub.size, egress: this.#pieces.bytesSent }))
    this.#looking.start()
    this.#learning.start()
  }

  /** Agents look for another server; tasks go on here until `close`. */
  disconnect(): Promise<void> {
    return this.#hub.disconnect()
  }

  /** Lets go of everything; tasks stay in the store, and agents go on among themselves. */
  async close(): Promise<void> {
    this.#unsubscribe?.()
    this.#unwatch?.()
    await Promise.all([this.#looking.stop(), this.#learning.stop()])
    this.#hub.stop()
    await this.#directory.stop()
    await this.#tasks.close()
    await this.#pieces.close()
  }

  /** `GET /ws/agent`, see `AGENT_SOCKET_PATH`. */
  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer, refuse?: Refuse): void =>
    this.#hub.upgrade(request, socket, head, refuse)

  /** What `wharf agent --enroll` takes, once. */
  async invite(tx: Tx, name: AgentName): Promise<{ token: string; expiresAt: number }> {
    const { identities, authority } = this.#deps
    const { secret, expiresAt } = await identities.invite(tx, name)
    return { token: enrollmentToken(secret, authority.trust), expiresAt }
  }

  /** Ends what the agent may do, at once and everywhere. False if it was not enrolled. */
  async revoke(tx: Tx, name: AgentName): Promise<boolean> {
    const { identities, bus, instance } = this.#deps
    const keys = await identities.revoke(tx, name)
    tx.afterCommit(() => {
      this.#hub.revoke(keys)
      bus.publish('swarm', { from: instance, about: 'revoked', message: keys })
    })
    return keys.length > 0
  }

  /** Who is connected, to any instance. */
  agents(): Promise<SwarmAgent[]> {
    return this.#directory.list()
  }

  /** Who may connect. */
  enrolled(): Promise<EnrolledAgent[]> {
    return this.#deps.store.enrolled()
  }

  /** Bytes that left this server for agents. */
  get egress(): { pieces: number; control: number } {
    return { pieces: this.#pieces.bytesSent, control: this.#hub.bytesSent }
  }

  start(order: TransferOrder, signal: AbortSignal): Promise<{ engineTaskId: string }> {
    return this.#tasks.start(order, signal)
  }

  result(engineTaskId: string, signal: AbortSignal): Promise<TransferResult> {
    return this.#tasks.result(engineTaskId, signal)
  }

  terminate(
    engineTaskId: string,
    targets: Pick<TransferTarget, 'agentId' | 'containerId'>[],
    signal: AbortSignal,
  ): Promise<void> {
    return this.#tasks.terminate(engineTaskId, targets, signal)
  }

  /** One look at every task: paces, absences, deadlines, results to keep. */
  look(): Promise<void> {
    return this.#tasks.look()
  }

  /** Reads what lost messages of other instances would have said. Without agents and tasks it asks nothing. */
  async #learn(): Promise<void> {
    await this.#tasks.dropTaken()
    await this.#directory.runOnce()
    if (this.#hub.size > 0 || this.#tasks.size > 0) await this.#hub.learnRevoked()
  }
}
