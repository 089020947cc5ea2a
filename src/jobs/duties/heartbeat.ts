import { hostname } from 'node:os'
import type { Duty } from '../../kernel/index.ts'
import { type Ledger, type LedgerClock, now } from '../../ledger/index.ts'

/** What an instance says of its files; see `Membership`. */
export interface Said {
  home: string | null
  store: string | null
  marker: string | null
}

interface HeartbeatDeps {
  ledger: Ledger
  clock: LedgerClock
  instance: string
  version: string
  said?: (() => Said) | undefined
}

/** Keeps this instance in the list of living ones, and learns the ledger's time from it. */
export class HeartbeatDuty implements Duty {
  readonly name = 'heartbeat'
  readonly #deps: HeartbeatDeps

  constructor(deps: HeartbeatDeps) {
    this.#deps = deps
  }

  async runOnce(): Promise<void> {
    const { ledger, clock, instance, version, said } = this.#deps
    const files = said?.() ?? { home: null, store: null, marker: null }
    const row = { id: instance, host: hostname(), pid: process.pid, version, ...files }
    await clock.set(async () => {
      const { seen_at } = await ledger.db
        .insertInto('instances')
        .values({ ...row, started_at: now, seen_at: now })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
        .returning('seen_at')
        .executeTakeFirstOrThrow()
      return Number(seen_at)
    })
  }

  async forgetOthers(): Promise<void> {
    await this.#deps.ledger.db.deleteFrom('instances').execute()
  }

  async leave(): Promise<void> {
    await this.#deps.ledger.db.deleteFrom('instances').where('id', '=', this.#deps.instance).execute()
  }
}
