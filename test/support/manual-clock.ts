import type { Clock } from '../../src/kernel/index.ts'

interface Sleeper {
  at: number
  wake(): void
}

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
  #now: number
  #sleepers: Sleeper[] = []

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  get sleeping(): number {
    return this.#sleepers.length
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      if (ms <= 0) return resolve()
      const sleeper: Sleeper = { at: this.#now + ms, wake: resolve }
      this.#sleepers.push(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(signal.reason)
      })
    })
  }

  advance(ms: number): void {
    this.#now += ms
    const due = this.#sleepers.filter(({ at }) => at <= this.#now).sort((a, b) => a.at - b.at)
    this.#sleepers = this.#sleepers.filter(({ at }) => at > this.#now)
    for (const sleeper of due) sleeper.wake()
  }
}
