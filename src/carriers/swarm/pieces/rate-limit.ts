import type { Clock } from '../../../kernel/index.ts'

/** Limits bytes per second; null: no limit. Callers queue up, so that one cannot starve another. */
export class RateLimit {
  readonly #clock: Clock
  readonly #bytesPerSecond: number | null
  /** When everything that was let through so far will have passed the line. */
  #busyUntil = 0

  constructor(clock: Clock, bytesPerSecond: number | null) {
    this.#clock = clock
    this.#bytesPerSecond = bytesPerSecond
  }

  /** True when nobody ever waits. */
  get isOpen(): boolean {
    return this.#bytesPerSecond === null
  }

  /** The least time that N bytes take. */
  millisecondsFor(bytes: number): number {
    return this.#bytesPerSecond === null ? 0 : (bytes / this.#bytesPerSecond) * 1000
  }

  async take(bytes: number, signal?: AbortSignal): Promise<void> {
    if (this.#bytesPerSecond === null) return
    const now = this.#clock.now()
    const start = Math.max(now, this.#busyUntil)
    this.#busyUntil = start + this.millisecondsFor(bytes)
    if (start > now) await this.#clock.sleep(start - now, signal)
  }
}
