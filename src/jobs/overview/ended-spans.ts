import { sql } from 'kysely'
import type { Ledger } from '../../ledger/index.ts'
import { EndsByMinute, MINUTE, NOTED_KINDS } from './ends-by-minute.ts'

export const SPAN = 15 * 60_000
/** An end has its time from the statement that writes it; by then the slowest transaction is over. */
const SETTLED_MS = 2 * 60_000
const KEEP_MS = 31 * 86_400_000

export interface SpanEnds {
  kind: string
  at: number
  finished: number
  failed: number
}

/** Ends by the quarter of an hour, added up by the leader and read by those who look back further than an hour. */
export class EndedSpans {
  readonly #ledger: Ledger
  /** Reads a few minutes at a time: a busy quarter in one statement would hold up all else in an embedded server. */
  readonly #minutes: EndsByMinute

  constructor(ledger: Ledger) {
    this.#ledger = ledger
    this.#minutes = new EndsByMinute(ledger, [...NOTED_KINDS])
  }

  /** Adds up the quarters that are over, one at a time. Safe to repeat, and to be called before single ends are deleted. */
  async addUp(now: number): Promise<void> {
    const until = Math.floor((now - SETTLED_MS) / SPAN) * SPAN
    let from = await this.addedUntil()
    for (;;) {
      const next = await this.#edge('min', 'ended_work', from)
      if (next === null || next >= until) break
      const at = Math.floor(next / SPAN) * SPAN
      const ends = await this.#minutes.read(at / MINUTE, (at + SPAN) / MINUTE - 1)
      const sum = (kind: string, what: 'finished' | 'failed') =>
        ends.reduce((total, end) => (end.kind === kind ? total + end[what] : total), 0)
      const rows = [...new Set(ends.map(({ kind }) => kind))].map((kind) => ({
        kind,
        at,
        finished: sum(kind, 'finished'),
        failed: sum(kind, 'failed'),
      }))
      await this.#ledger.db
        .insertInto('ended_spans')
        .values(rows)
        .onConflict((known) =>
          known.columns(['kind', 'at']).doUpdateSet((eb) => ({
            finished: eb.ref('excluded.finished'),
            failed: eb.ref('excluded.failed'),
          })),
        )
        .execute()
      from = at + SPAN
    }
    await this.#ledger.db
      .deleteFrom('ended_spans')
      .where('kind', 'in', NOTED_KINDS)
      .where('at', '<', now - KEEP_MS)
      .execute()
  }

  /** What was added up since `from`, in steps of `step`; both are whole quarters. */
  async read(from: number, step: number): Promise<SpanEnds[]> {
    const { rows } = await sql<SpanEnds>`
      select kind, at / ${sql.lit(step)} * ${sql.lit(step)} as at, sum(finished) as finished, sum(failed) as failed
      from ended_spans where kind in (${sql.join(NOTED_KINDS)}) and at >= ${from} group by 1, 2`.execute(
      this.#ledger.db,
    )
    return rows.map(({ kind, at, finished, failed }) => ({
      kind,
      at: Number(at),
      finished: Number(finished),
      failed: Number(failed),
    }))
  }

  /** The end of the last quarter that was added up. Those after it without an end have no row and need none. */
  async addedUntil(): Promise<number> {
    const last = await this.#edge('max', 'ended_spans', 0)
    return last === null ? 0 : last + SPAN
  }

  /** Kind by kind: each is one look at the end of an index. */
  async #edge(
    which: 'min' | 'max',
    table: 'ended_work' | 'ended_spans',
    from: number,
  ): Promise<number | null> {
    const ofKind = (kind: string) =>
      sql`select ${sql.raw(which)}(at) as at from ${sql.table(table)} where kind = ${sql.lit(kind)} and at >= ${from}`
    const { rows } = await sql<{ at: number | null }>`
      select ${sql.raw(which)}(at) as at from (${sql.join(NOTED_KINDS.map(ofKind), sql` union all `)}) as edges`.execute(
      this.#ledger.db,
    )
    const at = rows[0]?.at
    return at === null || at === undefined ? null : Number(at)
  }
}
