import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { nullable, Time } from '../jobs/index.ts'
import { newId } from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'

/** One action of one actor. */
export interface Deed {
  /** `admin`, `key KEY_ID`, `ticket`, or `command` for one that works on the ledger itself. */
  actor: string
  /** Like `project.created`. */
  action: string
  projectId: string | null
  /** What it was done to: ids as they are in addresses. */
  target: string
  /** Where the request came from. */
  address: string | null
  /** More, without secrets. */
  detail?: object
}

export type AuditEntry = Static<typeof AuditEntry>
export const AuditEntry = Type.Object(
  {
    seq: Type.Integer(),
    at: Time,
    actor: Type.String({ description: "admin, 'key KEY_ID', ticket, or command" }),
    action: Type.String({ description: 'like project.created' }),
    project_id: nullable(Type.String()),
    target: Type.String({ description: 'ids of what it was done to' }),
    address: nullable(Type.String()),
    detail: nullable(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'AuditEntry' },
)

export interface AuditFilter {
  after?: number
  /** Newest first, below this one. */
  before?: number | undefined
  limit: number
  actor?: string | undefined
  action?: string | undefined
}

/** Held by the one that appends, up to the commit: so numbers become visible in their order. */
const APPEND_LOCK = 0x77_68_61_75

/** The append-only record of who did what. */
export class AuditLog {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Recorded if the transaction commits, and only then. */
  record(tx: Tx, deed: Deed): void {
    const append = tx.db.insertInto('audit').values({
      at: now,
      actor: deed.actor,
      action: deed.action,
      project_id: deed.projectId,
      target: deed.target,
      address: deed.address,
      detail: deed.detail === undefined ? null : JSON.stringify(deed.detail),
    })
    tx.atCommit({
      // Sorts after all others: the lock is held for the shortest time. A name of its own, because each deed counts.
      name: `~ audit ${newId()}`,
      statements: () => [sql`select pg_advisory_xact_lock(${APPEND_LOCK})`.compile(tx.db), append.compile()],
      inTurn: () => append.execute(),
    })
  }

  /** For what was done in a transaction that is out of reach, right after it. */
  async recordAlone(deed: Deed): Promise<void> {
    await this.#ledger.transaction(async (tx) => this.record(tx, deed))
  }

  async read({ after = 0, before, limit, actor, action }: AuditFilter): Promise<AuditEntry[]> {
    const entries = this.#ledger.db.selectFrom('audit').selectAll().limit(limit)
    let query =
      before === undefined
        ? entries.where('seq', '>', after).orderBy('seq')
        : entries.where('seq', '<', before).orderBy('seq', 'desc')
    if (actor !== undefined) query = query.where('actor', '=', actor)
    if (action !== undefined) query = query.where('action', '=', action)
    const rows = await query.execute()
    return rows.map((row) => ({
      ...row,
      at: new Date(row.at).toISOString(),
      detail: row.detail === null ? null : (JSON.parse(row.detail) as Record<string, unknown>),
    }))
  }
}
