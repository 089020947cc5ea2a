export interface GatherOptions {
  /** Batches under way at once; up to here a call goes out alone and at once. */
  batches?: number
  maxBatch?: number
}

/**
 * Gathers calls that would wait for one another anyway: while enough batches are under way, further calls wait, and
 * then go out together. A single call is never delayed for the sake of others that might come.
 */
export class Gather<T, R> {
  readonly #work: (items: T[]) => Promise<R[]>
  readonly #options: Required<GatherOptions>
  #waiting: { item: T; resolve(result: R): void; reject(error: unknown): void }[] = []
  #underWay = 0

  /** `work` answers one result for each item, in their order. */
  constructor(work: (items: T[]) => Promise<R[]>, { batches = 2, maxBatch = 64 }: GatherOptions = {}) {
    this.#work = work
    this.#options = { batches, maxBatch }
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#underWay >= this.#options.batches || this.#waiting.length === 0) return
    const batch = this.#waiting.splice(0, this.#options.maxBatch)
    this.#underWay++
    void this.#work(batch.map(({ item }) => item))
      .then(
        (results) => {
          for (const [index, { resolve }] of batch.entries()) resolve(results[index] as R)
        },
        (error) => {
          for (const { reject } of batch) reject(error)
        },
      )
      .finally(() => {
        this.#underWay--
        this.#next()
      })
  }
}
