import { background } from '../kernel/index.ts'

/** How many files are under way at once. One waiter at a time: the loop that begins them. */
export class Connections {
  readonly #most: number
  #busy = 0
  #waiter: (() => void) | undefined

  constructor(most: number) {
    this.#most = most
  }

  get busy(): number {
    return this.#busy
  }

  /** Resolves when there is room for one more. */
  async room(): Promise<void> {
    while (this.#busy >= this.#most) await this.oneLess()
  }

  /** Resolves when one of those under way has ended. */
  async oneLess(): Promise<void> {
    if (this.#busy > 0) await new Promise<void>((resolve) => (this.#waiter = resolve))
  }

  async idle(): Promise<void> {
    while (this.#busy > 0) await this.oneLess()
  }

  begin(work: () => Promise<void>): void {
    this.#busy++
    const done = work().finally(() => {
      this.#busy--
      this.#waiter?.()
      this.#waiter = undefined
    })
    background('downloading a file', done)
  }
}
