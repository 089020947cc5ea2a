import { background, type Clock, type Log } from '../../../../kernel/index.ts'
import type { TransferResult } from '../../../carrier.ts'
import type { SwarmAuthority } from '../../identity/authority.ts'
import {
  type ChildState,
  type FromAgent,
  manifestHash,
  type PeerAddress,
  type PeerId,
  type PlaceOutcome,
  REPORT_MS,
  RESULT,
  type TaskReport,
} from '../../wire/index.ts'
import type { AgentDirectory, KnownAgent } from '../agent-directory.ts'
import { Complaints } from '../complaints.ts'
import type { SourceFile } from '../source-file.ts'
import type { SwarmStore, SwarmTask } from '../swarm-store.ts'
import { HeadProbe } from './head-probe.ts'
import { PaceWatch } from './pace-watch.ts'
import { RelayPlan, type RelayPlanOptions, SOURCE } from './relay-plan.ts'
import { Reminders } from './reminders.ts'
import { TargetBoard } from './target-board.ts'

export interface RelayDeps {
  /** This instance's id. */
  instance: string
  directory: AgentDirectory
  authority: SwarmAuthority
  store: SwarmStore
  source: SourceFile
  /** The agents that take from the source now, and how many pieces each of them still waits for. */
  servedBySource(): ChildState[]
  /** The source as an agent reaches it. */
  sourceAddress(agent: KnownAgent): PeerAddress
  /** Peers that lied in an earlier task. */
  distrusted: { has(peer: PeerId): boolean; add(peer: PeerId): void }
  clock: Clock
  log: Log
}

export interface RelayOptions extends RelayPlanOptions {
  /** How long an agent that is away may come back. */
  absentMs?: number
}

/** If more than this part were slow, it would be the fastest that is the exception. */
const MOST_SLOW = 1 / 4

/** An agent that was silent and speaks again may feed others again after this time. */
const BACK_AFTER_MS = 2_000
/** So many complaints about the source itself without one more piece: the agent cannot reach it. */
const STUCK_TIMES = 12

/**
 * Coordinates one task: says who takes from whom, watches every pace, and re-hangs around agents that are gone, frozen, slow
 * or lying. Data never passes through here; the source is one more peer.
 */
export class Relay {
  readonly #deps: RelayDeps
  readonly #task: SwarmTask
  readonly #manifestHash: string
  readonly #absentMs: number
  readonly #board: TargetBoard
  readonly #plan: RelayPlan
  readonly #watch = new PaceWatch()
  readonly #probe = new HeadProbe()
  readonly #complaints = new Complaints()
  readonly #reminders = new Reminders()
  readonly #keys = new Map<PeerId, string>()
  /** Whose child was found slow first, by parent: a second one shows that the parent is. */
  readonly #slowUnder = new Map<PeerId, PeerId>()
  /** Leaves only because they said nothing, and since when. */
  readonly #silent = new Map<PeerId, number>()
  readonly #stuckAtSource = new Map<PeerId, { have: number; times: number }>()
  #checkingSource = false
  #tooSlow = 0

  constructor(deps: RelayDeps, task: SwarmTask, { absentMs = 60_000, ...plan }: RelayOptions = {}) {
    this.#deps = deps
    this.#task = task
    this.#manifestHash = manifestHash(task.manifest)
    this.#absentMs = absentMs
    this.#plan = new RelayPlan(plan)
    this.#board = new TargetBoard(task.targets, deps.source.manifest.pieces, deps.clock.now())
    const here = this.#board.open
      .map((key) => deps.directory.find(key))
      .filter((agent) => agent !== undefined)
    this.#plan.addAll(here.map((agent) => agent.peer))
    for (const agent of here) this.#takeIn(agent)
    this.#apply()
  }

  get isOver(): boolean {
    return this.#board.isOver
  }

  result(): TransferResult {
    const targets = this.#board.results()
    const failed = targets.find(({ errorCode }) => errorCode === RESULT.SOURCE_FAILED)
    return {
      uploadError: failed ? { code: failed.errorCode, message: failed.errorMessage } : null,
      targets,
    }
  }

  /** Writes down what has ended since the last time. False if another instance coordinates the task by now. */
  async save(): Promise<boolean> {
    const results = this.#board.takeUnsaved()
    try {
      return await this.#deps.store.keepResults(this.#task.id, results, this.#deps.instance)
    } catch (error) {
      this.#board.putBack(results)
      throw error
    }
  }

