import type { Event, EventFilter } from './event-log.ts'

export interface RingLimits {
  events?: number
  /** Of the events' data as JSON, plus a fixed amount per event. */
  bytes?: number
  /** The most that one call of `after` returns; a reader takes the rest with its next call. */
  pageEvents?: number
  pageBytes?: number
}

interface Entry {
  event: Event
  bytes: number
}

/** What `after` found: the events a filter lets through, and up to where it has looked. */
export interface RingPage {
  events: readonly Event[]
  upTo: number
}

/** What an event costs besides its data. */
const EVENT_BYTES = 256

/**
 * The newest events of the log, for readers that keep up with it. It has every event with `from < seq <= to`: the oldest
 * ones leave as soon as one of its limits is reached, and `from` moves on.
 *
 * Readers with the same filter ask for the same page. They are given the same array, so that what is made of it (the
 * text for the wire) can be made once, too.
 */
export class EventRing {
  readonly #limits: Required<RingLimits>
  #entries: Entry[] = []
  #bytes = 0
  #from = 0
  #to = 0
  readonly #pages = new Map<string, RingPage>()

  constructor(limits: RingLimits = {}) {
    this.#limits = {
      events: 4_096,
      bytes: 8 * 1024 * 1024,
      pageEvents: 500,
      pageBytes: 256 * 1024,
      ...limits,
    }
  }

  get from(): number {
    return this.#from
  }

  get to(): number {
    return this.#to
  }

  /** Forgets everything; the next event is the one after `seq`. */
  reset(seq: number): void {
    this.#entries = []
    this.#bytes = 0
    this.#from = seq
    this.#to = seq
    this.#pages.clear()
  }

  append(events: readonly Event[]): void {
    for (const event of events) {
      const bytes = EVENT_BYTES + JSON.stringify(event.data).length
      this.#entries.push({ event, bytes })
      this.#bytes += bytes
      this.#to = event.seq
    }
    let gone = 0
    const { events: most, bytes: mostBytes } = this.#limits
    while (this.#entries.length - gone > most || this.#bytes > mostBytes) {
      const { event, bytes } = this.#entries[gone++] as Entry
      this.#bytes -= bytes
      this.#from = event.seq
    }
    if (gone > 0) this.#entries = this.#entries.slice(gone)
    this.#pages.clear()
  }

  /** Undefined if `seq` is older than what the ring has. */
  after(seq: number, filter: EventFilter): RingPage | undefined {
    if (seq < this.#from) return undefined
    const key = `${seq} ${filterKey(filter)}`
    let page = this.#pages.get(key)
    if (!page) {
      page = this.#find(seq, filter)
      this.#pages.set(key, page)
    }
    return page
  }

  #find(seq: number, filter: EventFilter): RingPage {
    const events: Event[] = []
    let bytes = 0
    for (let index = this.#indexAfter(seq); index < this.#entries.length; index++) {
      const entry = this.#entries[index] as Entry
      if (!matches(entry.event, filter)) continue
      bytes += entry.bytes
      const full = events.length >= this.#limits.pageEvents || bytes > this.#limits.pageBytes
      if (full && events.length > 0) return { events, upTo: (events.at(-1) as Event).seq }
      events.push(entry.event)
    }
    return { events, upTo: Math.max(seq, this.#to) }
  }

  #indexAfter(seq: number): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#entries[middle] as Entry).event.seq <= seq) low = middle + 1
      else high = middle
    }
    return low
  }
}

export function filterKey({ projectId, taskId }: EventFilter): string {
  return JSON.stringify([projectId ?? null, taskId ?? null])
}

function matches(event: Event, { projectId, taskId }: EventFilter): boolean {
  return (
    (projectId === undefined || event.projectId === projectId) &&
    (taskId === undefined || event.taskId === taskId)
  )
}
