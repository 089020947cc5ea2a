import type { Clock } from '../../src/kernel/index.ts'

interface Sleeper {
  at: number
  timer: NodeJS.Timeout | undefined
  wake(): void
}

/**
 * A clock that runs many times as fast as the real one, and can be moved ahead. Back-offs of minutes pass in a moment,
 * everything that waits still waits in the right order.
 */
export class FastClock implements Clock {
  readonly #factor: number
  readonly #start = Date.now()
  readonly #sleepers = new Set<Sleeper>()
  #shift = 0

  constructor(factor = 50) {
    this.#factor = factor
  }

  now(): number {
    return this.#start + this.#shift + Math.floor((Date.now() - this.#start) * this.#factor)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = (finish: () => void) => () => {
        clearTimeout(sleeper.timer)
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
        finish()
      }
      const sleeper: Sleeper = { at: this.now() + ms, timer: undefined, wake: end(resolve) }
      const onAbort = end(() => reject(signal?.reason))
      signal?.addEventListener('abort', onAbort)
      this.#sleepers.add(sleeper)
      this.#arm(sleeper)
    })
  }

  /** Moves ahead at once; whoever slept long enough by then wakes. */
  advance(ms: number): void {
    this.#shift += ms
    for (const sleeper of [...this.#sleepers].sort((a, b) => a.at - b.at)) this.#arm(sleeper)
  }

  #arm(sleeper: Sleeper): void {
    clearTimeout(sleeper.timer)
    const rest = sleeper.at - this.now()
    // Longer than a timer can count: looked at again when it rings.
    const wait = Math.min(Math.max(0, rest / this.#factor), 2 ** 30)
    sleeper.timer = setTimeout(() => (this.now() >= sleeper.at ? sleeper.wake() : this.#arm(sleeper)), wait)
  }
}
