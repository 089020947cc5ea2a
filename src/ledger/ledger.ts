import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely'
import { AppError, ERRORS, isAppError, messageOf, orAborted } from '../kernel/index.ts'
import { allowTime } from './allow-time.ts'
import { commitWith } from './commit-with.ts'
import { NO_ANSWER, unansweredBy } from './outage.ts'
import type { Schema } from './schema.ts'

/**
 * The ledger's clock in milliseconds: PostgreSQL's own, or the process' clock in SQLite.
 *
 * To be written, or compared with a row that is found otherwise. Rows are found by a time that was read before, with
 * `Ledger.now()`: PostgreSQL asks this one for each row anew, and so reads them all instead of a part of an index.
 */
export const now = sql<number>`wharf_now()`

/** What a transaction does last, see `Tx.atCommit`. */
interface Closing<R = unknown> {
  name: string
  /** For PostgreSQL: sent one after another without waiting, so none depends on what this process reads of another. */
  statements(): CompiledQuery[]
  /** For SQLite, which has but one writer: nobody waits for it any longer than for the rest of the transaction. */
  inTurn(): Promise<R[]>
  /** Called after the commit with the rows of the last statement. */
  done?(rows: R[]): void
  /** For statements that call `wharf_refuse(name, reason)`: what the transaction fails with. */
  refused?(reason: string): Error
}

/** One transaction of the ledger. What must happen only if it commits is registered with `afterCommit`. */
export interface Tx {
  readonly db: Transaction<Schema>
  /** The ledger's clock. */
  now(): Promise<number>
  afterCommit(action: () => void): void
  /**
   * Registers what locks rows that many wait for. It is done at the very end: on PostgreSQL in one message with the
   * commit, so that a client which stops can never be what the others wait for. What is registered twice is done once,
   * and all of it in the order of names, so that two transactions do not wait for each other in a circle.
   *
   * False if another one of that name was registered before; then only `done` is added.
   */
  atCommit<R>(closing: Closing<R>): boolean
  /** Takes a lock that ends with the transaction, or answers false at once when another transaction has it. */
  tryLock(name: string): Promise<boolean>
}

const DEADLOCK_OR_SERIALIZATION = new Set(['40P01', '40001'])
const WAITED_TOO_LONG = new Set(['55P03', '57014', NO_ANSWER])
/** Raised by `wharf_refuse`. */
const REFUSED = 'WH001'
const MAX_TRIES = 5
/** A connection that breaks before the commit changes nothing. Once more is enough: the next may be to a server that is away. */
const MAX_CONNECTIONS = 2
const MAINTENANCE_LIMIT_MS = 10 * 60_000
/** Who asks whether the ledger is there has no use for a late answer. */
const PING_MS = 5_000
const LOOKS = 20
const LOOK_EVERY_MS = 100

/** The only truth: every state, lease, retry time and event lives here, and a reader never sees half a change. */
export class Ledger {
  readonly db: Kysely<Schema>
  /** For those who follow the event log: connections that the work never waits for, nor they for the work. */
  readonly readers: Kysely<Schema>
  readonly dialect: 'sqlite' | 'postgres'
  readonly #onClose: () => Promise<void>
  readonly #misplaced: () => string | undefined
  readonly #held = new Set<string>()

  constructor(
    db: Kysely<Schema>,
    dialect: 'sqlite' | 'postgres',
    onClose: () => Promise<void>,
    {
      readers = db,
      misplaced = () => undefined,
    }: { readers?: Kysely<Schema>; misplaced?: () => string | undefined } = {},
  ) {
    this.db = db
    this.readers = readers
    this.dialect = dialect
    this.#onClose = onClose
    this.#misplaced = misplaced
  }

  async now(): Promise<number> {
    return readClock(this.db)
  }

  /**
   * Runs `work` in one transaction. PostgreSQL may end one of two transactions that wait for each other, or the
   * connection of a process that had stopped in the middle; then the work is simply done again, so it must have no
   * effect besides the transaction and `afterCommit`.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const actions: (() => void)[] = []
      const closings = new Map<string, Closings>()
      const locks: string[] = []
      let atWork = false
      let result: T
      try {
        result = await this.db.transaction().execute(async (db) => {
          atWork = true
          const done = await work({
            db,
            now: () => readClock(db),
            afterCommit: (action) => actions.push(action),
            atCommit: (closing) => register(closings, closing as Closing),
            tryLock: (name) => this.#tryLock(db, name, locks),
          })
          atWork = false
          actions.unshift(...(await this.#close(db, closings)))
          return done
        })
      } catch (error) {
        if (attempt >= triesFor(error, atWork)) throw error
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

  /** For statements that tidy up and may take minutes. They should lock nothing that others wait for. */
  async maintenance<T>(work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
    if (this.dialect === 'sqlite') return work(this.db)
    return this.db.transaction().execute(async (db) => {
      await allowTime(db, MAINTENANCE_LIMIT_MS)
      return work(db)
    })
  }