  /** An agent came, went, or came back. */
  agentChanged(key: string): void {
    const target = this.#board.target(key)
    if (!target) return
    const agent = this.#deps.directory.find(key)
    if (agent && this.#board.isOpen(key)) {
      this.#plan.add(agent.peer)
      this.#takeIn(agent)
    } else if (!agent) {
      for (const [peer, owner] of this.#keys) if (owner === key) this.#leave(peer)
      this.#board.absent(key, this.#deps.clock.now())
    }
    this.#apply()
  }

  receive(key: string, message: FromAgent): void {
    const agent = this.#deps.directory.find(key)
    if (!agent) return
    if (!this.#keys.has(agent.peer)) {
      this.#endAgain(key)
      return
    }
    if (message.type === 'report') for (const report of message.tasks) this.#reported(agent, report)
    else if (message.type === 'done') this.#done(agent, message)
    else if (message.type === 'orphan') this.#orphaned(agent, message)
    else if (message.type === 'probed') this.#probed(agent, message)
    this.#apply()
  }

  /** Ends the targets whose agents did not come, each with the reason. They were waited for: one may be enrolled meanwhile. */
  async endLost(): Promise<void> {
    const lost = new Set(this.#lost())
    if (lost.size === 0) return
    const standing = await this.#deps.store.standing(this.#task.targets.filter(({ key }) => lost.has(key)))
    // Those that came meanwhile go on.
    for (const key of this.#lost())
      if (lost.has(key)) this.#end(key, { code: RESULT.AGENT_LOST, message: whyLost(standing.get(key)) })
    this.#apply()
  }

  #lost(): string[] {
    return this.#board.lost(this.#deps.clock.now(), this.#absentMs)
  }

  /** One look at everybody; something else says when. */
  look(): void {
    const now = this.#deps.clock.now()
    const { pieces } = this.#deps.source.manifest
    for (const { id, waiting } of this.#deps.servedBySource()) this.#watch.arrived(id, now, pieces - waiting)
    this.#watch.looked(now, REPORT_MS)
    this.#goAroundSilent(now)
    this.#findBottleneck(now)
    this.#probeHeads(now)
    this.#apply()
    this.#remind(now)
  }

  endOpen(keys: readonly string[], code: number, message: string): void {
    for (const key of keys) this.#end(key, { code, message })
    this.#apply()
  }

  endAll(code: number, message: string): void {
    this.endOpen(this.#board.open, code, message)
  }

  /** Lets every agent go; those that are done stop serving. */
  release(): void {
    for (const key of this.#keys.values())
      this.#deps.directory.send(key, { type: 'end', task: this.#task.id })
  }

  #takeIn(agent: KnownAgent): void {
    this.#keys.set(agent.peer, agent.key)
    this.#board.present(agent.key)
    this.#watch.reset(agent.peer, this.#deps.clock.now())
    this.#plan.forget(agent.peer)
    if (this.#deps.distrusted.has(agent.peer)) this.#plan.setAside(agent.peer)
    this.#reminders.ordered(agent.peer, this.#deps.clock.now())
    this.#order(agent)
  }

  #order(agent: KnownAgent): void {
    const { id: task, fileName, projectId: project, manifest } = this.#task
    const places = (this.#board.target(agent.key)?.places ?? []).map(({ user, directory }) => ({
      user,
      directory,
    }))
    const order = { task, agent: agent.peer, project, fileName, places, manifest: this.#manifestHash }
    this.#deps.directory.send(agent.key, {
      type: 'job',
      task,
      manifest,
      ...this.#deps.authority.order(order),
    })
  }

  /** Says again what did not arrive; without more reason than that, nobody's pace is measured anew. */
  #remind(now: number): void {
    for (const { peer, what } of this.#reminders.due(now)) {
      const agent = this.#agent(peer)
      if (!agent || !this.#board.isOpen(agent.key)) continue
      if (what === 'order') this.#order(agent)
      this.#assign(agent, this.#plan.parentOf(peer))
    }
  }

  /** An agent goes on with a task that has ended for it: it has missed the message. */
  #endAgain(key: string): void {
    if (!this.#board.target(key) || this.#board.isOpen(key)) return
    if (this.#reminders.mustEnd(key, this.#deps.clock.now()))
      this.#deps.directory.send(key, { type: 'end', task: this.#task.id })
  }

  #leave(peer: PeerId): void {
    this.#plan.remove(peer)
    this.#reminders.forget(peer)
    this.#watch.forget(peer)
    this.#silent.delete(peer)
    this.#keys.delete(peer)
  }

  #end(key: string, outcome: PlaceOutcome & { places?: PlaceOutcome[] }): void {
    if (!this.#board.end(key, outcome)) return
    for (const [peer, owner] of this.#keys) {
      if (owner !== key) continue
      this.#reminders.forget(peer)
      if (outcome.code === RESULT.DONE) continue
      this.#leave(peer)
      this.#endAgain(key)
    }
  }

  #reported({ key, peer }: KnownAgent, report: TaskReport): void {
    const now = this.#deps.clock.now()
    this.#board.progress(key, report.have)
    this.#reminders.reported(peer, report.parent, now)
    this.#watch.report(peer, now, report.have, report.children)
  }

