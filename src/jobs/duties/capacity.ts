import { sql } from 'kysely'
import type { Duty } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { Wake } from '../dispatch/dispatcher.ts'
import type { KindRegistry } from '../kind.ts'
import type { Lanes } from '../lanes.ts'

interface CapacityDeps {
  ledger: Ledger
  kinds: KindRegistry
  lanes: Lanes
  /** Instances alive, if it is known without asking. */
  alive(): number | undefined
  wake(wakes: Wake[]): void
}

const MOST_SKIPPED = 6

/**
 * Fits the limit of lanes that allow N jobs per instance to the number of instances alive. One that was not
 * seen for as long as a lease lasts is dead, as its jobs are free by then.
 */
export class CapacityDuty implements Duty {
  readonly name = 'capacity'
  readonly #deps: CapacityDeps
  readonly #leaseMs: number
  #fitted: number | undefined
  #skipped = 0

  constructor(deps: CapacityDeps, { leaseMs }: { leaseMs: number }) {
    this.#deps = deps
    this.#leaseMs = leaseMs
  }

  /**
   * Most passes send nothing while the number of instances stays as it was. Not all: an instance that came and died
   * between two heartbeats of the leader raised the limit, and the leader has not seen it.
   */
  async runOnce(): Promise<void> {
    const alive = this.#deps.alive()
    if (alive !== undefined && alive === this.#fitted && ++this.#skipped < MOST_SKIPPED) return
    this.#skipped = 0
    await this.fit()
    this.#fitted = alive
  }

  /** Another leader may have fitted the limits since. */
  forget(): void {
    this.#fitted = undefined
  }

  async fit(): Promise<void> {
    const { ledger, kinds, lanes } = this.#deps
    const scaled = kinds
      .all()
      .flatMap(({ lane }) =>
        lane && typeof lane.limit === 'object' && lane.limit ? [{ ...lane, limit: lane.limit }] : [],
      )
    if (scaled.length === 0) return
    const { rows } = await sql<{ name: string; max_running: number | null; alive: number }>`
      select name, max_running, (select count(*) from instances where seen_at > wharf_now() - ${this.#leaseMs}) as alive
      from lanes where name in (${sql.join(scaled.map(({ name }) => name))})`.execute(ledger.db)
    for (const { name, limit } of scaled) {
      const row = rows.find((lane) => lane.name === name)
      const wanted = Math.max(1, Number(row?.alive ?? 1)) * limit.perInstance
      if (row?.max_running === wanted) continue
      await ledger.transaction(async (tx) => lanes.setLimit(tx, name, wanted, this.#deps.wake))
    }
  }
}
