import { AppError, ERRORS, isAppError } from '../kernel/index.ts'

export interface GathererOptions {
  /** Requests that may share one transaction. */
  maxBatch?: number
  /** Transactions under way at once. */
  concurrency?: number
}

interface Waiting<I, O> {
  request: I
  resolve(outcome: O): void
  reject(error: unknown): void
}

/**
 * Gathers what concurrent callers ask for into few transactions. Nobody waits for company: a lone request is carried
 * out at once, and whoever comes while a transaction is under way goes with the next one. Each caller is answered
 * after the commit of the transaction that it went with.
 */
export class JoinGatherer<I, O> {
  readonly #perform: (requests: I[]) => Promise<(O | AppError)[]>
  readonly #maxBatch: number
  readonly #concurrency: number
  readonly #waiting: Waiting<I, O>[] = []
  #underWay = 0

  /** `perform` answers for each request in order; it rejects only if nothing of the batch was written. */
  constructor(
    perform: (requests: I[]) => Promise<(O | AppError)[]>,
    { maxBatch = 250, concurrency = 2 }: GathererOptions = {},
  ) {
    this.#perform = perform
    this.#maxBatch = maxBatch
    this.#concurrency = concurrency
  }

  join(request: I): Promise<O> {
    return new Promise<O>((resolve, reject) => {
      this.#waiting.push({ request, resolve, reject })
      // After the callers of this turn of the event loop: they came together.
      if (this.#waiting.length === 1) setImmediate(() => this.#pump())
    })
  }

  #pump(): void {
    while (this.#waiting.length > 0 && this.#underWay < this.#concurrency) {
      const batch = this.#waiting.splice(0, this.#maxBatch)
      this.#underWay++
      void this.#carryOut(batch).finally(() => {
        this.#underWay--
        this.#pump()
      })
    }
  }

  async #carryOut(batch: Waiting<I, O>[]): Promise<void> {
    try {
      const outcomes = await this.#perform(batch.map(({ request }) => request))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index]
        if (outcome instanceof AppError) reject(outcome)
        else resolve(outcome as O)
      }
    } catch (error) {
      // One request that the ledger cannot take must not fail the others.
      if (batch.length > 1 && !isAppError(error, ERRORS.LEDGER_UNAVAILABLE))
        for (const waiting of batch) await this.#carryOut([waiting])
      else for (const { reject } of batch) reject(error)
    }
  }
}
