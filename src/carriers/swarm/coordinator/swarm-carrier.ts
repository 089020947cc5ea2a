import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Bus } from '../../../jobs/index.ts'
import {
  AppError,
  background,
  type Clock,
  DutyLoop,
  ERRORS,
  isAppError,
  type Log,
  messageOf,
  newId,
  outageOf,
  swarms,
} from '../../../kernel/index.ts'
import type { Tx } from '../../../ledger/index.ts'
import type { Carrier, TransferOrder, TransferResult, TransferTarget } from '../../carrier.ts'
import type { AgentIdentities } from '../identity/agent-identities.ts'
import type { SwarmAuthority } from '../identity/authority.ts'
import { Distrust } from '../identity/distrust.ts'
import { PieceServer, RateLimit } from '../pieces/index.ts'
import {
  type AgentName,
  agentPeerId,
  enrollmentToken,
  type FromAgent,
  Manifest,
  makeManifest,
  type PeerAddress,
  PING_MS,
  REPORT_MS,
  RESULT,
  serverPeerId,
} from '../wire/index.ts'
import { AgentDirectory, type KnownAgent } from './agent-directory.ts'
import { AgentHub, type Refuse } from './agent-hub.ts'
import type { Pace } from './message-pace.ts'
import { Relay, type RelayOptions } from './relay/relay.ts'
import { resultsOf } from './results-of.ts'
import { SourceFile } from './source-file.ts'
import type { EnrolledAgent, SwarmAgent, SwarmStore, SwarmTask } from './swarm-store.ts'
import { targetsOf } from './targets-of.ts'

export interface SwarmCarrierDeps {
  store: SwarmStore
  authority: SwarmAuthority
  bus: Bus
  /** This instance's id. */
  instance: string
  identities: AgentIdentities
  clock: Clock
  log: Log
  /** The file of a task that another instance began; its local path when missing. */
  locate?(task: { id: string; localPath: string; sha256: string }, signal: AbortSignal): Promise<string>
}

export interface SwarmCarrierOptions extends RelayOptions {
  /** Where agents fetch pieces from this server; port 0 picks a free one. */
  host: string
  port?: number
  /** The host that agents are told; null: the one that they know, and `host` for agents of other instances. */
  advertiseHost?: string | null
  /** Bytes a second out of this server; null: no limit. */
  uploadLimit?: number | null
  keepMs?: number
  /** How fast one agent may talk. */
  agentPace?: Pace
}

interface Running {
  relay: Relay
  source: SourceFile
  deadline: number
  egress: { before: number; saved: number }
}

const DAY = 86_400_000
/** What a killed server may have sent without its being written down. */
const EGRESS_UNSAVED = 64 * 1024 * 1024

/**
 * Carries files by relay between agents. What must survive this process is in the store: an instance that is asked for a task
 * that is not over and that nobody here coordinates takes it over, with the agents' own progress as it is.
 */
