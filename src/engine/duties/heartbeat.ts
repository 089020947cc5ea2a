import { hostname } from 'node:os'
import type { Duty } from '../../kernel/index.ts'
import { type Ledger, now } from '../ledger/ledger.ts'

export const HEARTBEAT_EVERY_MS = 30_000
/** An instance that was not seen for this long does not count. */
export const ALIVE_MS = 3 * HEARTBEAT_EVERY_MS

/** What an instance says of its files; see `Membership`. */
export interface Said {
  home: string | null
  store: string | null
  marker: string | null
}

interface HeartbeatDeps {
  ledger: Ledger
  instance: string
  version: string
  said?: (() => Said) | undefined
}

/** Keeps this instance in the list of living ones. */
export class HeartbeatDuty implements Duty {
  readonly name = 'heartbeat'
  readonly #deps: HeartbeatDeps

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  async runOnce(): Promise<void> {
    const { ledger, instance, version, said } = this.#deps
    const files = said?.() ?? { home: null, store: null, marker: null }
    const row = { id: instance, host: hostname(), pid: process.pid, version, ...files }
    await ledger.db
      .insertInto('instances')
      .values({ ...row, started_at: now, seen_at: now })
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
