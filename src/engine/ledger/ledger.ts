import { createHash } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { messageOf } from '../../kernel/index.ts'
import type { Schema } from './schema.ts'

/** The ledger's clock in milliseconds: PostgreSQL's own, or the process' clock in SQLite. */
export const now = sql<number>`wharf_now()`

/** One transaction of the ledger. What must happen only if it commits is registered with `afterCommit`. */
export interface Tx {
  readonly db: Transaction<Schema>
  /** The ledger's clock. */
  now(): Promise<number>
  afterCommit(action: () => void): void
  /** Takes a lock that ends with the transaction, or answers false at once when another transaction has it. */
  tryLock(name: string): Promise<boolean>
}

const DEADLOCK_OR_SERIALIZATION = new Set(['40P01', '40001'])
const MAX_TRIES = 5

/** The only truth: every state, lease, retry time and event lives here, and a reader never sees half a change. */
export class Ledger {
  readonly db: Kysely<Schema>
  readonly dialect: 'sqlite' | 'postgres'
  readonly #onClose: () => Promise<void>
  readonly #held = new Set<string>()

  constructor(db: Kysely<Schema>, dialect: 'sqlite' | 'postgres', onClose: () => Promise<void>) {
    this.db = db
    this.dialect = dialect
    this.#onClose = onClose
  }

  async now(): Promise<number> {
    return readClock(this.db)
  }

  /**
   * Runs `work` in one transaction. PostgreSQL may end one of two transactions that wait for each other; then the
   * work is simply done again, so it must have no effect besides the transaction and `afterCommit`.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const actions: (() => void)[] = []
      const locks: string[] = []
      let result: T
      try {
        result = await this.db.transaction().execute((db) =>
          work({
            db,
            now: () => readClock(db),
            afterCommit: (action) => actions.push(action),
            tryLock: (name) => this.#tryLock(db, name, locks),
          }),
        )
      } catch (error) {
        const code = (error as { code?: string }).code ?? ''
        if (attempt >= MAX_TRIES || !DEADLOCK_OR_SERIALIZATION.has(code)) throw error
        continue
      } finally {
        for (const name of locks) this.#held.delete(name)
      }
      for (const action of actions) perform(action)
      return result
    }
  }

  /** One read of several statements that all see the same moment. */
  async snapshot<T>(read: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    if (this.dialect === 'sqlite') return this.db.transaction().execute(read)
    return this.db.transaction().setIsolationLevel('repeatable read').execute(read)
  }

  /** True if a statement goes through; the reason otherwise. */
  async ping(): Promise<true | string> {
    try {
      await this.now()
      return true
    } catch (error) {
      return messageOf(error)
    }
  }

  async close(): Promise<void> {
    await this.db.destroy()
    await this.#onClose()
  }

  async #tryLock(db: Kysely<Schema>, name: string, locks: string[]): Promise<boolean> {
    if (this.dialect === 'sqlite') {
      if (this.#held.has(name)) return false
      this.#held.add(name)
      locks.push(name)
      return true
    }
    const key = createHash('sha256').update(name).digest().readBigInt64BE()
    const { rows } = await sql<{
      locked: boolean
    }>`select pg_try_advisory_xact_lock(${key.toString()}::bigint) as locked`.execute(db)
    return rows[0]?.locked === true
  }
}

/** The transaction is committed: nothing that an action does may make it look as if it had failed. */
function perform(action: () => void): void {
  try {
    action()
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error))
  }
}

async function readClock(db: Kysely<Schema>): Promise<number> {
  const { rows } = await sql<{ now: number }>`select wharf_now() as now`.execute(db)
  return Number(rows[0]?.now)
}
