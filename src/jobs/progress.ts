import type { Clock } from '../kernel/index.ts'

const PROGRESS_INTERVAL_MS = 500
/** A reason of its own: without one, each abort makes an error with a stack. */
const CLOSED = Symbol('progress is closed')

/** Lets the latest value through at most once per interval: a busy job reports often and writes seldom. */
export class ProgressThrottle {
  readonly #clock: Clock
  readonly #write: (value: unknown) => Promise<boolean>
  readonly #closed = new AbortController()
  #latest: { value: unknown } | undefined
  #pump: Promise<void> | undefined

  /** `write` answers whether the value was written; one that was not is kept, unless a newer one is there. */
  constructor(clock: Clock, write: (value: unknown) => Promise<boolean>) {
    this.#clock = clock
    this.#write = write
  }

  report(value: unknown): void {
    if (this.#closed.signal.aborted) return
    this.#latest = { value }
    this.#pump ??= this.#run()
  }

  /** Ends reporting and hands back what was not written yet: the end of the job writes it along. */
  async close(): Promise<unknown> {
    this.#closed.abort(CLOSED)
    await this.#pump
    return this.#latest?.value
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed
    while (this.#latest && !signal.aborted) {
      const taken = this.#latest
      this.#latest = undefined
      if (!(await this.#write(taken.value))) this.#latest ??= taken
      await this.#clock.sleep(PROGRESS_INTERVAL_MS, signal).catch(() => undefined)
    }
    this.#pump = undefined
  }
}
