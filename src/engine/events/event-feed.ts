import { type Clock, follow, type Log } from '../../kernel/index.ts'
import type { Signal } from '../signal/signal.ts'
import type { Event, EventFilter, EventLog } from './event-log.ts'

/** How long an announcement "somebody listens here" holds; it is repeated at half of that. */
const LISTENING_MS = 30_000
/** Events reach a listener at the latest after this, even if every signal was lost. */
const SAFETY_POLL_MS = 5_000
const PAGE = 500

/**
 * The live end of the event log.
 *
 * Telling every instance of every event would cost each task a command more, for nobody: usually no one listens. So
 * an instance with listeners says so from time to time, and the others signal new events only while somebody does.
 */
export class EventFeed {
  readonly #deps: { events: EventLog; signal: Signal; clock: Clock; log: Log }
  readonly #wakeups = new Set<() => void>()
  readonly #unsubscribe: (() => void)[]
  #wantedUntil = 0
  #announced = 0

  constructor(deps: { events: EventLog; signal: Signal; clock: Clock; log: Log }) {
    this.#deps = deps
    const { signal, clock } = deps
    this.#unsubscribe = [
      signal.subscribe('events', () => this.#wake()),
      signal.subscribe('listening', ({ forMs }) => this.#heardOfListener(clock.now(), forMs)),
      signal.subscribe('who-listens', () => this.#announce(true)),
    ]
    signal.publish('who-listens', {})
  }

  /** To be called after a commit that appended events. */
  notify(): void {
    this.#wake()
    if (this.#deps.clock.now() < this.#wantedUntil) this.#deps.signal.publish('events', {})
  }

  /** Yields events after `after` for ever, in pages, until the signal aborts. */
  async *follow(after: number, filter: EventFilter, signal: AbortSignal): AsyncGenerator<Event[]> {
    let cursor = after
    const alarm = new Alarm()
    const wakeup = () => alarm.ring()
    this.#wakeups.add(wakeup)
    try {
      while (!signal.aborted) {
        this.#announce(false)
        alarm.reset()
        const events = await this.#deps.events.read(cursor, filter, PAGE)
        const last = events.at(-1)
        if (last) {
          cursor = last.seq
          yield events
          if (events.length === PAGE) continue
        }
        await alarm.wait(this.#deps.clock, SAFETY_POLL_MS, signal)
      }
    } finally {
      this.#wakeups.delete(wakeup)
    }
  }

  close(): void {
    for (const end of this.#unsubscribe) end()
  }

  /** Whoever begins to listen may have read just before a change that was not announced yet: let it look again. */
  #heardOfListener(now: number, forMs: number): void {
    const news = now >= this.#wantedUntil
    this.#wantedUntil = Math.max(this.#wantedUntil, now + forMs)
    if (news) this.#deps.signal.publish('events', {})
  }

  #wake(): void {
    for (const wakeup of this.#wakeups) wakeup()
  }

  #announce(again: boolean): void {
    if (this.#wakeups.size === 0) return
    const now = this.#deps.clock.now()
    if (!again && now < this.#announced + LISTENING_MS / 2) return
    this.#announced = now
    this.#deps.signal.publish('listening', { forMs: LISTENING_MS })
  }
}

/** Remembers a ring that comes while nobody waits. */
class Alarm {
  #rung = false
  #waiter: (() => void) | undefined

  ring(): void {
    this.#rung = true
    this.#waiter?.()
  }

  reset(): void {
    this.#rung = false
  }

  async wait(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#rung) return
    const over = new AbortController()
    const unfollow = follow(signal, over)
    this.#waiter = () => over.abort()
    await clock.sleep(ms, over.signal).catch(() => undefined)
    unfollow()
    this.#waiter = undefined
  }
}
