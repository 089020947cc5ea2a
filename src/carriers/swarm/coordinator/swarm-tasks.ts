import type { Bus } from '../../../jobs/index.ts'
import {
  AppError,
  background,
  type Clock,
  ERRORS,
  isAppError,
  type Log,
  messageOf,
  newId,
  outageOf,
} from '../../../kernel/index.ts'
import type { TransferOrder, TransferResult, TransferTarget } from '../../carrier.ts'
import type { SwarmAuthority } from '../identity/authority.ts'
import type { PieceServer } from '../pieces/index.ts'
import {
  agentPeerId,
  type FromAgent,
  Manifest,
  makeManifest,
  type PeerAddress,
  type PeerId,
  RESULT,
  serverPeerId,
} from '../wire/index.ts'
import type { AgentDirectory, KnownAgent } from './agent-directory.ts'
import { Relay, type RelayOptions } from './relay/index.ts'
import { resultsOf } from './results-of.ts'
import { SourceFile } from './source-file.ts'
import type { SwarmStore, SwarmTarget, SwarmTask } from './swarm-store.ts'

export interface SwarmTasksDeps {
  store: SwarmStore
  authority: SwarmAuthority
  directory: AgentDirectory
  pieces: PieceServer
  bus: Bus
  /** This instance's id. */
  instance: string
  clock: Clock
  log: Log
  /** The file of a task that another instance began; its local path when missing. */
  locate?(task: { id: string; localPath: string; sha256: string }, signal: AbortSignal): Promise<string>
}

export interface SwarmTasksOptions extends RelayOptions {
  /** Where agents fetch pieces from this server. */
  host: string
  /** The host that agents connect to; null: the one that they know, and `host` for agents of other instances. */
  advertiseHost?: string | null
  keepMs?: number
}

interface Running {
  relay: Relay
  source: SourceFile
  deadline: number
  egress: { before: number; saved: number }
}

const DAY = 86_400_000
const DISTRUST_MS = 3_600_000
/** What a killed server may have sent without its being written down. */
const EGRESS_UNSAVED = 64 * 1024 * 1024

/**
 * The tasks that this instance coordinates. What must survive this process is in the store: an instance that is asked for a
 * task that is not over and that nobody here coordinates takes it over, with the agents' own progress as it is.
 */
export class SwarmTasks {
  readonly #deps: SwarmTasksDeps
  readonly #options: SwarmTasksOptions
  readonly #distrust: Distrust
  readonly #running = new Map<string, Running>()
  readonly #adopting = new Map<string, Promise<Running | undefined>>()

  constructor(deps: SwarmTasksDeps, options: SwarmTasksOptions) {
    this.#deps = deps
    this.#options = options
    this.#distrust = new Distrust(deps.clock)
  }

  get size(): number {
    return this.#running.size
  }

  /** The file of a task that is coordinated here. */
  source(task: string): SourceFile | undefined {
    return this.#running.get(task)?.source
  }

