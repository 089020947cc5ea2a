import type { Bus } from '../../../jobs/index.ts'
import { bestEffort, type Log } from '../../../kernel/index.ts'
import { agentPeerId, type Carried, type FromAgent, isCarried, type PeerId, PING_MS } from '../wire/index.ts'
import { isAgentMessage } from './read-agent-message.ts'
import type { SwarmAgent, SwarmStore } from './swarm-store.ts'

export interface KnownAgent {
  key: string
  peer: PeerId
  host: string
  port: number
  instance: string
  /** The address of this server that the agent uses; null: it is connected to another instance. */
  serverHost: string | null
}

export interface AgentDirectoryDeps {
  store: SwarmStore
  bus: Bus
  instance: string
  log: Log
}

export interface AgentListener {
  changed(key: string): void
  /** True if somebody here coordinates what the message is about. */
  received(key: string, message: FromAgent): boolean
  /** True while somebody here needs to know agents of other instances. */
  wanted(): boolean
}

type NewAgent = Omit<SwarmAgent, 'instance' | 'connectedAt' | 'seenAt'>

type Bulletin =
  | { kind: 'present'; agent: Omit<KnownAgent, 'serverHost'> }
  | { kind: 'absent'; key: string; instance: string }
  | { kind: 'to'; key: string; message: Carried }
  | { kind: 'of'; key: string; message: FromAgent }

/** Seen within this time: connected. */
const PRESENT_MS = 4 * PING_MS

/**
 * All agents, wherever they are connected, and a way to each. An agent's line ends at one instance, while the task that
 * needs it may be coordinated by another: then messages travel as signals, which may be lost, and are said again.
 */
export class AgentDirectory {
  readonly #deps: AgentDirectoryDeps
  readonly #agents = new Map<string, KnownAgent>()
  /** Those whose line ends here. */
  readonly #ours = new Map<string, NewAgent>()
  /** Tasks that agents of ours report on and nobody here coordinates, since the last look. */
  #elsewhere = new Map<string, Set<string>>()
  #send: (key: string, message: Carried) => boolean = () => false
  #listener: AgentListener = { changed: () => undefined, received: () => false, wanted: () => false }
  #unsubscribe: (() => void) | undefined

  constructor(deps: AgentDirectoryDeps) {
    this.#deps = deps
  }

  onSend(send: (key: string, message: Carried) => boolean): void {
    this.#send = send
  }

  listen(listener: AgentListener): void {
    this.#listener = listener
  }

