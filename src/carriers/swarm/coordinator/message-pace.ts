import type { Clock } from '../../../kernel/index.ts'

export interface Pace {
  perSecond: number
  burst: number
}

/** An agent reports about once per second and task; thousands of tasks fit into one report. */
const AGENT_PACE: Pace = { perSecond: 200, burst: 2_000 }

/** How fast one line may talk: `burst` messages at once, `perSecond` over time. */
export class MessagePace {
  readonly #clock: Clock
  readonly #pace: Pace
  #left: number
  #at: number

  constructor(clock: Clock, pace: Pace = AGENT_PACE) {
    this.#clock = clock
    this.#pace = pace
    this.#left = pace.burst
    this.#at = clock.now()
  }

  /** Counts one message; answers how many milliseconds the line must be silent before the next one is read. */
  take(): number {
    const { perSecond, burst } = this.#pace
    const now = this.#clock.now()
    this.#left = Math.min(burst, this.#left + (Math.max(0, now - this.#at) * perSecond) / 1_000) - 1
    this.#at = now
    return this.#left >= 1 ? 0 : Math.ceil(((1 - this.#left) * 1_000) / perSecond)
  }
}