  /** The reason, where the embedded ledger is no longer the file that was opened. */
  misplaced(): string | undefined {
    try {
      return this.#misplaced()
    } catch (error) {
      return `the ledger cannot be looked at: ${messageOf(error)}`
    }
  }

  /** True if a statement goes through soon; the reason otherwise. */
  async ping(): Promise<true | string> {
    const misplaced = this.misplaced()
    if (misplaced !== undefined) return misplaced
    const late = AbortSignal.timeout(PING_MS)
    try {
      await orAborted(this.now(), late)
      return true
    } catch (error) {
      return late.aborted ? 'the ledger does not answer' : messageOf(error)
    }
  }

  /**
   * To be asked after an outage, before anything that the ledger does not show is taken for not done: the session that did
   * not answer may still be about to commit. Resolves when it is over; rejects while that cannot be known.
   */
  async untilDecided(outage: unknown): Promise<void> {
    const session = unansweredBy(outage)
    if (session === undefined) return
    for (let look = 1; look <= LOOKS; look++) {
      const { rows } = await sql`select pid from pg_stat_activity
        where pid = ${session} and datname = current_database() and usename = current_user`.execute(this.db)
      if (rows.length === 0) return
      await setTimeout(LOOK_EVERY_MS)
    }
    throw new AppError(ERRORS.LEDGER_UNAVAILABLE, 'a session that does not answer is still open', {
      retryAfter: 2,
    })
  }

  async close(): Promise<void> {
    if (this.readers !== this.db) await this.readers.destroy()
    await this.db.destroy()
    await this.#onClose()
  }

  /** Answers what is to be called after the commit. */
  async #close(db: Kysely<Schema>, registered: Map<string, Closings>): Promise<(() => void)[]> {
    const closings = [...registered.values()].sort(([a], [b]) => (a.name < b.name ? -1 : 1))
    if (closings.length === 0) return []
    const results: unknown[][] = []
    if (this.dialect === 'sqlite') for (const [first] of closings) results.push(await first.inTurn())
    else {
      const groups = closings.map(([first]) => first.statements())
      const { rows } = await db.executeQuery(commitWith(groups.flat())).catch((error) => {
        throw refusal(error, closings)
      })
      for (const group of groups) results.push(rows.splice(0, group.length).at(-1)?.rows ?? [])
    }
    return closings.flatMap((group, index) =>
      group.map(
        ({ done }) =>
          () =>
            done?.(results[index] ?? []),
      ),
    )
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

/** Those of one name; the first one's statements are for all of them. */
type Closings = [Closing, ...Closing[]]

function register(closings: Map<string, Closings>, closing: Closing): boolean {
  const before = closings.get(closing.name)
  if (before) before.push(closing)
  else closings.set(closing.name, [closing])
  return before === undefined
}

/** The reason of a closing that has refused its transaction, in its own words. */
function refusal(error: unknown, closings: readonly Closings[]): unknown {
  if (codeOf(error) !== REFUSED) return error
  const { message, detail } = error as { message: string; detail?: string }
  return closings.find(([{ name }]) => name === detail)?.[0].refused?.(message) ?? error
}

/** How often a transaction that failed with this error may be tried; `atWork`: its commit was not sent yet. */
function triesFor(error: unknown, atWork: boolean): number {
  if (DEADLOCK_OR_SERIALIZATION.has(codeOf(error))) return MAX_TRIES
  const lost = atWork && isAppError(error, ERRORS.LEDGER_UNAVAILABLE)
  // A caller that has waited for the longest time allowed does not wait again.
  return lost && !WAITED_TOO_LONG.has(codeOf(error.cause)) ? MAX_CONNECTIONS : 1
}

function codeOf(error: unknown): string {
  return (error as { code?: string } | undefined)?.code ?? ''
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