  agentChanged(key: string): void {
    for (const { relay } of this.#running.values()) relay.agentChanged(key)
  }

  /** Lets go of all tasks; they stay in the store, and agents go on among themselves. */
  async close(): Promise<void> {
    for (const [task, running] of this.#running) {
      await running.relay.save().catch(() => undefined)
      await this.#saveEgress(task, running, 0).catch(() => undefined)
    }
    for (const task of [...this.#running.keys()]) await this.drop(task)
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
      // Without the ledger nobody knows why; the others go on, and the next look asks again.
      await running.relay
        .endLost()
        .catch((err) => this.#deps.log.warn({ err, task }, 'lost targets were not ended yet'))
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
    const { store, instance, bus, locate } = this.#deps
    const task = await this.#stored(id)
    const open = task.targets.filter(({ code }) => code === RESULT.DOWNLOADING)
    if (open.length === 0) return undefined
    const manifest = new Manifest(task.manifest)
    try {
      const { localPath } = task
      const path = (await locate?.({ id, localPath, sha256: manifest.sha256 }, signal)) ?? localPath
      await store.takeTask(id, instance)
      const running = await this.#coordinate(task, manifest, task.deadline - (await store.now()), path)
      bus.publish('swarm', { from: instance, about: 'taken', message: id })
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
    const { authority, directory, pieces, store, clock, log, instance } = this.#deps
    const source = await SourceFile.open(task.id, manifest, path)
    // Signals of agents elsewhere may have been lost while nobody here needed them.
    await directory.refresh().catch((error) => log.warn({ err: error }, 'agents elsewhere are not known'))
    const sourceAddress = (agent: KnownAgent) => this.#sourceAddress(agent)
    const { depth, maxChains, absentMs } = this.#options
    const options = {
      ...(depth !== undefined && { depth }),
      ...(maxChains !== undefined && { maxChains }),
      ...(absentMs !== undefined && { absentMs }),
    }
    const servedBySource = () => pieces.feedsOf(task.id).map(({ child: id, waiting }) => ({ id, waiting }))
    const deps = {
      instance,
      directory,
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
      await this.drop(id, running)
      return false
    }
    await this.#saveEgress(id, running, running.relay.isOver ? 0 : EGRESS_UNSAVED)
    if (!running.relay.isOver || this.#running.get(id) !== running) return true
    running.relay.release()
    await this.drop(id)
    return true
  }

  /** Another instance may have taken a task over. */
  async dropTaken(): Promise<void> {
    const running = [...this.#running]
    if (running.length === 0) return
    const ids = running.map(([id]) => id)
    const ours = await this.#deps.store.coordinatedBy(this.#deps.instance, ids)
    for (const [id, taken] of running) if (!ours.has(id)) await this.drop(id, taken)
  }

  /** `only`: unless it has been taken up again meanwhile. */
  async drop(id: string, only?: Running): Promise<void> {
    const running = this.#running.get(id)
    if (only && running !== only) return
    this.#running.delete(id)
    this.#deps.pieces.forget(id)
    await running?.source.close()
  }

  /** What was saved counts too: a task that is over has been forgotten by the piece server. */
  #egressOf(id: string, { egress }: Running): number {
    return Math.max(egress.saved, egress.before + this.#deps.pieces.bytesSentFor(id))
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

  /** A message of an agent; false if it is about a task that nobody here coordinates. */
  receive(key: string, message: FromAgent): boolean {
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
    return { id: serverPeerId(this.#deps.instance), host: told, port: this.#deps.pieces.port }
  }
}

/** One entry per agent, however many users and directories get the file there. */
function targetsOf(
  targets: readonly TransferTarget[],
  { code, message }: { code: number; message: string },
): SwarmTarget[] {
  const byKey = new Map<string, SwarmTarget>()
  for (const { agentId, containerId, user, directory } of targets) {
    const key = agentPeerId(agentId, containerId)
    const target = byKey.get(key) ?? { key, agentId, containerId, places: [], code, message }
    const isNew = !target.places.some((place) => place.user === user && place.directory === directory)
    if (isNew) target.places.push({ user, directory })
    byKey.set(key, target)
  }
  return [...byKey.values()]
}

/** Peers that sent bad bytes: for an hour they get files like everyone, but nobody takes from them. */
class Distrust {
  readonly #clock: Clock
  readonly #until = new Map<PeerId, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(peer: PeerId): void {
    this.#until.set(peer, this.#clock.now() + DISTRUST_MS)
  }

  has(peer: PeerId): boolean {
    const until = this.#until.get(peer)
    if (until !== undefined && until <= this.#clock.now()) this.#until.delete(peer)
    return this.#until.has(peer)
  }
}

function throwOutage(error: unknown): void {
  const outage = outageOf(error)
  if (outage) throw outage
}

function mayPass(error: unknown): boolean {
  return isAppError(error) && error.retryable && !isAppError(error, ERRORS.ARTIFACT_NOT_FOUND)
}
