import { type Backoff, background, backoffDelay, type Clock, type Log } from '../../kernel/index.ts'
import type { EventLog } from './event-log.ts'
import type { EventRing } from './event-ring.ts'

/** New events are found at the latest after this, even if every signal was lost. */
const SAFETY_POLL_MS = 5_000
const PAGE = 500
/**
 * What one reader adds to the pause between two reads while events keep coming. Handing a page to a reader takes about
 * 15 µs, so that the fan-out has a small part of the processor, however many readers there are.
 */
const GATHER_MS_PER_READER = 0.25
/** The pause is at least this many times as long as the fan-out took: on a machine that is short of time, work comes first. */
const GATHER_PER_FAN_OUT = 15
const LONGEST_GATHER_MS = 700
/** Fewer readers than this wait for nothing. */
const MANY_READERS = 20
const RETRY: Backoff = { base: 250, factor: 2, max: 2_000, jitter: 0.2 }

export interface TailDeps {
  /** On a connection of its own: the tail never waits for the work, nor the work for it. */
  events: EventLog
  ring: EventRing
  clock: Clock
  log: Log
  /** How many read from the ring. */
  readers(): number
  /** The ring has new events, or was reset. */
  onChange(): void
  /** Before each read. */
  onRead(): void
}

interface Waiter {
  resolve(seq: number): void
  reject(error: unknown): void
}

/**
 * The one reader of the log's end in this process. It fills the ring while anybody reads from it and stops after the last
 * one has left. Signals that come while it reads or pauses are answered by one read.
 *
 * The ledger may be away: then it tries again until the ledger is back, and readers just see nothing new meanwhile.
 */
export class EventTail {
  readonly #deps: TailDeps
  readonly #closed = new AbortController()
  #waiters: Waiter[] = []
  #running = false
  #due = false
  #interrupt: (() => void) | undefined
  #handedOutAt = 0
  /** Why the last read failed, until the next one. */
  #failure: unknown
  /** Counts the times that the log turned out to be shorter than what was read of it: a restored or a new ledger. */
  #restarts = 0

  constructor(deps: TailDeps) {
    this.#deps = deps
  }

  get restarts(): number {
    return this.#restarts
  }

  /** There may be new events, or the last reader has left. */
  poke(): void {
    this.#due = true
    this.#interrupt?.()
  }

  /** The end of the log, from a read that begins after this call. Rejects if that read, or the last one, failed. */
  fresh(): Promise<number> {
    if (this.#failure) return Promise.reject(this.#failure)
    return new Promise((resolve, reject) => {
      this.#waiters.push({ resolve, reject })
      this.poke()
      this.#start()
    })
  }

  close(): void {
    this.#closed.abort()
    this.poke()
  }

  #start(): void {
    if (this.#running) return
    this.#running = true
    background('the reader of new events', this.#run())
  }

  async #run(): Promise<void> {
    const { ring, log, readers } = this.#deps
    let failures = 0
    let polled = false
    ring.reset(-1)
    while (!this.#closed.signal.aborted && (readers() > 0 || this.#waiters.length > 0)) {
      this.#due = false
      const waiters = this.#waiters.splice(0)
      try {
        const found = await this.#read(polled)
        for (const { resolve } of waiters) resolve(ring.to)
        if (failures > 0) log.info('new events can be read again')
        failures = 0
        if (found && readers() >= MANY_READERS) await this.#gather()
        polled = !this.#due && (await this.#sleep(SAFETY_POLL_MS))
        // What was committed together, and the signal that follows, are answered by one read.
        if (!polled) await nextTurn()
      } catch (error) {
        for (const { reject } of waiters) reject(error)
        if (this.#closed.signal.aborted) break
        if (failures++ === 0)
          log.warn({ err: error }, 'new events cannot be read; trying again until they can')
        this.#failure = error
        await this.#pause(backoffDelay(failures, RETRY))
        this.#failure = undefined
      }
    }
    // In the same turn as the last look at the readers: a reader that comes after it starts a new loop.
    this.#running = false
    ring.reset(-1)
    const closed = new Error('the event feed is closed')
    for (const { reject } of this.#waiters.splice(0)) reject(closed)
  }

  /** True if there were new events. */
  async #read(suspicious: boolean): Promise<boolean> {
    const { events, ring, onChange, onRead } = this.#deps
    onRead()
    if (ring.to < 0) {
      ring.reset(await events.last())
      onChange()
      return false
    }
    for (let found = false; ; found = true) {
      const page = await events.read(ring.to, {}, PAGE)
      if (page.length > 0) {
        ring.append(page)
        this.#handedOutAt = performance.now()
        onChange()
      } else if (suspicious) await this.#checkForRestart()
      if (page.length < PAGE) return found || page.length > 0
      // The readers' sockets get their turn before the next page.
      await nextTurn()
    }
  }

  async #checkForRestart(): Promise<void> {
    const { events, ring, log, onChange } = this.#deps
    const last = await events.last()
    if (last >= ring.to) return
    log.warn({ was: ring.to, now: last }, 'the event log is shorter than before; readers must resync')
    ring.reset(last)
    this.#restarts++
    onChange()
  }

  async #gather(): Promise<void> {
    // The readers that were woken all run before the next turn.
    await nextTurn()
    const took = performance.now() - this.#handedOutAt
    const wanted = Math.max(this.#deps.readers() * GATHER_MS_PER_READER, took * GATHER_PER_FAN_OUT)
    await this.#pause(Math.min(wanted, LONGEST_GATHER_MS))
  }

  /** Cut short by `close` alone. */
  #pause(ms: number): Promise<void> {
    return this.#deps.clock.sleep(ms, this.#closed.signal).catch(() => undefined)
  }

  /** Cut short by `poke`; true if it was not. */
  async #sleep(ms: number): Promise<boolean> {
    const poked = new AbortController()
    this.#interrupt = () => poked.abort()
    try {
      await this.#deps.clock.sleep(ms, poked.signal)
      return true
    } catch {
      return false
    } finally {
      this.#interrupt = undefined
    }
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