export class SwarmCarrier implements Carrier {
  readonly #deps: SwarmCarrierDeps
  readonly #options: SwarmCarrierOptions
  readonly #directory: AgentDirectory
  readonly #hub: AgentHub
  readonly #pieces: PieceServer
  readonly #distrust: Distrust
  readonly #running = new Map<string, Running>()
  readonly #adopting = new Map<string, Promise<Running | undefined>>()
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
    this.#distrust = new Distrust(clock)
    this.#pieces = new PieceServer({
      credentials: authority.credentials(serverPeerId(instance)),
      find: async (task) => this.#running.get(task)?.source,
      now: () => clock.now(),
      upload: new RateLimit(clock, options.uploadLimit ?? null),
      log,
    })
    this.#directory.listen({
      changed: (key) => {
        for (const { relay } of this.#running.values()) relay.agentChanged(key)
      },
      received: (key, message) => this.#received(key, message),
      wanted: () => this.#running.size > 0,
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
      if (about === 'taken') background('dropping a task', this.#drop(String(message)))
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
    for (const [task, running] of this.#running) {
      await running.relay.save().catch(() => undefined)
      await this.#saveEgress(task, running, 0).catch(() => undefined)
    }
    for (const task of [...this.#running.keys()]) await this.#drop(task)
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

  async result(engineTaskId: string, signal: AbortSignal): Promise<TransferResult> {
    const running = await this.#find(engineTaskId, signal)
    if (!running) return this.#ended(engineTaskId)
    // Another instance may have taken it over: what is known here is not the last word.
    if (!(await this.#finishIfOver(engineTaskId, running))) return this.result(engineTaskId, signal)
    return { ...running.relay.result(), egress: this.#egressOf(engineTaskId, running) }
  }

  async terminate(
    engineTaskId: string,
    targets: Pick<TransferTarget, 'agentId' | 'containerId'>[],
    signal: AbortSignal,
  ): Promise<void> {
    const running = await this.#find(engineTaskId, signal)
    if (!running) return
    const keys = targets.map(({ agentId, containerId }) => agentPeerId(agentId, containerId))
    running.relay.endOpen(keys, RESULT.TERMINATED, 'the transfer was terminated')
    if (!(await this.#finishIfOver(engineTaskId, running)))
      await this.terminate(engineTaskId, targets, signal)
  }

  /** One look at every task: paces, absences, deadlines, results to keep. */
  async look(): Promise<void> {
    for (const [task, running] of this.#running) {
      running.relay.look()
      if (this.#deps.clock.now() > running.deadline)
        running.relay.endAll(RESULT.TIMED_OUT, 'the transfer took longer than it may')
      await this.#finishIfOver(task, running)
    }
  }

  async start(order: TransferOrder, signal: AbortSignal): Promise<{ engineTaskId: string }> {
    const { store } = this.#deps
    const id = newId()
    const broken = (message: string) => ({ manifest: undefined, message })
    const { manifest, message } = await makeManifest(order.localPath, signal).then(
      (made) =>
        made.sha256 === order.signature.toLowerCase()
          ? { manifest: made, message: '' }
          : broken(`the file's hash is ${made.sha256}, not ${order.signature}`),
      (error) => {
        signal.throwIfAborted()
        throwOutage(error)
        return broken(messageOf(error))
      },
    )
    const code = manifest ? RESULT.DOWNLOADING : RESULT.SOURCE_FAILED
    const task = {
      id,
      localPath: order.localPath,
      fileName: order.fileName,
      manifest: manifest?.text ?? '',
      projectId: order.projectId,
      targets: targetsOf(order.targets, { code, message }),
      coordinator: this.#deps.instance,
    }
    const timeoutMs = order.timeoutSeconds * 1000
    await store.addTask(task, timeoutMs)
    await store.sweep(this.#options.keepMs ?? DAY)
    if (manifest)
      await this.#coordinate({ ...task, deadline: 0, egress: 0 }, manifest, timeoutMs, order.localPath)
    return { engineTaskId: id }
  }

  async #find(id: string, signal: AbortSignal): Promise<Running | undefined> {
    const running = this.#running.get(id)
    if (running) return running
    const adopting =
      this.#adopting.get(id) ?? this.#adopt(id, signal).finally(() => this.#adopting.delete(id))
    this.#adopting.set(id, adopting)
    return adopting
  }

  async #adopt(id: string, signal: AbortSignal): Promise<Running | undefined> {
    const { store, instance, bus: signals, locate } = this.#deps
    const task = await this.#stored(id)
    const open = task.targets.filter(({ code }) => code === RESULT.DOWNLOADING)
    if (open.length === 0) return undefined
    const manifest = new Manifest(task.manifest)
    try {
      const { localPath } = task
      const path = (await locate?.({ id, localPath, sha256: manifest.sha256 }, signal)) ?? localPath
      await store.takeTask(id, instance)
      const running = await this.#coordinate(task, manifest, task.deadline - (await store.now()), path)
      signals.publish('swarm', { from: instance, about: 'taken', message: id })
      return running
    } catch (error) {
      signal.throwIfAborted()
      // The caller asks again: a store that is away or a disk that is full for a while must not end the task.
      throwOutage(error)
      if (mayPass(error)) throw error
      const message = messageOf(error)
      await store.takeTask(id, instance)
      const failed = open.map((target) => ({ ...target, code: RESULT.SOURCE_FAILED, message }))
      await store.keepResults(id, failed, instance)
      return undefined
    }
  }

  async #coordinate(task: SwarmTask, manifest: Manifest, timeoutMs: number, path: string): Promise<Running> {
    const { authority, store, clock, log, instance } = this.#deps
    const source = await SourceFile.open(task.id, manifest, path)
    // Signals of agents elsewhere may have been lost while nobody here needed them.
    await this.#directory
      .refresh()
      .catch((error) => log.warn({ err: error }, 'agents elsewhere are not known'))
    const sourceAddress = (agent: KnownAgent) => this.#sourceAddress(agent)
    const { depth, maxChains, absentMs } = this.#options
    const options = {
      ...(depth !== undefined && { depth }),
      ...(maxChains !== undefined && { maxChains }),
      ...(absentMs !== undefined && { absentMs }),
    }
    const servedBySource = () =>
      this.#pieces.feedsOf(task.id).map(({ child: id, waiting }) => ({ id, waiting }))
    const deps = {
      instance,
      directory: this.#directory,
      authority,
      store,
      source,
      servedBySource,
      sourceAddress,
      clock,
      log,
    }
    const relay = new Relay({ ...deps, distrusted: this.#distrust }, task, options)
    const egress = { before: task.egress, saved: task.egress }
    const running = { relay, source, deadline: clock.now() + timeoutMs, egress }
    this.#running.set(task.id, running)
    return running
  }

  /** False if the task turned out to be another instance's. */
  async #finishIfOver(id: string, running: Running): Promise<boolean> {
    if (!(await running.relay.save())) {
      await this.#drop(id, running)
      return false
    }
    await this.#saveEgress(id, running, running.relay.isOver ? 0 : EGRESS_UNSAVED)
    if (!running.relay.isOver || this.#running.get(id) !== running) return true
    running.relay.release()
    await this.#drop(id)
    return true
  }

  /** What messages of other instances would have told, if none were lost. Without agents and tasks it asks nothing. */
  async #learn(): Promise<void> {
    await this.#dropTaken()
    await this.#directory.runOnce()
    if (this.#hub.size > 0 || this.#running.size > 0) await this.#hub.learnRevoked()
  }

  /** Another instance may have taken a task over. */
  async #dropTaken(): Promise<void> {
    const running = [...this.#running]
    if (running.length === 0) return
    const ids = running.map(([id]) => id)
    const ours = await this.#deps.store.coordinatedBy(this.#deps.instance, ids)
    for (const [id, taken] of running) if (!ours.has(id)) await this.#drop(id, taken)
  }

  /** `only`: unless it has been taken up again meanwhile. */
  async #drop(id: string, only?: Running): Promise<void> {
    const running = this.#running.get(id)
    if (only && running !== only) return
    this.#running.delete(id)
    this.#pieces.forget(id)
    await running?.source.close()
  }

  /** What was saved counts too: a task that is over has been forgotten by the piece server. */
  #egressOf(id: string, { egress }: Running): number {
    return Math.max(egress.saved, egress.before + this.#pieces.bytesSentFor(id))
  }

  async #saveEgress(id: string, running: Running, unsaved: number): Promise<void> {
    const bytes = this.#egressOf(id, running)
    if (bytes - running.egress.saved <= unsaved) return
    await this.#deps.store.keepEgress(id, bytes)
    running.egress.saved = bytes
  }

  async #ended(id: string): Promise<TransferResult> {
    const { targets, egress } = await this.#stored(id)
    const failed = targets.find(({ code }) => code === RESULT.SOURCE_FAILED)
    return {
      uploadError: failed ? { code: failed.code, message: failed.message } : null,
      targets: targets.flatMap((target) => resultsOf(target, 0)),
      egress,
    }
  }

  async #stored(id: string): Promise<SwarmTask> {
    const task = await this.#deps.store.task(id)
    if (task) return task
    throw new AppError(ERRORS.TASK_NOT_FOUND, `the swarm has no task ${id}`, { retryable: false })
  }

  #received(key: string, message: FromAgent): boolean {
    if (message.type === 'hello' || message.type === 'enroll') return true
    const task = message.type === 'report' ? message.tasks[0]?.task : message.task
    const running = task === undefined ? undefined : this.#running.get(task)
    if (running && task !== undefined) {
      running.relay.receive(key, message)
      if (running.relay.isOver) background('saving the end of a task', this.#finishIfOver(task, running))
    }
    return running !== undefined
  }

  #sourceAddress({ serverHost }: KnownAgent): PeerAddress {
    const { host, advertiseHost } = this.#options
    // An agent that came through a load balancer does not reach this server under the host that it knows.
    const told = advertiseHost ?? (serverHost === null ? host : null)
    return { id: serverPeerId(this.#deps.instance), host: told, port: this.#pieces.port }
  }
}

function throwOutage(error: unknown): void {
  const outage = outageOf(error)
  if (outage) throw outage
}

function mayPass(error: unknown): boolean {
  return isAppError(error) && error.retryable && !isAppError(error, ERRORS.ARTIFACT_NOT_FOUND)
}
