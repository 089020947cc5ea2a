import { sql } from 'kysely'
import type { Duty } from '../../kernel/index.ts'
import type { Wake } from '../dispatch/dispatcher.ts'
import type { KindRegistry } from '../kind.ts'
import type { Lanes } from '../lanes.ts'
import type { Ledger } from '../ledger/ledger.ts'

/**
 * Fits the limit of lanes that allow so many jobs for each instance to the number of instances alive. One that was not
 * seen for as long as a lease lasts is dead, as its jobs are free by then.
 */
export class CapacityDuty implements Duty {
  readonly name = 'capacity'
  readonly #deps: { ledger: Ledger; kinds: KindRegistry; lanes: Lanes; wake(wakes: Wake[]): void }
  readonly #leaseMs: number

  constructor(
    deps: { ledger: Ledger; kinds: KindRegistry; lanes: Lanes; wake(wakes: Wake[]): void },
    { leaseMs }: { leaseMs: number },
  ) {
    this.#deps = deps
    this.#leaseMs = leaseMs
  }

  async runOnce(): Promise<void> {
    const { ledger, kinds, lanes } = this.#deps
    const scaled = kinds
      .all()
      .flatMap(({ lane }) =>
        lane && typeof lane.limit === 'object' && lane.limit ? [{ ...lane, limit: lane.limit }] : [],
      )
    if (scaled.length === 0) return
    const alive = await ledger.db
      .selectFrom('instances')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('seen_at', '>', sql<number>`wharf_now() - ${this.#leaseMs}`)
      .executeTakeFirst()
    for (const { name, limit } of scaled) {
      const wanted = Math.max(1, Number(alive?.count ?? 1)) * limit.perInstance
      if ((await lanes.limit(name)) === wanted) continue
      await ledger.transaction(async (tx) => lanes.setLimit(tx, name, wanted, this.#deps.wake))
    }
  }
}
