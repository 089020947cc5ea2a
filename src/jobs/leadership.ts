import { sql } from 'kysely'
import type { Log } from '../kernel/index.ts'
import type { Ledger } from '../ledger/index.ts'

export interface LeadershipOptions {
  /** How long leadership lasts without being renewed. */
  leaseMs?: number
  /** A lock proves that no other instance is alive, so the lease of the last leader need not run out. */
  sole?: boolean
}

/** Elects one instance through a lease in the ledger. Each heartbeat renews it, or tries to take it over. */
export class Leadership {
  readonly #deps: { ledger: Ledger; instance: string; log: Log }
  readonly #leaseMs: number
  readonly #sole: boolean
  #leads = false
  #onChange: (leads: boolean) => void = () => undefined

  constructor(
    deps: { ledger: Ledger; instance: string; log: Log },
    { leaseMs = 20_000, sole = false }: LeadershipOptions = {},
  ) {
    this.#deps = deps
    this.#leaseMs = leaseMs
    this.#sole = sole
  }

  get leads(): boolean {
    return this.#leads
  }

  onChange(listener: (leads: boolean) => void): void {
    this.#onChange = listener
  }

  /** Returns a row if this instance leads from now on; `settle` must know. */
  claim() {
    return sql<{ holder: string }>`
      insert into leaders (name, holder, lease_until) values ('wharf', ${this.#deps.instance}, wharf_now() + ${this.#leaseMs})
      on conflict (name) do update set holder = excluded.holder, lease_until = excluded.lease_until
      where leaders.holder = excluded.holder or leaders.lease_until < wharf_now() or ${this.#sole ? 1 : 0} = 1
      returning holder`
  }

  settle(leads: boolean): void {
    if (leads === this.#leads) return
    this.#leads = leads
    this.#deps.log.info({ leads }, leads ? 'this instance leads now' : 'this instance no longer leads')
    this.#onChange(leads)
  }

  /** Lets go at once, so that another instance need not wait for the lease to run out. */
  async resign(): Promise<void> {
    if (!this.#leads) return
    this.settle(false)
    await this.#deps.ledger.db
      .deleteFrom('leaders')
      .where('name', '=', 'wharf')
      .where('holder', '=', this.#deps.instance)
      .execute()
  }
}
