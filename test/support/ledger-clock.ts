import { sql } from 'kysely'
import type { Ledger } from '../../src/ledger/index.ts'
import { ManualClock } from './manual-clock.ts'

/** Moves the process' clock and the ledger's together. PostgreSQL has its own, so it is given one that reads a table. */
export class LedgerClock extends ManualClock {
  #ledger: Ledger | undefined

  /** From now on `ledger` tells this clock's time. */
  async govern(ledger: Ledger): Promise<void> {
    if (ledger.dialect === 'sqlite') return
    await sql`create table test_clock (ms bigint not null)`.execute(ledger.db)
    await sql`insert into test_clock values (${this.now()})`.execute(ledger.db)
    await sql
      .raw(
        'create or replace function wharf_now() returns bigint language sql volatile as $$ select ms from test_clock $$',
      )
      .execute(ledger.db)
    this.#ledger = ledger
  }

  async move(ms: number): Promise<void> {
    if (this.#ledger) await sql`update test_clock set ms = ms + ${ms}`.execute(this.#ledger.db)
    this.advance(ms)
  }
}
