/**
 * Gathers what arrives while the last batch is written, and writes it as the next one. Under load many callers share a
 * statement and a commit; a lone caller waits for nobody.
 */
export class Batcher<T, R> {
  readonly #write: (items: T[]) => Promise<R[]>
  readonly #max: number
  #waiting: { item: T; resolve(result: R): void; reject(error: unknown): void }[] = []
  #writing = false

  /** `write` answers one result for each item, in the same order. */
  constructor(write: (items: T[]) => Promise<R[]>, { max = 200 }: { max?: number } = {}) {
    this.#write = write
    this.#max = max
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (!this.#writing) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#writing = true
    // Callers of the same turn of the event loop travel together from the start.
    await new Promise((resolve) => setImmediate(resolve))
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#max)
      try {
        const results = await this.#write(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => {
          resolve(results[index] as R)
        })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.#writing = false
  }
}
