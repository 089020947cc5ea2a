import { background, endsWithin, systemClock } from '../kernel/index.ts'

/** A stop waits for no more than this: what it waits for needs a ledger that may be away. */
const LONGEST_MS = 2_000

/** What is still to be done when a caller has its answer, such as to record a download. A stop waits for it. */
export class AfterAnswer {
  readonly #open = new Set<Promise<void>>()

  /** `what` names the work in the log, if it fails. */
  add(what: string, work: Promise<unknown>): void {
    background(what, work)
    const over = work.then(
      () => undefined,
      () => undefined,
    )
    this.#open.add(over)
    background(
      what,
      over.then(() => this.#open.delete(over)),
    )
  }

  async done(): Promise<void> {
    await endsWithin(systemClock, LONGEST_MS, Promise.all(this.#open))
  }
}
