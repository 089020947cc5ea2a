import type { Manifest } from './manifest.ts'

/** A file, whole or growing from its start, that others may take pieces of. */
export interface Holding {
  readonly task: string
  readonly manifest: Manifest
  /** Pieces from the start that are checked and on disk. */
  readonly have: number
  /** Fills `into` with the piece; it is one of the first `have`. */
  read(index: number, into: Buffer): Promise<void>
  /** Resolves when there are more than `count`; rejects when it will never be so, or on abort. */
  beyond(count: number, signal: AbortSignal): Promise<void>
}

/** Wakes whoever waits for a number to grow. */
export class Growth {
  readonly #waiting = new Set<{ resolve(): void; reject(reason: unknown): void; count: number }>()
  #count: number
  #over: { reason: unknown } | undefined

  constructor(count = 0) {
    this.#count = count
  }

  get count(): number {
    return this.#count
  }

  grow(count: number): void {
    this.#count = count
    for (const waiter of this.#waiting) {
      if (waiter.count >= count) continue
      this.#waiting.delete(waiter)
      waiter.resolve()
    }
  }

  end(reason: unknown): void {
    this.#over ??= { reason }
    for (const waiter of this.#waiting) waiter.reject(reason)
    this.#waiting.clear()
  }

  async beyond(count: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#count > count) return
    if (this.#over) throw this.#over.reason
    await new Promise<void>((resolve, reject) => {
      const waiter = { resolve: done(resolve), reject: done(reject), count }
      const abort = () => {
        this.#waiting.delete(waiter)
        reject(signal.reason)
      }
      function done<A extends unknown[]>(action: (...args: A) => void): (...args: A) => void {
        return (...args) => {
          signal.removeEventListener('abort', abort)
          action(...args)
        }
      }
      this.#waiting.add(waiter)
      signal.addEventListener('abort', abort, { once: true })
    })
  }
}
