import { AppError, background, ERRORS, isAppError } from '../kernel/index.ts'

export interface GatherOptions {
  /** Batches under way at once. */
  batches?: number
  /** Calls that may share a batch. */
  maxBatch?: number
}

interface Waiting<T, R> {
  item: T
  resolve(result: R): void
  reject(error: unknown): void
}

/**
 * Gathers what concurrent callers ask for into few transactions. The calls of one turn of the event loop go out together.
 * No call waits for others: a lone call goes out by itself, and a call that comes while enough batches are under way goes
 * with the next one. Each caller is answered for
 * itself after the commit: when a batch fails its calls are carried out one by one, so that one which the ledger cannot
 * take does not fail the others.
 */
export class Gather<T, R> {
  readonly #work: (items: T[]) => Promise<(R | AppError)[]>
  readonly #batches: number
  readonly #maxBatch: number
  readonly #waiting: Waiting<T, R>[] = []
  #underWay = 0

  /** `work` answers each item in their order; it rejects only if nothing of the batch was written. */
  constructor(
    work: (items: T[]) => Promise<(R | AppError)[]>,
    { batches = 1, maxBatch = 64 }: GatherOptions = {},
  ) {
    this.#work = work
    this.#batches = batches
    this.#maxBatch = maxBatch
  }

  add(item: T): Promise<R> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject })
      if (this.#waiting.length === 1) setImmediate(() => this.#pump())
    })
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#underWay < this.#batches) {
      const batch = this.#waiting.splice(0, this.#maxBatch)
      this.#underWay++
      const done = this.#carryOut(batch).finally(() => {
        this.#underWay--
        this.#pump()
      })
      background('carrying out a batch', done)
    }
  }

  async #carryOut(batch: Waiting<T, R>[]): Promise<void> {
    try {
      const results = await this.#work(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result instanceof AppError) reject(result)
        else resolve(result as R)
      }
    } catch (error) {
      if (batch.length > 1 && !isAppError(error, ERRORS.LEDGER_UNAVAILABLE))
        for (const waiting of batch) await this.#carryOut([waiting])
      else for (const { reject } of batch) reject(error)
    }
  }
}
