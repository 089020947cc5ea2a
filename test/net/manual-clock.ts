import type { Clock } from '../../src/kernel/index.ts'

interface Sleeper {
  due: number
  wake(): void
}

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #now: number
  readonly #sleepers = new Set<Sleeper>()
  #watchers: (() => void)[] = []

  constructor(now = Date.UTC(2030, 0, 1)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (signal?.aborted) {
      reject(signal.reason)
      return promise
    }
    const sleeper = { due: this.#now + ms, wake: resolve }
    this.#sleepers.add(sleeper)
    signal?.addEventListener('abort', () => {
      this.#sleepers.delete(sleeper)
      reject(signal.reason)
    })
    for (const watcher of this.#watchers.splice(0)) watcher()
    return promise
  }

  get sleeping(): number {
    return this.#sleepers.size
  }

  /** Resolves as soon as somebody sleeps. */
  async untilAsleep(): Promise<void> {
    if (this.#sleepers.size > 0) return
    await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  advance(ms: number): void {
    this.#now += ms
    for (const sleeper of [...this.#sleepers]) {
      if (sleeper.due > this.#now) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}
