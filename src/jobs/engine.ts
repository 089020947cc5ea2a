import {
  type AppError,
  background,
  bestEffort,
  type Clock,
  currentTraceparent,
  DutyLoop,
  type Log,
  metrics,
  newId,
  type Part,
  type WaitsOn,
  within,
} from '../kernel/index.ts'
import { type Ledger, LedgerClock, type Tx } from '../ledger/index.ts'
import type { Bus } from './bus/index.ts'
import type { Consumer, Dispatcher, Wake } from './dispatch/dispatcher.ts'
import { CapacityDuty } from './duties/capacity.ts'
import { HeartbeatDuty } from './duties/heartbeat.ts'
import { OverdueDuty } from './duties/overdue.ts'
import { RetentionDuty } from './duties/retention.ts'
import { Emitter, EventFeed, EventLog, type NewEvent } from './events/index.ts'
import { Gather } from './gather.ts'
import { type Enqueued, JobStore, type NewJob } from './job-store.ts'
import { type DefinedKind, type JobKind, KindRegistry } from './kind.ts'
import { Lanes } from './lanes.ts'
import { Leadership } from './leadership.ts'
import { Leases } from './lease.ts'
import { Membership, type MembershipOptions } from './membership.ts'
import { Worker } from './worker.ts'

export interface EngineDeps {
  ledger: Ledger
  dispatcher: Dispatcher
  bus: Bus
  clock: Clock
  /** Shared with whatever else must agree with other instances on the time. */
  ledgerClock?: LedgerClock
  log: Log
}

export interface EngineOptions {
  version: string
  /** It runs alone: a lock on the embedded ledger proves it, or on PostgreSQL, `files.sole` has `join` refuse it beside others. */
  sole: boolean
  leaseMs?: number
  drainMs?: number
  eventsKeptMs?: number
  /** Slots of this process by pool, where they are not those of its kinds (`JobKind.slots`), nor `defaultSlots`. */
  slots?: Record<string, number>
  defaultSlots?: number
  /** false: this process accepts work but does none. */
  works?: boolean
  /** Where this instance has its files; without it, nobody asks whether others see them. */
  files?: MembershipOptions | undefined
}

const RENEWALS_PER_LEASE = 3
/** A dead leader must not be what a dead worker's job waits for: it is replaced before that job's lease is out. */
const LONGEST_LEADERSHIP_MS = 20_000
const LEADERSHIP_PER_LEASE = 2 / 3
const RETENTION_EVERY_MS = 5 * 60_000

/**
 * The engine under every domain: the ledger decides, the dispatcher only wakes.
 *
 * Domains define kinds of jobs before `start`, enqueue in their own transactions, and read events. Everything else
 * (claims, leases, retries, lanes, the leader's duties) happens in here.
 */
