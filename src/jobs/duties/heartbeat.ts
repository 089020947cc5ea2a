import { hostname } from 'node:os'
import { type QueryCreator, sql } from 'kysely'
import type { Duty } from '../../kernel/index.ts'
import { type Ledger, type LedgerClock, now, type Schema } from '../../ledger/index.ts'
import type { Leadership } from '../leadership.ts'

/** What an instance says of its files; see `Membership`. */
export interface Said {
  home: string | null
  store: string | null
  marker: string | null
}

interface Beat {
  seen_at: number
  leads: boolean
}

interface HeartbeatDeps {
  ledger: Ledger
  clock: LedgerClock
  instance: string
  version: string
  /** An instance that was not seen for this long is dead. */
  leaseMs: number
  leadership: Leadership
  said?: (() => Said) | undefined
}

/**
 * Keeps this instance in the list of living ones, asks for leadership, and learns the ledger's time. On PostgreSQL all of it
 * is one statement: it is most of what an idle instance sends.
 */
export class HeartbeatDuty implements Duty {
  readonly name = 'heartbeat'
  readonly #deps: HeartbeatDeps
  #alive: number | undefined

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  /** Instances alive at the last heartbeat; undefined where it does not say. */
  get alive(): number | undefined {
    return this.#alive
  }

  async runOnce(): Promise<void> {
    const { ledger, clock, leadership } = this.#deps
    await clock.set(async () => {
      const { seen_at, leads } = await (ledger.dialect === 'postgres' ? this.#inOne() : this.#inTwo())
      leadership.settle(leads)
      return Number(seen_at)
    })
  }

  async #inOne(): Promise<Beat> {
    const { ledger, leadership, leaseMs } = this.#deps
    const { alive, ...beat } = await ledger.db
      .with('beat', (db) => this.#beat(db))
      .with('lead', () => sql<{ holder: string }>`(${leadership.claim()})`)
      .selectFrom('beat')
      .select([
        'seen_at',
        sql<boolean>`exists (select 1 from lead)`.as('leads'),
        sql<number>`(select count(*) from instances where instances.seen_at > wharf_now() - ${leaseMs})`.as(
          'alive',
        ),
      ])
      .executeTakeFirstOrThrow()
    this.#alive = Number(alive)
    return beat
  }

  async #inTwo(): Promise<Beat> {
    const { ledger, leadership } = this.#deps
    const { seen_at } = await this.#beat(ledger.db).executeTakeFirstOrThrow()
    const { rows } = await leadership.claim().execute(ledger.db)
    return { seen_at, leads: rows.length > 0 }
  }

  #beat(db: QueryCreator<Schema>) {
    const { instance, version, said } = this.#deps
    const files = said?.() ?? { home: null, store: null, marker: null }
    const row = { id: instance, host: hostname(), pid: process.pid, version, ...files }
    return db
      .insertInto('instances')
      .values({ ...row, started_at: now, seen_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
      .returning('seen_at')
  }

  /** For one that runs alone: all others are dead, or its own predecessor. */
  async forgetOthers(): Promise<void> {
    await this.#deps.ledger.db.deleteFrom('instances').where('id', '!=', this.#deps.instance).execute()
  }

  async leave(): Promise<void> {
    await this.#deps.ledger.db.deleteFrom('instances').where('id', '=', this.#deps.instance).execute()
  }
}
