import { type RawBuilder, sql } from 'kysely'
import type { Tx } from '../ledger/index.ts'

export interface Admitted {
  id: string
  kind: string
  delay: number
}

/** How long after its due time the leader publishes a pending job again. */
export const WAKE_GRACE_MS = 5_000

type Db = Tx['db']

/**
 * One pass over a lane: notes in `lane_queue` whose jobs have `changed`, then admits while there is a place. A full lane's queue
 * is not looked at, and each place costs the same however many wait.
 *
 * This is for SQLite. PostgreSQL does the same in `wharf_admit` (migrations/0049-retried-later.sql).
 */
export async function admitInTurn(db: Db, lane: string, changed: Iterable<string>): Promise<Admitted[]> {
  const row = await db.selectFrom('lanes').selectAll().where('name', '=', lane).executeTakeFirst()
  if (!row) return []
  const fair = row.policy === 'fair'
  const limit = row.max_running ?? Number.POSITIVE_INFINITY
  const reserve = limit > 0 ? row.reserve : 0
  if (fair) for (const owner of changed) await queueOwner(db, lane, owner)
  const admitted: Admitted[] = []
  const before = row.max_running === null ? 0 : await count(db, placesIn(lane))
  while (before + admitted.length < limit + reserve) {
    const mayHaveMore = before + admitted.length < limit
    const next = fair ? await nextOwner(db, lane, mayHaveMore) : mayHaveMore ? undefined : null
    if (next === null) break
    const { rows } = await admitOne(next ? readyOf(lane, next) : inOrderOfArrival(lane)).execute(db)
    if (next) await noteTurn(db, lane, next.owner, rows.length > 0)
    else if (rows.length === 0) break
    admitted.push(...rows)
  }
  return admitted
}

/** The same on PostgreSQL, to be sent with the commit. */
export function admission(lane: string, changed: Iterable<string>) {
  return sql<Admitted>`select * from wharf_admit(${lane}, cast(${[...changed]} as text[]), ${WAKE_GRACE_MS})`
}

/** The places of a lane that are taken; the words are those of an index. */
export function placesIn(lane: string | RawBuilder<unknown>) {
  return sql`select count(*) as count from jobs as held where held.lane = ${lane} and held.state in ('pending', 'running')`
}

/** Those that an owner holds. */
export function placesOf(lane: string | RawBuilder<unknown>, owner: string | RawBuilder<unknown>) {
  return sql`${placesIn(lane)} and coalesce(held.owner, '') = ${owner}`
}

/** Of a table named `jobs`: it waits and does not pause; the words are those of an index. */
export const isReady = sql`jobs.state = 'waiting' and jobs.paused_until is null`

/** Of a table named `jobs`: the order of an owner's jobs; the words are those of an index. */
export const IN_TURN = sql`coalesce(jobs.queued_at, jobs.created_at), jobs.id`

/**
 * Owners whose row in `lane_queue` is missing or wrong: an instance of an older version, which knows no such rows, may run on
 * the same ledger. Reads one row per owner.
 */
export async function misplacedOwners(db: Db, lane: string): Promise<string[]> {
  const first = (
    after: RawBuilder<unknown>,
  ) => sql`(select coalesce(jobs.owner, '') from jobs where jobs.lane = ${lane}
    and ${isReady} ${after} order by coalesce(jobs.owner, '') limit 1)`
  const { rows } = await sql<{ owner: string }>`with recursive owners(owner) as (
      select ${first(sql``)} union all
      select ${first(sql`and coalesce(jobs.owner, '') > owners.owner`)} from owners where owners.owner is not null)
    select owner from owners where owner is not null
      and not exists (select 1 from lane_queue where lane = ${lane} and lane_queue.owner = owners.owner)
      and not ${mayHoldNone(lane, sql`owners.owner`)}
    union select owner from lane_queue where lane = ${lane} and not exists (select 1 from jobs
      where jobs.id = lane_queue.head and jobs.priority = lane_queue.priority and ${isReady})`.execute(db)
  return rows.map(({ owner }) => owner)
}

