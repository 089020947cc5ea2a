import { sql } from 'kysely'
import type { Ledger } from '../../ledger/index.ts'

export interface OpenWork {
  kind: string
  state: 'waiting' | 'pending' | 'running'
  count: number
  /** The longest that one of them is due, by the ledger's clock. */
  oldestMs: number
}

/** Literals, and the words of the partial indexes: only so does each part read unfinished jobs alone. */
export const OPEN_WORK = `
  select kind, 'pending' as state, count(*) as count, wharf_now() - min(due_at) as oldest
    from jobs where state = 'pending' group by kind
  union all
  select kind, 'waiting', count(*), wharf_now() - min(due_at) from jobs
    where state = 'waiting' and lane is not null and state in ('waiting', 'pending', 'running') group by kind
  union all
  select kind, 'running', count(*), 0 from jobs where state = 'running' group by kind`

/** What is queued and running over all instances, by kind: one statement. */
export async function readOpenWork({ db }: Ledger): Promise<OpenWork[]> {
  const { rows } = await sql
    .raw<Pick<OpenWork, 'kind' | 'state'> & { count: number; oldest: number }>(OPEN_WORK)
    .execute(db)
  return rows.map(({ kind, state, count, oldest }) => ({
    kind,
    state,
    count: Number(count),
    oldestMs: Math.max(0, Number(oldest)),
  }))
}

/** How many jobs of each lane may be under way over all instances; a lane without a limit is left out. */
export async function readLaneLimits({ db }: Ledger): Promise<Map<string, number>> {
  const rows = await db.selectFrom('lanes').select(['name', 'max_running']).execute()
  return new Map(rows.flatMap(({ name, max_running }) => (max_running === null ? [] : [[name, max_running]])))
}
