import { hostname } from 'node:os'
import type { Duty } from '../../kernel/index.ts'
import { type Ledger, now } from '../ledger/ledger.ts'

export const HEARTBEAT_EVERY_MS = 30_000

/** Keeps this instance in the list of living ones. */
export class HeartbeatDuty implements Duty {
  readonly name = 'heartbeat'
  readonly #deps: { ledger: Ledger; instance: string; version: string }

  constructor(deps: { ledger: Ledger; instance: string; version: string }) {
    this.#deps = deps
  }

  async runOnce(): Promise<void> {
    const { ledger, instance, version } = this.#deps
    await ledger.db
      .insertInto('instances')
      .values({ id: instance, host: hostname(), pid: process.pid, version, started_at: now, seen_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
      .execute()
  }

  async forgetOthers(): Promise<void> {
    await this.#deps.ledger.db.deleteFrom('instances').execute()
  }

  async leave(): Promise<void> {
    await this.#deps.ledger.db.deleteFrom('instances').where('id', '=', this.#deps.instance).execute()
  }
}
