import { type Kysely, sql } from 'kysely'
import { commitWith, type Ledger, type Schema } from '../../ledger/index.ts'

export interface Event {
  seq: number
  type: string
  kind: string
  projectId: string | null
  taskId: string | null
  jobId: string | null
  data: Record<string, unknown>
  at: number
}

export interface EventFilter {
  projectId?: string
  taskId?: string
}

/**
 * The readers' side of the one log that callback, WebSocket, SSE and the console replay; `emitter.ts` writes it. It is
 * read by `after = seq`: a reader that has seen `seq` never misses an event below it.
 *
 * On PostgreSQL that takes care: numbers taken while writing can become visible out of order. So writers leave `seq`
 * empty, and a reader numbers what is committed before it reads. One numbers at a time; the cost falls on those who
 * read, in batches, and never on those who write.
 */
export class EventLog {
  readonly #ledger: Ledger
  readonly #db: Kysely<Schema>

  /** `db`: the connections that `read`, `last` and `number` use. */
  constructor(ledger: Ledger, db: Kysely<Schema> = ledger.db) {
    this.#ledger = ledger
    this.#db = db
  }

  async read(after: number, filter: EventFilter = {}, limit = 500): Promise<Event[]> {
    await this.number()
    let query = this.#db.selectFrom('events').selectAll().where('seq', '>', after).orderBy('seq').limit(limit)
    if (filter.projectId !== undefined) query = query.where('project_id', '=', filter.projectId)
    if (filter.taskId !== undefined) query = query.where('task_id', '=', filter.taskId)
    return (await query.execute()).map((row) => ({
      seq: row.seq,
      type: row.type,
      kind: row.kind,
      projectId: row.project_id,
      taskId: row.task_id,
      jobId: row.job_id,
      data: JSON.parse(row.data) as Record<string, unknown>,
      at: row.at,
    }))
  }

  /** The newest number a reader may see now. */
  async last(): Promise<number> {
    await this.number()
    return lastSeq(this.#db)
  }

  /**
   * Reads state together with its `seq`: following events from there on neither repeats nor skips a
   * change that `read` has seen.
   */
  async snapshot<T>(read: (db: Kysely<Schema>) => Promise<T>): Promise<{ seq: number; value: T }> {
    if (this.#ledger.dialect === 'sqlite') {
      return this.#ledger.snapshot(async (db) => ({ seq: await lastSeq(db), value: await read(db) }))
    }
    return this.#ledger.db
      .transaction()
      .setIsolationLevel('repeatable read')
      .execute(async (db) => {
        // The lock is taken before the snapshot is: nobody else numbers until the snapshot is read.
        await LOCK_NUMBERING.execute(db)
        await NUMBER_COMMITTED.execute(db)
        return { seq: await lastSeq(db), value: await read(db) }
      })
  }

  /** Deletes what is older than `ageMs`, but never the newest event: it holds the count. */
  async forget(ageMs: number, batch = 5_000): Promise<number> {
    const last = await this.last()
    const before = (await this.#ledger.now()) - ageMs
    const result = await this.#ledger.db
      .deleteFrom('events')
      .where('seq', 'in', (eb) =>
        eb
          .selectFrom('events')
          .select('seq')
          .where('at', '<', before)
          .where('seq', '<', last)
          // By age, so that a look which finds nothing old reads nothing.
          .orderBy('at')
          .limit(batch),
      )
      .executeTakeFirst()
    return Number(result.numDeletedRows)
  }

  /** Gives numbers to what was committed since. Does nothing on SQLite, whose single writer numbers as it writes. */
  async number(): Promise<void> {
    if (this.#ledger.dialect === 'sqlite') return
    const open = await sql<{ open: boolean }>`
      select exists (select 1 from events where seq is null) as open`.execute(this.#db)
    if (!open.rows[0]?.open) return
    await this.#db.executeQuery(
      commitWith([LOCK_NUMBERING.compile(this.#db), NUMBER_COMMITTED.compile(this.#db)]),
    )
  }
}

const LOCK_NUMBERING = sql`lock table event_numbering in exclusive mode`

const NUMBER_COMMITTED = sql`update events set seq = numbered.seq from (
    select id, row_number() over (order by id) + (select coalesce(max(seq), 0) from events) as seq
    from events where seq is null
  ) as numbered where events.id = numbered.id`

async function lastSeq(db: Kysely<Schema>): Promise<number> {
  const row = await db
    .selectFrom('events')
    .select(({ fn }) => fn.max('seq').as('seq'))
    .executeTakeFirst()
  return Number(row?.seq ?? 0)
}
