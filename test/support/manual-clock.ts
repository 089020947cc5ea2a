import type { Clock } from '../../src/kernel/index.ts'

interface Sleeper {
  due: number
  wake(): void
}

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
  #now: number
  readonly #sleepers = new Set<Sleeper>()
  #watchers: (() => void)[] = []

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now
  }

  now(): number {
    return this.#now
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (signal?.aborted) reject(signal.reason)
    else if (ms <= 0) resolve()
    else this.#add({ due: this.#now + ms, wake: resolve }, reject, signal)
    return promise
  }

  #add(sleeper: Sleeper, reject: (reason: unknown) => void, signal?: AbortSignal): void {
    this.#sleepers.add(sleeper)
    signal?.addEventListener('abort', () => {
      this.#sleepers.delete(sleeper)
      reject(signal.reason)
    })
    for (const watcher of this.#watchers.splice(0)) watcher()
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
    for (const sleeper of [...this.#sleepers].sort((a, b) => a.due - b.due)) {
      if (sleeper.due > this.#now) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}
