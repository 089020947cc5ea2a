import type { Event, EventFilter, EventLog } from './event-log.ts'
import { filterKey } from './event-ring.ts'

/** Queries at once: one less than the event readers' own connections, so that the tail never waits for them. */
const AT_ONCE = 2
/** Rest after a query, as a multiple of the time that it took: at most half the time goes into old events. */
const REST = 1
const PAGE = 500

/**
 * Reads events that the ring no longer has, for readers that start in the past or have fallen back. Readers that want the
 * same page at the same time share one query: after a restart a thousand of them come back at the same place.
 */
export class CatchUp {
  readonly #log: EventLog
  readonly #underWay = new Map<string, Promise<Event[]>>()
  readonly #waiting: (() => void)[] = []
  #free = AT_ONCE

  constructor(log: EventLog) {
    this.#log = log
  }

  /** The next page after `after`; `last` if nothing that matches comes after it. */
  async read(after: number, filter: EventFilter): Promise<{ events: readonly Event[]; last: boolean }> {
    const key = `${after} ${filterKey(filter)}`
    let page = this.#underWay.get(key)
    if (!page) {
      page = this.#query(after, filter).finally(() => this.#underWay.delete(key))
      this.#underWay.set(key, page)
    }
    const events = await page
    return { events, last: events.length < PAGE }
  }

  async #query(after: number, filter: EventFilter): Promise<Event[]> {
    if (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#free--
    const started = performance.now()
    try {
      return await this.#log.read(after, filter, PAGE)
    } finally {
      // Real time, whatever the clock says: this is about the processor.
      setTimeout(() => this.#leave(), (performance.now() - started) * REST).unref()
    }
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free++
  }
}
