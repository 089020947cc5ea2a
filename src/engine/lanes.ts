import { sql } from 'kysely'
import type { Wake } from './dispatch/dispatcher.ts'
import { activeIn } from './job.ts'
import type { KindRegistry, Lane } from './kind.ts'
import { type Ledger, now, type Tx } from './ledger/ledger.ts'

/** A lane as it stands for as long as the transaction lasts that has locked it. */
export interface LockedLane {
  limit: number | null
  policy: Lane['policy']
}

/** How long after its due time the leader publishes a pending job again. */
export const WAKE_GRACE_MS = 5_000

/**
 * Lanes: how many jobs may be under way at once, over all instances, and who is next.
 *
 * A job of a full lane waits in the ledger and wakes nobody. Admission happens under the lock of the lane's row
 * whenever room can have appeared: at enqueue, when a job leaves the lane, and when the limit is changed. Admitted
 * jobs hold their place until they end, retries included, so a limit is never exceeded by a late comer.
 */
export class Lanes {
  readonly #ledger: Ledger
  readonly #kinds: KindRegistry

  constructor(ledger: Ledger, kinds: KindRegistry) {
    this.#ledger = ledger
    this.#kinds = kinds
  }

  /** Writes down a lane that the ledger does not know yet; a limit that was changed meanwhile stays. */
  async declare({ name, limit, policy }: Lane): Promise<void> {
    const max_running = limit !== null && typeof limit === 'object' ? limit.perInstance : limit
    await this.#ledger.db
      .insertInto('lanes')
      .values({ name, max_running, policy })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ policy }))
      .execute()
  }

  async limit(name: string): Promise<number | null> {
    const row = await this.#ledger.db
      .selectFrom('lanes')
      .select('max_running')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.max_running ?? null
  }

  /** Returns what the new limit lets in. Jobs already under way are left alone when it is lowered. */
  async setLimit(tx: Tx, name: string, limit: number | null): Promise<Wake[]> {
    await tx.db.updateTable('lanes').set({ max_running: limit }).where('name', '=', name).execute()
    return this.admit(tx, name)
  }

  /** How many jobs are admitted before this one; 0 when it is admitted already or has ended. */
  async position(
    name: string,
    jobId: string,
  ): Promise<{ position: number; running: number; limit: number | null }> {
    const { rows } = await sql<{ position: number; running: number; max_running: number | null }>`
      with ranked as (
        select id, row_number() over (order by rank, turn, created_at, id) as position from (
          select id, created_at, ${rankBy(await this.#policy(name), name)} as rank, ${turnOf(name)} as turn
          from jobs where ${inLane(name)} and state = 'waiting'
        ) as waiting)
      select coalesce((select position from ranked where id = ${jobId}), 0) as position,
        (select count(*) from jobs where ${inLane(name)} and state in ('pending', 'running')) as running,
        (select max_running from lanes where lanes.name = ${name}) as max_running`.execute(this.#ledger.db)
    const row = rows[0]
    return {
      position: Number(row?.position ?? 0),
      running: Number(row?.running ?? 0),
      limit: row?.max_running ?? null,
    }
  }

  /** Moves jobs from `waiting` to `pending` while the lane has room. */
  async admit(tx: Tx, name: string, locked?: LockedLane): Promise<Wake[]> {
    const lane = locked ?? (await this.lock(tx, name))
    if (!lane) return []
    const rank = rankBy(lane.policy, name)
    const room =
      lane.limit === null
        ? sql`1000000`
        : sql`(select case when count(*) >= ${lane.limit} then 0 else ${lane.limit} - count(*) end
            from jobs where ${inLane(name)} and state in ('pending', 'running'))`
    const { rows } = await sql<{
      id: string
      kind: string
      owner: string | null
      delay: number
      created_at: number
    }>`
      update jobs set state = 'pending', wake_at =
        (case when due_at > wharf_now() then due_at else wharf_now() end) + ${WAKE_GRACE_MS}
      where state = 'waiting' and id in (
        select id from (
          select id, created_at, ${rank} as rank, ${turnOf(name)} as turn from jobs where ${inLane(name)} and state = 'waiting'
        ) as ranked order by rank, turn, created_at, id limit ${room})
      returning id, kind, owner, created_at, due_at - wharf_now() as delay`.execute(tx.db)
    // An update returns rows in no particular order; the first admitted should also be the first to start.
    rows.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
    if (lane.policy === 'fair') await this.#noteTurns(tx, name, new Set(rows.map(({ owner }) => owner ?? '')))
    return rows.map((row) => ({
      id: row.id,
      pool: this.#kinds.get(row.kind).pool,
      delayMs: Math.max(0, Number(row.delay)),
    }))
  }

  /** Written under the lane's lock, so no two turns have the same number. */
  async #noteTurns(tx: Tx, lane: string, owners: Set<string>): Promise<void> {
    for (const owner of owners) {
      await sql`insert into lane_turns (lane, owner, turn)
        values (${lane}, ${owner}, (select coalesce(max(turn), 0) + 1 from lane_turns where lane = ${lane}))
        on conflict (lane, owner) do update set turn = excluded.turn`.execute(tx.db)
    }
  }

  async #policy(name: string): Promise<string> {
    const row = await this.#ledger.db
      .selectFrom('lanes')
      .select('policy')
      .where('name', '=', name)
      .executeTakeFirst()
    return row?.policy ?? 'fifo'
  }

  /**
   * The row's lock lets one transaction at a time count and admit. SQLite has but one writer anyway.
   *
   * Locks are taken in one order, or transactions block each other: the lane first, then its jobs.
   */
  async lock(tx: Tx, name: string): Promise<LockedLane | undefined> {
    let query = tx.db.selectFrom('lanes').select(['max_running as limit', 'policy']).where('name', '=', name)
    if (this.#ledger.dialect === 'postgres') query = query.forUpdate()
    return query.executeTakeFirst()
  }
}

/** The time at which a job that is due at `dueAt` counts as overdue. */
export function wakeAt(dueAt: number | null) {
  return dueAt === null
    ? sql<number>`${now} + ${WAKE_GRACE_MS}`
    : sql<number>`cast(${dueAt + WAKE_GRACE_MS} as bigint)`
}

/** Only unfinished jobs of a lane are ever looked at, however many have ended. */
function inLane(name: string, table: 'jobs' | 'held' = 'jobs') {
  return sql`${sql.ref(`${table}.lane`)} = ${name} and ${activeIn(table)}`
}

/** Orders waiting jobs: by arrival alone, or first by how many jobs their owner would then have admitted. */
function rankBy(policy: string, lane: string) {
  if (policy !== 'fair') return sql`0`
  return sql`row_number() over (partition by coalesce(jobs.owner, '') order by created_at, id) + (
    select count(*) from jobs as held where ${inLane(lane, 'held')} and held.state in ('pending', 'running')
      and coalesce(held.owner, '') = coalesce(jobs.owner, ''))`
}

/** Of owners who are equal otherwise, the one whose last turn is the longest ago is next. */
function turnOf(lane: string) {
  return sql`coalesce((select turn from lane_turns
    where lane_turns.lane = ${lane} and lane_turns.owner = coalesce(jobs.owner, '')), 0)`
}
