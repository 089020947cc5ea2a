import type { Clock, Log } from '../../kernel/index.ts'
import type { Bus } from '../bus/index.ts'
import { CatchUp } from './catch-up.ts'
import type { Event, EventFilter, EventLog } from './event-log.ts'
import { EventRing, type RingLimits } from './event-ring.ts'
import { EventTail } from './event-tail.ts'

/** How long an announcement "somebody listens here" holds; it is repeated at half of that. */
const LISTENING_MS = 30_000
/** Until a query for old events is tried again. */
const RETRY_MS = 1_000

/** The type of the event after which a reader must take a new snapshot; its `seq` is where the log is now. */
export const RESYNC = 'resync'

export interface FeedDeps {
  /** Reads on connections that nothing else uses. */
  events: EventLog
  bus: Bus
  clock: Clock
  log: Log
}

/** A place in the log, and everything after it. */
export interface OpenFeed {
  /** Where it begins. */
  after: number
  /** Where the log ended when it was opened. */
  end: number
  /** To be read by one reader, once. */
  pages: AsyncGenerator<readonly Event[]>
}

/**
 * The live end of the event log, for all readers of this process.
 *
 * One tail reads new events into a ring (`event-tail.ts`), and readers take them from there: an event costs one query per
 * instance, however many watch. Only a reader whose place is older than the ring asks the ledger itself, a few at a time.
 *
 * Signalling every event to every instance would cost each task one more command, usually for nobody. So an instance with
 * readers announces that from time to time, and the others signal new events only while one does.
 */
export class EventFeed {
  readonly #deps: FeedDeps
  readonly #readers = new Set<Reader>()
  readonly #ring: EventRing
  readonly #tail: EventTail
  readonly #catchUp: CatchUp
  readonly #unsubscribe: (() => void)[]
  #wantedUntil = 0
  #announced = 0
  #closed = false

  constructor(deps: FeedDeps, limits: RingLimits = {}) {
    this.#deps = deps
    const { events, bus, clock, log } = deps
    this.#ring = new EventRing(limits)
    this.#catchUp = new CatchUp(events)
    this.#tail = new EventTail({
      events,
      ring: this.#ring,
      clock,
      log,
      readers: () => this.#readers.size,
      onChange: () => this.#fanOut(),
      onRead: () => this.#announce(false),
    })
    this.#unsubscribe = [
      bus.subscribe('events', () => this.#tail.poke()),
      bus.subscribe('listening', ({ forMs }) => this.#heardOfListener(clock.now(), forMs)),
      bus.subscribe('who-listens', () => this.#announce(true)),
    ]
    bus.publish('who-listens', {})
  }

  /** To be called after a commit that appended events. */
  notify(): void {
    if (this.#deps.clock.now() < this.#wantedUntil) this.#deps.bus.publish('events', {})
    this.#tail.poke()
  }

  /**
   * Opens the feed after `after`, or at the end of the log if that is null. Rejects if the ledger is away; once it is
   * open, the feed outlives that. It ends with the signal, which must be aborted even if no page is ever read.
   */
  async open(after: number | null, filter: EventFilter, signal: AbortSignal): Promise<OpenFeed> {
    const reader = new Reader(filter, signal)
    const leave = () => this.#leave(reader)
    this.#readers.add(reader)
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    try {
      const end = await this.#tail.fresh()
      reader.seq = after ?? end
      reader.restarts = reader.seq > end ? -1 : this.#tail.restarts
      return { after: reader.seq, end, pages: this.#pages(reader) }
    } catch (error) {
      signal.removeEventListener('abort', leave)
      leave()
      throw error
    }
  }

  /** Yields events after `after` for ever, in pages, until the signal aborts. */
  async *follow(after: number, filter: EventFilter, signal: AbortSignal): AsyncGenerator<readonly Event[]> {
    yield* (await this.open(after, filter, signal)).pages
  }

  close(): void {
    this.#closed = true
    for (const end of this.#unsubscribe) end()
    for (const reader of [...this.#readers]) this.#leave(reader)
    this.#tail.close()
  }

  async *#pages(reader: Reader): AsyncGenerator<readonly Event[]> {
    const ring = this.#ring
    try {
      while (!reader.left) {
        if (reader.restarts !== this.#tail.restarts) {
          reader.restarts = this.#tail.restarts
          reader.seq = ring.to
          yield [resync(ring.to, this.#deps.clock.now())]
          continue
        }
        const page = ring.after(reader.seq, reader.filter) ?? (await this.#older(reader))
        reader.seq = page.upTo
        if (page.events.length > 0) yield page.events
        else if (ring.to <= reader.seq && reader.restarts === this.#tail.restarts) await reader.wait()
      }
    } finally {
      this.#leave(reader)
    }
  }

  /** From the ledger. What the tail has seen by now is visible to a query that begins now. */
  async #older({ seq, filter, signal }: Reader): Promise<{ events: readonly Event[]; upTo: number }> {
    const seen = this.#ring.to
    try {
      const { events, last } = await this.#catchUp.read(seq, filter)
      const newest = events.at(-1)?.seq ?? seq
      return { events, upTo: last ? Math.max(newest, seen) : newest }
    } catch (error) {
      this.#deps.log.debug({ err: error }, 'older events cannot be read; trying again until they can')
      await this.#deps.clock.sleep(RETRY_MS, signal).catch(() => undefined)
      return { events: [], upTo: seq }
    }
  }

  /** Wakes those for whom there is something; the others move on in their sleep. */
  #fanOut(): void {
    for (const reader of this.#readers) {
      if (!reader.waits) continue
      const page =
        reader.restarts === this.#tail.restarts ? this.#ring.after(reader.seq, reader.filter) : undefined
      if (page?.events.length === 0) reader.seq = page.upTo
      else reader.wake()
    }
  }

  #leave(reader: Reader): void {
    if (!this.#readers.delete(reader)) return
    reader.leave()
    if (this.#readers.size === 0) this.#tail.poke()
  }

  /** A new listener may have read just before a change that was not announced yet: let it look again. */
  #heardOfListener(now: number, forMs: number): void {
    const news = now >= this.#wantedUntil
    this.#wantedUntil = Math.max(this.#wantedUntil, now + forMs)
    if (news) this.#deps.bus.publish('events', {})
  }

  #announce(again: boolean): void {
    if (this.#readers.size === 0 || this.#closed) return
    const now = this.#deps.clock.now()
    if (!again && now < this.#announced + LISTENING_MS / 2) return
    this.#announced = now
    this.#deps.bus.publish('listening', { forMs: LISTENING_MS })
  }
}

class Reader {
  readonly filter: EventFilter
  readonly signal: AbortSignal
  /** It has been given everything up to here. */
  seq = 0
  restarts = 0
  left = false
  #wake: (() => void) | undefined

  constructor(filter: EventFilter, signal: AbortSignal) {
    this.filter = filter
    this.signal = signal
  }

  get waits(): boolean {
    return this.#wake !== undefined
  }

  async wait(): Promise<void> {
    if (!this.left) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  wake(): void {
    this.#wake?.()
    this.#wake = undefined
  }

  leave(): void {
    this.left = true
    this.wake()
  }
}

function resync(seq: number, at: number): Event {
  return { seq, type: RESYNC, kind: 'feed', projectId: null, taskId: null, jobId: null, data: {}, at }
}
