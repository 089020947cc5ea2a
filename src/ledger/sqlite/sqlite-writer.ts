import type { DatabaseSync } from 'node:sqlite'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { toSqliteLedgerError } from '../outage.ts'

export interface GroupCommitOptions {
  /** Transactions that may share one commit. */
  maxGroup?: number
}

interface Turn {
  resolve(): void
  reject(error: unknown): void
}

/**
 * The one writer of a SQLite file, with group commit.
 *
 * With `synchronous=FULL` a commit costs one fsync, and that is all it costs. So transactions which wait for one
 * another share it: each runs alone, as a savepoint inside one physical transaction, and is answered only after the
 * commit of that physical transaction. A transaction that rolls back takes nobody with it; a commit that fails (disk
 * full, say) fails every transaction of the group, and none of them is on disk.
 */
export class SqliteWriter {
  readonly #db: DatabaseSync
  readonly #maxGroup: number
  readonly #waiting: Turn[] = []
  #busy = false
  #group: Turn[] = []

  constructor(db: DatabaseSync, { maxGroup = 64 }: GroupCommitOptions = {}) {
    this.#db = db
    this.#maxGroup = maxGroup
  }

  /** Resolves when it is the caller's turn; the caller must then `commit` or `rollback`. */
  async begin(): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }))
    this.#busy = true
    try {
      if (!this.#db.isTransaction) this.#db.exec('begin immediate')
      this.#db.exec('savepoint member')
    } catch (error) {
      this.#leave()
      throw toSqliteLedgerError(error)
    }
  }

  /** Throws if SQLite has given the transaction up: what is written from then on would be outside of it. */
  requireTransaction(): void {
    // Some errors (disk full, I/O) make SQLite roll back the whole physical transaction by itself.
    if (!this.#db.isTransaction)
      throw new AppError(ERRORS.LEDGER_UNAVAILABLE, 'SQLite rolled the transaction back', { retryAfter: 2 })
  }

  /** Resolves when the transaction is on disk. */
  commit(): Promise<void> {
    const durable = new Promise<void>((resolve, reject) => this.#group.push({ resolve, reject }))
    try {
      this.requireTransaction()
      this.#db.exec('release member')
    } catch (error) {
      this.#giveUp(error)
    }
    this.#leave()
    return durable
  }

  rollback(): void {
    try {
      this.requireTransaction()
      this.#db.exec('rollback to member; release member')
    } catch (error) {
      this.#giveUp(error)
    }
    this.#leave()
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (!next || this.#group.length >= this.#maxGroup) this.#flush()
    if (next) next.resolve()
    else this.#busy = false
  }

  #flush(): void {
    if (!this.#db.isTransaction) return
    try {
      this.#db.exec('commit')
    } catch (error) {
      this.#giveUp(error)
      return
    }
    for (const member of this.#group.splice(0)) member.resolve()
  }

  /** Nothing of the physical transaction is kept, so every member of it must fail. */
  #giveUp(error: unknown): void {
    if (this.#db.isTransaction) this.#db.exec('rollback')
    const failure = toSqliteLedgerError(error)
    for (const member of this.#group.splice(0)) member.reject(failure)
  }
}