  async start(): Promise<void> {
    this.#unsubscribe = this.#deps.bus.subscribe('swarm', ({ from, about, message }) => {
      if (from !== this.#deps.instance && about === 'agents') this.#carried(message)
    })
    await this.refresh()
  }

  /** Our agents will look for another server. */
  async stop(): Promise<void> {
    this.#unsubscribe?.()
    await this.#deps.store.agentsGone(this.#deps.instance)
  }

  find(key: string): KnownAgent | undefined {
    return this.#agents.get(key)
  }

  send(key: string, message: Carried): void {
    if (!this.#send(key, message)) this.#tell({ kind: 'to', key, message })
  }

  /** Who is connected, for people. */
  list(): Promise<SwarmAgent[]> {
    return this.#deps.store.agents(PRESENT_MS)
  }

  connected(agent: NewAgent, serverHost: string): void {
    const { instance } = this.#deps
    const known = describe(agent, instance)
    this.#ours.set(known.key, agent)
    this.#agents.set(known.key, { ...known, serverHost })
    this.#note(this.#deps.store.agentConnected({ ...agent, instance }))
    this.#tell({ kind: 'present', agent: known })
    this.#listener.changed(known.key)
  }

  gone({ agentId, containerId }: { agentId: string; containerId: string }): void {
    const { instance } = this.#deps
    const key = agentPeerId(agentId, containerId)
    this.#ours.delete(key)
    this.#note(this.#deps.store.agentGone({ agentId, containerId, instance }))
    this.#tell({ kind: 'absent', key, instance })
    this.#absent(key, instance)
  }

  received(key: string, message: FromAgent): void {
    for (const part of byTask(message)) {
      if (this.#listener.received(key, part)) continue
      this.#tell({ kind: 'of', key, message: part })
      if (part.type === 'report') for (const { task } of part.tasks) this.#noteElsewhere(task, key)
    }
  }

  /** Confirms that ours are connected, and reads what lost signals would have said. Without agents or tasks it asks nothing. */
  async runOnce(): Promise<void> {
    if (this.#ours.size > 0) await this.#noteOurs()
    await this.#endForgotten()
    if (this.#listener.wanted()) await this.refresh()
  }

  /** Reads who is connected, to any instance. */
  async refresh(): Promise<void> {
    const { store, instance } = this.#deps
    const present = new Map(
      (await store.agents(PRESENT_MS)).map((agent) => [agentPeerId(agent.agentId, agent.containerId), agent]),
    )
    for (const [key, agent] of present) {
      const known = this.#agents.get(key)
      if (agent.instance === instance) continue
      if (known && isSame(known, agent)) continue
      this.#agents.set(key, { ...describe(agent, agent.instance), serverHost: null })
      this.#listener.changed(key)
    }
    for (const [key, known] of this.#agents)
      if (known.instance !== instance && !present.has(key)) this.#absent(key, known.instance)
  }

  /** The ledger may have been away when an agent came or went. */
  async #noteOurs(): Promise<void> {
    const { store, instance } = this.#deps
    const noted = await store.agentsSeen(instance)
    const keys = new Set<string>()
    for (const { agentId, containerId } of noted) {
      const key = agentPeerId(agentId, containerId)
      keys.add(key)
      if (!this.#ours.has(key)) await store.agentGone({ agentId, containerId, instance })
    }
    for (const [key, agent] of this.#ours)
      if (!keys.has(key)) await store.agentConnected({ ...agent, instance })
  }

  #noteElsewhere(task: string, key: string): void {
    const keys = this.#elsewhere.get(task)
    if (keys) keys.add(key)
    else this.#elsewhere.set(task, new Set([key]))
  }

  /** Agents go on with a task until a message says that it is over, and its coordinator may be gone. */
  async #endForgotten(): Promise<void> {
    const reported = this.#elsewhere
    if (reported.size === 0) return
    this.#elsewhere = new Map()
    const open = await this.#deps.store.openTasks([...reported.keys()])
    for (const [task, keys] of reported)
      if (!open.has(task)) for (const key of keys) this.#send(key, { type: 'end', task })
  }

  #carried(message: unknown): void {
    if (!isBulletin(message)) return
    const carried = message
    switch (carried.kind) {
      case 'present':
        this.#agents.set(carried.agent.key, { ...carried.agent, serverHost: null })
        this.#listener.changed(carried.agent.key)
        return
      case 'absent':
        this.#absent(carried.key, carried.instance)
        return
      case 'to':
        // Who an agent believes is between it and the instance that it is connected to.
        if (isCarried(carried.message)) this.#send(carried.key, carried.message)
        return
      case 'of':
        this.#listener.received(carried.key, carried.message)
        return
    }
  }

  #absent(key: string, instance: string): void {
    if (this.#agents.get(key)?.instance !== instance) return
    this.#agents.delete(key)
    this.#listener.changed(key)
  }

  #tell(message: Bulletin): void {
    this.#deps.bus.publish('swarm', { from: this.#deps.instance, about: 'agents', message })
  }

  #note(written: Promise<void>): void {
    bestEffort(written, (err) => this.#deps.log.warn({ err }, 'an agent was not noted in the ledger'))
  }
}

function describe(
  { agentId, containerId, host, port }: Pick<SwarmAgent, 'agentId' | 'containerId' | 'host' | 'port'>,
  instance: string,
): Omit<KnownAgent, 'serverHost'> {
  return {
    key: agentPeerId(agentId, containerId),
    peer: agentPeerId(agentId, containerId),
    host,
    port,
    instance,
  }
}

/** Connected as before: at the same instance, and reached by others at the same address. */
function isSame(known: KnownAgent, { instance, host, port }: SwarmAgent): boolean {
  return known.instance === instance && known.host === host && known.port === port
}

/** An instance of another version may say more, or something else. What agents said was checked where their lines end. */
function isBulletin(message: unknown): message is Bulletin {
  if (!isRecord(message)) return false
  const { kind, key, instance, agent, message: said } = message
  if (kind === 'present')
    return (
      isRecord(agent) &&
      [agent.key, agent.peer, agent.host, agent.instance].every(isText) &&
      Number.isInteger(agent.port)
    )
  if (kind === 'absent') return isText(key) && isText(instance)
  if (kind === 'to') return isText(key) && isRecord(said)
  return kind === 'of' && isText(key) && isAgentMessage(said)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** One report may have tasks that different instances coordinate. */
function byTask(message: FromAgent): FromAgent[] {
  if (message.type !== 'report') return [message]
  return message.tasks.map((task) => ({ type: 'report', tasks: [task] }))
}
