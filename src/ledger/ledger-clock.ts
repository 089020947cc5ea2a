import type { Clock } from '../kernel/index.ts'

/**
 * The ledger's clock, without a query each time: the instance's own clock and the difference that the last heartbeat has
 * measured. What one instance signs and another one checks uses it, so that a clock that is wrong harms nobody.
 */
export class LedgerClock implements Clock {
  readonly #clock: Clock
  #ahead = 0
  /** When the ledger answered again after it had not; undefined while it does not. */
  #steadySince: number | undefined = Number.NEGATIVE_INFINITY

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now() + this.#ahead
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal)
  }

  /** Asks for the ledger's time; the answer belongs to the middle of the round trip. */
  async set(ask: () => Promise<number>): Promise<void> {
    const before = this.#clock.now()
    try {
      const there = await ask()
      const after = this.#clock.now()
      this.#ahead = Math.round(there - (before + after) / 2)
      this.#steadySince ??= after
    } catch (error) {
      this.#steadySince = undefined
      throw error
    }
  }

  /** Whether the ledger has answered for this long without a break. */
  isSteady(forMs: number): boolean {
    return this.#steadySince !== undefined && this.#clock.now() - this.#steadySince >= forMs
  }
}
