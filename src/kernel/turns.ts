import { orAborted } from './abort.ts'

/** At most `most` at once; the others wait their turn, first come, first served. */
export class Turns {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #busy = 0

  constructor(most: number) {
    this.#most = most
  }

  async run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      this.#give()
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#busy < this.#most) {
      this.#busy++
      return
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    try {
      await orAborted(promise, signal)
    } catch (error) {
      const at = this.#waiting.indexOf(resolve)
      // Gone from the list: the turn was given a moment before the abort, and goes to the next.
      if (at < 0) this.#give()
      else this.#waiting.splice(at, 1)
      throw error
    }
  }

  /** A turn passes straight to the next one, so that nobody who comes later gets between. */
  #give(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#busy--
  }
}