  #done({ key }: KnownAgent, done: Extract<FromAgent, { type: 'done' }>): void {
    if (done.code === RESULT.DONE) this.#board.progress(key, this.#deps.source.manifest.pieces)
    this.#end(key, done)
  }

  #orphaned({ key, peer }: KnownAgent, orphan: Extract<FromAgent, { type: 'orphan' }>): void {
    if (!this.#board.isOpen(key) || !this.#plan.has(peer)) return
    const parent = this.#plan.parentOf(peer)
    if (parent === SOURCE) this.#sourceBlamed(peer, orphan.reason)
    // Anything else is an answer to an assignment that has already been replaced.
    else if (parent === orphan.parent && orphan.reason === 'bad_piece') this.#lied(key, peer, parent)
    else if (parent === orphan.parent) {
      const reason = orphan.message
      this.#deps.log.info({ peer, parent, reason, task: this.#task.id }, 'a line between agents broke')
      const { blame } = this.#complaints.outOfReach(peer, parent)
      if (blame === 'line') this.#plan.hangAtSource(peer)
      else this.#plan.setAside(parent)
    }
  }

  #lied(key: string, child: PeerId, parent: PeerId): void {
    const judgement = this.#complaints.badPiece(child, parent)
    this.#deps.log.warn({ child, parent, task: this.#task.id }, `bad bytes: set aside the ${judgement.blame}`)
    if (judgement.blame === 'complainer') {
      for (const cleared of judgement.cleared) this.#plan.restore(cleared)
      const message = 'bad bytes from several peers: the trouble is here'
      this.#end(key, { code: RESULT.SIGNATURE_MISMATCH, message })
    } else {
      this.#deps.distrusted.add(parent)
      this.#plan.setAside(parent)
    }
  }

  /** A new ticket is all that can be done, unless the file itself is damaged. */
  #sourceBlamed(peer: PeerId, reason: string): void {
    this.#plan.forget(peer)
    const have = this.#watch.have(peer)
    const before = this.#stuckAtSource.get(peer)
    const times = before?.have === have ? before.times + 1 : 1
    this.#stuckAtSource.set(peer, { have, times })
    const key = this.#keys.get(peer)
    if (times >= STUCK_TIMES && key !== undefined) {
      const message = 'the agent can reach neither its peers nor the server'
      this.#end(key, { code: RESULT.NO_LINE, message })
      return
    }
    if (reason !== 'bad_piece' || this.#checkingSource) return
    this.#checkingSource = true
    background('checking the file', this.#checkSource())
  }

  async #checkSource(): Promise<void> {
    const sound = await this.#deps.source.isSound()
    this.#checkingSource = false
    if (!sound) this.endAll(RESULT.SOURCE_FAILED, 'the file on the server is damaged')
  }

  #goAroundSilent(now: number): void {
    for (const [peer, since] of this.#silent) {
      if (this.#watch.isSilent(peer, now) || now - since < BACK_AFTER_MS) continue
      this.#silent.delete(peer)
      this.#plan.restore(peer)
    }
    for (const peer of this.#plan.relays) {
      if (!this.#watch.isSilent(peer, now)) continue
      this.#deps.log.info({ peer, task: this.#task.id }, 'an agent is silent; others go around it')
      this.#silent.set(peer, now)
      this.#plan.setAside(peer)
    }
  }

  #findBottleneck(now: number): void {
    const { pieces } = this.#deps.source.manifest
    const around = {
      parentOf: (id: string) => this.#plan.parentOf(id),
      childrenOf: (id: string) => this.#plan.childrenOf(id),
      pieces,
    }
    const [slow] = this.#plan.relays.filter((peer) => this.#watch.isBottleneck(peer, now, around))
    if (slow === undefined || this.#tooSlow >= Math.max(1, this.#plan.size * MOST_SLOW)) return
    this.#tooSlow++
    const parent = this.#plan.parentOf(slow)
    const earlier = this.#slowUnder.get(parent)
    this.#deps.log.info({ slow, parent, task: this.#task.id }, 'an agent holds others up')
    if (parent === SOURCE || earlier === undefined || earlier === slow) {
      this.#slowUnder.set(parent, slow)
      this.#plan.setAside(slow)
    } else {
      this.#plan.setAside(parent)
      this.#plan.restore(earlier)
    }
  }

  #probeHeads(now: number): void {
    const { heads, relays } = this.#plan
    const { pieces } = this.#deps.source.manifest
    const standing = heads.map((id) => ({
      id,
      pace: this.#watch.pace(id),
      left: pieces - this.#watch.have(id),
    }))
    const first = new Set(heads)
    const probers = relays.filter((id) => !first.has(id) && !this.#watch.isSilent(id, now))
    for (const { probe, prober } of this.#probe.due(now, standing, probers)) {
      const agent = this.#agent(prober)
      if (!agent) continue
      const parent = this.#deps.sourceAddress(agent)
      const ticket = this.#ticket(parent.id, prober)
      const task = this.#task.id
      this.#deps.directory.send(agent.key, { type: 'probe', task, probe, parent, ticket, piece: 0 })
    }
  }

  #probed({ peer }: KnownAgent, { probe, bytes, ms }: Extract<FromAgent, { type: 'probed' }>): void {
    const rate = (bytes * 1000) / Math.max(ms, 0.1) / this.#deps.source.manifest.pieceBytes
    const now = this.#deps.clock.now()
    const slow = this.#probe.answered({ probe, prober: peer, rate, now }, (id) => this.#watch.pace(id))
    // A suspicion is followed up at once: until it is decided, the whole chain may be waiting.
    if (slow === undefined) this.#probeHeads(now)
    if (slow === undefined || !this.#plan.heads.includes(slow)) return
    this.#deps.log.info(
      { slow, task: this.#task.id },
      'the line out of the server is half idle: its child is slow',
    )
    this.#plan.setAside(slow)
  }

  /** Sends a message to every agent whose parent has changed. */
  #apply(): void {
    const now = this.#deps.clock.now()
    for (const { id, parent } of this.#plan.changes()) {
      const agent = this.#agent(id)
      const address = agent && this.#assign(agent, parent)
      if (!address) continue
      this.#watch.reset(id, now)
      this.#reminders.assigned(id, address.id, now)
    }
  }

  #assign(agent: KnownAgent, parent: string): PeerAddress | undefined {
    const address = this.#address(parent, agent)
    if (!address) return undefined
    const ticket = this.#ticket(address.id, agent.peer)
    this.#deps.directory.send(agent.key, { type: 'assign', task: this.#task.id, parent: address, ticket })
    return address
  }

  #address(parent: string, child: KnownAgent): PeerAddress | undefined {
    if (parent === SOURCE) return this.#deps.sourceAddress(child)
    const agent = this.#agent(parent)
    return agent && { id: agent.peer, host: agent.host, port: agent.port }
  }

  #ticket(parent: PeerId, child: PeerId): string {
    const { sha256 } = this.#deps.source.manifest
    return this.#deps.authority.ticket({ task: this.#task.id, sha256, parent, child })
  }

  #agent(peer: PeerId): KnownAgent | undefined {
    const key = this.#keys.get(peer)
    return key === undefined ? undefined : this.#deps.directory.find(key)
  }
}

function whyLost(standing: 'enrolled' | 'revoked' | undefined): string {
  if (standing === 'enrolled') return 'the agent is not connected'
  return standing === 'revoked' ? 'the agent was revoked' : 'no such agent is enrolled'
}
