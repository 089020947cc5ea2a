import { background } from '../../kernel/index.ts'

/** Counts what is under way, so that a consumer asks for more only while it has room. */
export class Slots {
  #available: number
  #waiter: (() => void) | undefined

  constructor(size: number) {
    this.#available = size
  }

  get available(): number {
    return this.#available
  }

  /** Resolves as soon as at least one slot is free, or the signal aborts. For one waiter at a time. */
  async free(signal: AbortSignal): Promise<void> {
    const wake = () => this.#waiter?.()
    signal.addEventListener('abort', wake)
    while (this.#available <= 0 && !signal.aborted)
      await new Promise<void>((resolve) => (this.#waiter = resolve))
    signal.removeEventListener('abort', wake)
  }

  run(work: () => Promise<void>): void {
    this.#available--
    const done = work().finally(() => {
      this.#available++
      this.#waiter?.()
      this.#waiter = undefined
    })
    background('taking a job', done)
  }
}
