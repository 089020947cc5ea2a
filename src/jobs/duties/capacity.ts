import { sql } from 'kysely'
import type { Duty } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import type { Wake } from '../dispatch/dispatcher.ts'
import type { KindRegistry } from '../kind.ts'
import type { Lanes } from '../lanes.ts'

/**
 * Fits the limit of lanes that allow N jobs per instance to the number of instances alive. One that was not
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