export class Engine implements Part {
  readonly name = 'engine'
  readonly instance = newId()
  readonly ledger: Ledger
  readonly bus: Bus
  /** The ledger's time, measured with each heartbeat. */
  readonly clock: LedgerClock
  /** An instance that was not seen for this long is dead. */
  readonly leaseMs: number
  readonly events: EventLog
  readonly emitter: Emitter
  readonly feed: EventFeed
  readonly jobs: JobStore
  readonly lanes: Lanes
  readonly heartbeat: HeartbeatDuty
  readonly leadership: Leadership
  readonly overdue: OverdueDuty
  readonly retention: RetentionDuty
  readonly worker: Worker
  readonly #kinds = new KindRegistry()
  readonly #deps: EngineDeps
  readonly #options: Required<EngineOptions>
  readonly #membership: Membership | undefined
  #joined = false
  readonly #capacity: CapacityDuty
  readonly #loops: DutyLoop[]
  readonly #leaderDuties: {
    duty: { name: string; runOnce(signal: AbortSignal): Promise<unknown> }
    everyMs: number
  }[]
  readonly #submits = new Gather<NewJob, Enqueued>((jobs) => this.#submitAll(jobs))
  #leaderLoops: DutyLoop[] = []
  readonly #consumers = new Map<string, Consumer>()
  #unsubscribe: (() => void)[] = []
  #drained: Promise<void> | undefined

  constructor(deps: EngineDeps, options: EngineOptions) {
    this.#deps = deps
    this.#options = {
      leaseMs: 30_000,
      drainMs: 10_000,
      eventsKeptMs: 7 * 24 * 3_600_000,
      slots: {},
      defaultSlots: 16,
      works: true,
      files: undefined,
      ...options,
    }
    const { ledger, dispatcher, bus, clock, log } = deps
    const { leaseMs, sole, version, eventsKeptMs } = this.#options
    const kinds = this.#kinds
    this.ledger = ledger
    this.bus = bus
    this.clock = deps.ledgerClock ?? new LedgerClock(clock)
    this.leaseMs = leaseMs
    this.events = new EventLog(ledger)
    this.feed = new EventFeed({ events: new EventLog(ledger, ledger.readers), bus, clock, log })
    this.emitter = new Emitter(ledger, () => this.feed.notify())
    this.lanes = new Lanes(ledger, kinds)
    const shared = { ledger, kinds, lanes: this.lanes, emitter: this.emitter, clock: this.clock }
    this.jobs = new JobStore(shared)
    const leases = new Leases(shared, leaseMs)
    this.worker = new Worker(
      {
        id: this.instance,
        ledger,
        kinds,
        leases,
        clock,
        log,
        wake: this.#woken,
        tell: (home) => bus.publish('home', home),
      },
      { leaseMs },
    )
    const leadershipMs = Math.min(LONGEST_LEADERSHIP_MS, leaseMs * LEADERSHIP_PER_LEASE)
    this.leadership = new Leadership(
      { ledger, instance: this.instance, log },
      { sole, leaseMs: Math.round(leadershipMs) },
    )
    this.leadership.onChange((leads) => background('taking up the lead', this.#lead(leads)))
    this.overdue = new OverdueDuty({ ...shared, leases, dispatcher, log }, { leaseMs })
    this.retention = new RetentionDuty(
      { ledger, kinds, events: this.events, log },
      { eventsMs: eventsKeptMs },
    )
    this.#capacity = new CapacityDuty(
      { ...shared, alive: () => this.heartbeat.alive, wake: this.#woken },
      { leaseMs },
    )
    this.#leaderDuties = [
      { duty: this.overdue, everyMs: 2_000 },
      { duty: this.retention, everyMs: RETENTION_EVERY_MS },
      // Instances that start or stop in order do this too; this is for the dead.
      { duty: this.#capacity, everyMs: leaseMs / RENEWALS_PER_LEASE },
    ]
    const { instance } = this
    const { files } = this.#options
    const membership = files && new Membership({ ledger, clock, log, instance, version, leaseMs }, files)
    this.#membership = membership
    this.heartbeat = new HeartbeatDuty({
      ledger,
      clock: this.clock,
      instance,
      version,
      leaseMs,
      leadership: this.leadership,
      said: membership && (() => membership.said),
    })
    const heartbeatMs = Math.min(leaseMs / RENEWALS_PER_LEASE, leadershipMs / 2)
    this.#loops = [
      new DutyLoop(this.heartbeat, { clock, log }, { everyMs: heartbeatMs }),
      new DutyLoop(this.worker, { clock, log }, { everyMs: leaseMs / RENEWALS_PER_LEASE }),
    ]
  }

  get kinds(): DefinedKind[] {
    return this.#kinds.all()
  }

  define<P, R>(kind: JobKind<P, R>): void {
    this.#kinds.define(kind)
  }

  /** Adds a duty that only the elected instance runs. To be called before `start`. */
  addLeaderDuty(
    duty: { name: string; runOnce(signal: AbortSignal): Promise<unknown> },
    everyMs: number,
  ): void {
    this.#leaderDuties.push({ duty, everyMs })
  }

  /**
   * Enters this instance beside the living ones, or throws and leaves nothing. To be called before anything is made for it;
   * `start` does it where nobody did.
   */
  async join(): Promise<void> {
    if (this.#joined) return
    const { sole } = this.#options
    // Who holds the data dir of an embedded ledger has proof that nobody else lives. On PostgreSQL only the others' rows tell.
    const isProved = sole && this.ledger.dialect === 'sqlite'
    if (isProved) await this.heartbeat.forgetOthers()
    await this.#membership?.join()
    if (sole && !isProved) await this.heartbeat.forgetOthers()
    this.#joined = true
  }

  /** Other instances that lived when this one joined. */
  get others(): readonly { host: string; pid: number }[] {
    return this.#membership?.others ?? []
  }

  /** For a start that ends between `join` and `start`; `stop` does it too. */
  async leave(): Promise<void> {
    if (!this.#joined) return
    this.#joined = false
    await (this.#membership ?? this.heartbeat).leave().catch(() => undefined)
  }

  async start(): Promise<void> {
    const kinds = this.#kinds.all()
    await this.join()
    for (const { lane } of kinds) if (lane) await this.lanes.declare(lane)
    if (this.#options.sole) {
      // No other instance is alive, so their jobs are free at once.
      await this.overdue.voidLeases()
      await this.overdue.wakeAll()
    }
    await this.heartbeat.runOnce()
    await this.#capacity.fit()
    this.#unsubscribe = [
      this.#deps.bus.subscribe('cancel', ({ jobId }) => this.worker.abort(jobId)),
      this.#deps.bus.subscribe('home', ({ worker, pool, jobId }) => {
        if (worker === this.instance) this.#consumers.get(pool)?.offer(jobId)
      }),
    ]
    for (const loop of this.#loops) loop.start()
    if (!this.#options.works) return
    for (const pool of new Set(kinds.map((kind) => kind.pool))) {
      const slots = this.#slotsOf(pool)
      metrics.slots.set({ pool }, slots)
      this.#consumers.set(
        pool,
        this.#deps.dispatcher.consume(
          pool,
          slots,
          (id, offered) => this.worker.take(id, offered),
          (limit) => this.jobs.due(pool, limit),
        ),
      )
    }
  }

  #slotsOf(pool: string): number {
    const { slots, defaultSlots } = this.#options
    const wanted = this.#kinds.all().flatMap((kind) => (kind.pool === pool ? (kind.slots ?? []) : []))
    return slots[pool] ?? (wanted.length > 0 ? Math.max(...wanted) : defaultSlots)
  }

  /** No new claims; running jobs may end until `until` aborts, then the rest goes back to `pending`. */
  drain(until: AbortSignal): Promise<void> {
    this.#drained ??= this.#drain(until)
    return this.#drained
  }

  async #drain(until: AbortSignal): Promise<void> {
    // A consumer hands out nothing from this call on; what it waits for is an answer of Redis, which may never come.
    const consumers = [...this.#consumers.values()].map((consumer) => consumer.stop())
    this.#consumers.clear()
    await Promise.all([this.worker.drain(until), ...consumers])
  }

  /** Without a `drain` before, it drains by itself for as long as its options say. */
  async stop(): Promise<void> {
    await within(this.#deps.clock, this.#options.drainMs, (until) => this.drain(until))
    for (const end of this.#unsubscribe) end()
    this.feed.close()
    for (const loop of this.#loops) await loop.stop()
    await this.#lead(false)
    await this.leadership.resign().catch(() => undefined)
    await this.leave()
    await this.#capacity.fit().catch(() => undefined)
  }

  /** Appends events to the log. Events of jobs come from the engine itself, by their kind's `describe`. */
  emit(tx: Tx, ...events: NewEvent[]): Promise<void> {
    return this.emitter.emit(tx, ...events)
  }

  /** Enqueues in the caller's transaction; workers hear of it after the commit. */
  enqueue<P>(tx: Tx, job: NewJob<P>): Promise<Enqueued> {
    return this.jobs.enqueue(tx, job, this.#woken)
  }

  /** The same for several; one that is refused answers with its error. */
  enqueueAll(tx: Tx, jobs: readonly NewJob[]): Promise<(Enqueued | AppError)[]> {
    return this.jobs.enqueueAll(tx, jobs, this.#woken)
  }

  /** Enqueues in a transaction that it shares with others of this process. Committed when it resolves. */
  submit<P>(job: NewJob<P>): Promise<Enqueued> {
    // The others in the transaction belong to traces of their own.
    return this.#submits.add({ trace: currentTraceparent(), ...job })
  }

  async cancelTask(tx: Tx, taskId: string): Promise<void> {
    this.#afterCancel(tx, await this.jobs.cancelTask(tx, taskId, this.#woken))
  }

  async cancelJob(tx: Tx, jobId: string): Promise<void> {
    this.#afterCancel(tx, await this.jobs.cancelJob(tx, jobId, this.#woken))
  }

  retryTask(tx: Tx, taskId: string): Promise<Enqueued> {
    return this.jobs.retryTask(tx, taskId, this.#woken)
  }

  async setLaneShare(tx: Tx, lane: string, owner: string, max: number | null): Promise<void> {
    await this.lanes.setShare(tx, lane, owner, max, this.#woken)
  }

  /** Jobs of a lane that pause for something which has changed need not wait for their next try. */
  async resumeInLane(tx: Tx, lane: string, owner: string, outage: WaitsOn): Promise<void> {
    await this.lanes.resume(tx, lane, owner, outage, this.#woken)
  }

  async setLaneLimit(tx: Tx, lane: string, limit: number | null): Promise<void> {
    this.lanes.setLimit(tx, lane, limit, this.#woken)
    tx.afterCommit(() => this.#deps.bus.publish('settings', { key: `lane:${lane}` }))
  }

  #submitAll(jobs: NewJob[]): Promise<(Enqueued | AppError)[]> {
    return this.ledger.transaction((tx) => this.enqueueAll(tx, jobs))
  }

  #afterCancel(tx: Tx, { abort }: { abort?: string }): void {
    if (abort !== undefined) tx.afterCommit(() => this.#deps.bus.publish('cancel', { jobId: abort }))
  }

  readonly #woken = (wakes: Wake[]): void => {
    if (wakes.length === 0) return
    bestEffort(this.#deps.dispatcher.publish(wakes), (error) => {
      this.#deps.log.warn(
        { err: error, jobs: wakes.length },
        'workers were not woken; the leader will do it again',
      )
    })
  }

  async #lead(leads: boolean): Promise<void> {
    const old = this.#leaderLoops.splice(0)
    // All at once: none may go on because another one takes its time to end.
    await Promise.all(old.map((loop) => loop.stop()))
    if (!leads) return
    this.#capacity.forget()
    const { clock, log } = this.#deps
    this.#leaderLoops = this.#leaderDuties.map(
      ({ duty, everyMs }) => new DutyLoop(duty, { clock, log }, { everyMs }),
    )
    for (const loop of this.#leaderLoops) loop.start()
  }
}
