const DAY = 86_400_000

/**
 * Wall clock of an IANA time zone. Asking `Intl` costs microseconds, so the offset is kept by UTC day; only days on which
 * the clock is put forward or back are asked for again, instant by instant.
 */
export class Timezone {
  readonly #format: Intl.DateTimeFormat | null
  readonly #offsets = new Map<number, number>()
  #lastDay = Number.NaN
  #lastOffset = 0

  /** Throws a RangeError for a zone that does not exist. */
  constructor(name: string) {
    // Known without asking, which would cost every start of a process: `Intl` first loads all that it knows.
    if (name === 'UTC') {
      this.#format = null
      return
    }
    const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
    this.#format = format.resolvedOptions().timeZone === 'UTC' ? null : format
  }

  /** The zone's wall clock at an instant, as if it were UTC. */
  wallClock(instant: number): number {
    if (this.#format === null) return instant
    const day = Math.floor(instant / DAY)
    if (day !== this.#lastDay) {
      this.#lastDay = day
      this.#lastOffset = this.#offsetOfDay(day)
    }
    const offset = Number.isNaN(this.#lastOffset) ? this.#ask(instant) : this.#lastOffset
    return instant + offset
  }

  /** NaN when the offset changes within the day. */
  #offsetOfDay(day: number): number {
    const known = this.#offsets.get(day)
    if (known !== undefined) return known
    const first = this.#ask(day * DAY)
    const offset = first === this.#ask((day + 1) * DAY - 1000) ? first : Number.NaN
    this.#offsets.set(day, offset)
    return offset
  }

  #ask(instant: number): number {
    const whole = Math.floor(instant / 1000) * 1000
    const found: Record<string, number> = {}
    for (const { type, value } of this.#format!.formatToParts(whole)) found[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = found
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole
  }
}
