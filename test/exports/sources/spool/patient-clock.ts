import type { Clock } from '../../../../src/kernel/index.ts'

/**
 * A clock for tests: short waits (retries) pass at once and are noted, long ones (deadlines) hold until the test moves
 * the clock.
 */
export class PatientClock implements Clock {
  readonly waits: number[] = []
  readonly #holdFrom: number
  readonly #held = new Set<{ until: number; wake: () => void }>()
  #now = Date.UTC(2026, 0, 1)

  constructor({ holdFrom = 60_000 }: { holdFrom?: number } = {}) {
    this.#holdFrom = holdFrom
  }

  now(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
    for (const held of this.#held)
      if (held.until <= this.#now) {
        this.#held.delete(held)
        held.wake()
      }
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms < this.#holdFrom) {
      this.waits.push(ms)
      this.#now += ms
      return
    }
    await new Promise<void>((resolve, reject) => {
      const held = { until: this.#now + ms, wake: resolve }
      this.#held.add(held)
      signal?.addEventListener('abort', () => {
        this.#held.delete(held)
        reject(signal.reason)
      })
    })
  }
}
