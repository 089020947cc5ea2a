import type { Clock } from '../../src/kernel/index.ts'

interface Sleeper {
  at: number
  wake(): void
}

const TICK_MS = 5
/** A process that was kept waiting has not lived through that time: one tick counts for no more than this. */
const MOST_MS = 4 * TICK_MS

/**
 * A clock that runs many times as fast as the real one, and can be moved ahead. Back-offs of minutes pass in a moment,
 * everything that waits still waits in the right order. It counts turns of the event loop, not the machine's time: on
 * a busy machine a time limit would otherwise be over before what it limits had its turn.
 */
export class FastClock implements Clock {
  readonly #factor: number
  readonly #sleepers = new Set<Sleeper>()
  #now = Date.now()
  #tickedAt = 0
  #ticking: NodeJS.Timeout | undefined

  constructor(factor = 50) {
    this.#factor = factor
  }

  now(): number {
    return Math.floor(this.#now)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason)
      const end = (finish: () => void) => () => {
        this.#sleepers.delete(sleeper)
        signal?.removeEventListener('abort', onAbort)
        finish()
      }
      const sleeper: Sleeper = { at: this.now() + ms, wake: end(resolve) }
      const onAbort = end(() => reject(signal?.reason))
      signal?.addEventListener('abort', onAbort)
      this.#sleepers.add(sleeper)
      this.#run()
    })
  }

  /** Moves ahead at once; whoever slept long enough by then wakes. */
  advance(ms: number): void {
    this.#now += ms
    this.#wakeDue()
  }

  /** It need not run while nobody sleeps. */
  #run(): void {
    if (this.#ticking) return
    this.#tickedAt = performance.now()
    this.#ticking = setInterval(() => {
      const real = performance.now()
      this.advance(Math.min(real - this.#tickedAt, MOST_MS) * this.#factor)
      this.#tickedAt = real
      if (this.#sleepers.size > 0) return
      clearInterval(this.#ticking)
      this.#ticking = undefined
    }, TICK_MS)
  }

  #wakeDue(): void {
    for (const sleeper of [...this.#sleepers].sort((a, b) => a.at - b.at))
      if (sleeper.at <= this.#now) sleeper.wake()
  }
}