function mayHoldNone(lane: string, owner: string | RawBuilder<unknown>) {
  return sql`exists (select 1 from lane_shares where lane_shares.lane = ${lane} and lane_shares.owner = ${owner}
    and lane_shares.max_running <= 0)`
}

async function queueOwner(db: Db, lane: string, owner: string): Promise<void> {
  const ready = (priority: RawBuilder<unknown>) => sql`select jobs.id from jobs where jobs.lane = ${lane}
    and coalesce(jobs.owner, '') = ${owner} and jobs.priority = ${priority} and ${isReady}`
  await sql`delete from lane_queue where lane = ${lane} and owner = ${owner}
    and not (exists (${ready(sql`lane_queue.priority`)}) and not ${mayHoldNone(lane, owner)})`.execute(db)
  await sql`insert into lane_queue (lane, priority, owner, turn, since, head)
    select ${lane}, p.priority, ${owner},
      coalesce((select turn from lane_turns where lane = ${lane} and owner = ${owner}), 0),
      coalesce(first.queued_at, first.created_at), first.id
    from (select 0 as priority union all select 1) as p join jobs as first
      on first.id = (${ready(sql`p.priority`)} order by ${IN_TURN} limit 1)
    where not ${mayHoldNone(lane, owner)}
    on conflict (lane, priority, owner) do update
    set turn = excluded.turn, since = excluded.since, head = excluded.head`.execute(db)
}

interface Next {
  owner: string
  priority: number
}

/** The owner with the fewest places, of equals the one whose last turn is the longest ago. */
async function nextOwner(db: Db, lane: string, mayHaveMore: boolean): Promise<Next | null> {
  const order = sql`order by priority, held, turn, since, head limit 1`
  const without = sql`select owner, priority, 0 as held, turn, since, head from lane_queue where lane = ${lane}
    and not exists (select 1 from jobs where jobs.lane = ${lane} and coalesce(jobs.owner, '') = lane_queue.owner
      and jobs.state in ('pending', 'running')) order by priority, turn, since, head limit 1`
  const holding = sql`select lane_queue.owner, priority, held, turn, since, head from (
      select coalesce(owner, '') as owner, count(*) as held from jobs
      where lane = ${lane} and state in ('pending', 'running') group by coalesce(owner, '')) as holders
    cross join lane_queue on lane_queue.lane = ${lane} and lane_queue.owner = holders.owner
    where not exists (select 1 from lane_shares where lane_shares.lane = ${lane} and lane_shares.owner = holders.owner
      and lane_shares.max_running <= holders.held) ${order}`
  const both = sql`select * from (select * from (${without}) union all select * from (${holding})) ${order}`
  const { rows } = await sql<Next>`${mayHaveMore ? both : without}`.execute(db)
  return rows[0] ?? null
}

function readyOf(lane: string, { owner, priority }: Next) {
  return sql`select jobs.id from jobs where jobs.lane = ${lane} and coalesce(jobs.owner, '') = ${owner}
    and jobs.priority = ${priority} and ${isReady} order by ${IN_TURN} limit 1`
}

function inOrderOfArrival(lane: string) {
  return sql`select jobs.id from jobs where jobs.lane = ${lane} and jobs.state = 'waiting'
    and jobs.state in ('waiting', 'pending', 'running') order by jobs.created_at, jobs.id limit 1`
}

function admitOne(which: RawBuilder<unknown>) {
  return sql<Admitted>`update jobs set state = 'pending', paused_until = null,
      wake_at = max(due_at, wharf_now()) + ${WAKE_GRACE_MS}
    where id = (${which}) returning id, kind, due_at - wharf_now() as delay`
}

async function noteTurn(db: Db, lane: string, owner: string, hadIt: boolean): Promise<void> {
  if (hadIt)
    await sql`insert into lane_turns (lane, owner, turn)
      values (${lane}, ${owner}, (select coalesce(max(turn), 0) + 1 from lane_turns where lane = ${lane}))
      on conflict (lane, owner) do update set turn = excluded.turn`.execute(db)
  await queueOwner(db, lane, owner)
}

async function count(db: Db, counting: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ count: number }>`${counting}`.execute(db)
  return Number(rows[0]?.count ?? 0)
}
