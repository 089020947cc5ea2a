import { type RawBuilder, sql } from 'kysely'
import type { WaitsOn } from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import { activeIn } from './job.ts'
import type { KindRegistry, Lane } from './kind.ts'

/** Hears of the jobs that may start now, after the commit. */
export type Woken = (wakes: Wake[]) => void

interface Admitted {
  id: string
  kind: string
  owner: string | null
  delay: number
  created_at: number
}

/** How long after its due time the leader publishes a pending job again. */
export const WAKE_GRACE_MS = 5_000
/** How long a deferred job lets others go first: after that it is one of them, so it never starves. */
const DEFERRED_MS = 10 * 60_000

/**
 * Lanes: how many jobs may be under way at once, over all instances, and who is next.
 *
 * A job of a full lane waits in the ledger and wakes no worker. Admission happens under the lock of the lane's row
 * whenever a place may be free: at enqueue, when a job leaves the lane, and when the limit is changed. Admitted
 * jobs hold their place until they end, so a limit is never exceeded by a late comer. In a fair lane a job that pauses
 * before it is tried again gives its place away: what waits for a slow source must not hold up others.
 *
 * Every job of a lane waits for that one row, so it is locked with the commit alone (`Tx.atCommit`), and the transaction that has it
 * waits for nobody: a waiting job whose own row another transaction holds (a cancel, a request that joins it) is left
 * out. Its place stays free for a moment, because that other transaction admits, too, when it commits. Should it never
 * commit, the leader sees the free place, see `hasRoom`.
 */
export class Lanes {
  readonly #ledger: Ledger
  readonly #kinds: KindRegistry

  constructor(ledger: Ledger, kinds: KindRegistry) {
    this.#ledger = ledger
    this.#kinds = kinds
  }

  /** Writes down a lane that the ledger does not know yet; a limit that was changed meanwhile stays. */
  async declare({ name, limit, policy, reserve = 0 }: Lane): Promise<void> {
    const max_running = limit !== null && typeof limit === 'object' ? limit.perInstance : limit
    await this.#ledger.db
      .insertInto('lanes')
      .values({ name, max_running, policy, reserve })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ policy, reserve }))
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

  /** Jobs already under way are left alone when the limit is lowered. */
  setLimit(tx: Tx, name: string, limit: number | null, woken: Woken): void {
    const change = tx.db.updateTable('lanes').set({ max_running: limit }).where('name', '=', name)
    tx.atCommit({
      name: `lane ${name}: 1 limit`,
      statements: () => [change.compile()],
      inTurn: () => change.execute(),
    })
    this.admit(tx, name, woken)
  }

  /** How many places of a lane this owner may hold; null: as many as there are. */
  async setShare(tx: Tx, name: string, owner: string, max: number | null, woken: Woken): Promise<void> {
    if (max === null)
      await tx.db.deleteFrom('lane_shares').where('lane', '=', name).where('owner', '=', owner).execute()
    else
      await tx.db
        .insertInto('lane_shares')
        .values({ lane: name, owner, max_running: max })
        .onConflict((conflict) => conflict.columns(['lane', 'owner']).doUpdateSet({ max_running: max }))
        .execute()
    this.admit(tx, name, woken)
  }

  /** Lets the jobs of this owner that pause for `outage` try again at once. */
  async resume(tx: Tx, name: string, owner: string, outage: WaitsOn, woken: Woken): Promise<void> {
    await tx.db
      .updateTable('jobs')
      .set({ paused_until: null, due_at: now, wake_at: sql<number>`wharf_now() + ${WAKE_GRACE_MS}` })
      .where(sql<boolean>`${inLane(name)} and jobs.state = 'waiting'`)
      .where('owner', '=', owner)
      .where('outage', '=', outage)
      .execute()
    this.admit(tx, name, woken)
  }

  /** How many places of a lane this owner holds. */
  async held(name: string, owner: string): Promise<number> {
    const { rows } = await sql<{ held: number }>`select count(*) as held from jobs where ${inLane(name)}
      and jobs.state in ('pending', 'running') and jobs.owner = ${owner}`.execute(this.#ledger.db)
    return Number(rows[0]?.held ?? 0)
  }

  /** Whether another job could start if a job of this owner gave its place away. */
  async othersWait(name: string, owner: string | null): Promise<boolean> {
    const { rows } = await sql<{ id: string }>`select id from jobs where ${inLane(name)} and ${isReady()}
      and (coalesce(jobs.owner, '') = ${owner ?? ''} or not ${isOverShare(name)}) limit 1`.execute(
      this.#ledger.db,
    )
    return rows.length > 0
  }

  /**
   * How many jobs are admitted before this one; 0 when it is admitted already or has ended. `overShare`: it waits because
   * its owner, with the jobs that came before it, would hold more places than it may.
   */
  async position(
    name: string,
    jobId: string,
  ): Promise<{ position: number; running: number; limit: number | null; overShare: boolean }> {
    const { rows } = await sql<{
      position: number
      running: number
      max_running: number | null
      over_share: number | null
    }>`
      with ranked as (
        select id, row_number() over (order by later, rank, turn, created_at, id) as position from (
          select id, created_at, ${isLater()} as later, ${rankBy(this.#policy(name), name)} as rank, ${turnOf(name)} as turn
          from jobs where ${inLane(name)} and ${canStart(name)}
        ) as waiting)
      select coalesce((select position from ranked where id = ${jobId}), 0) as position,
        ${admittedIn(name)} as running,
        (select max_running from lanes where lanes.name = ${name}) as max_running,
        (select 1 from jobs where jobs.id = ${jobId} and jobs.state = 'waiting'
          and (jobs.paused_until is null or jobs.paused_until <= wharf_now())
          and ${shareOf(name)} <= ${heldBy(name)} + (select count(*) from jobs as earlier where ${inLane(name, 'earlier')}
            and earlier.state = 'waiting' and coalesce(earlier.owner, '') = coalesce(jobs.owner, '')
            and (earlier.paused_until is null or earlier.paused_until <= wharf_now())
            and (earlier.created_at, earlier.id) < (jobs.created_at, jobs.id))) as over_share`.execute(
      this.#ledger.db,
    )
    const row = rows[0]
    return {
      position: Number(row?.position ?? 0),
      running: Number(row?.running ?? 0),
      limit: row?.max_running ?? null,
      overShare: row?.over_share != null,
    }
  }

  /**
   * Moves jobs from `waiting` to `pending` while the lane has free places, once per transaction: `woken` of the first call hears
   * of them, `admitted` of each.
   */
  admit(tx: Tx, name: string, woken: Woken, admitted?: Woken): void {
    const { db } = tx
    const first = tx.atCommit<Admitted>({
      name: `lane ${name}: 2 admit`,
      statements: () => [
        db.selectFrom('lanes').select('name').where('name', '=', name).forNoKeyUpdate().compile(),
        this.#admission(name).compile(db),
      ],
      inTurn: () => this.#admitInTurn(db, name),
      done: (rows) => {
        const wakes = rows.map((row) => this.#wakeOf(row))
        admitted?.(wakes)
        if (first && wakes.length > 0) woken(wakes)
      },
    })
  }

  /** Admits, notes whose turn it was, and answers with the jobs in the order in which they came: one statement of PostgreSQL. */
  #admission(name: string) {
    const turns = sql`, turns as (insert into lane_turns (lane, owner, turn)
      select ${name}, owner, row_number() over (order by created_at, id)
        + (select coalesce(max(turn), 0) from lane_turns where lane = ${name})
      from (select distinct on (owner) coalesce(owner, '') as owner, created_at, id from admitted
        order by owner, created_at, id) as had
      on conflict (lane, owner) do update set turn = excluded.turn)`
    return sql<Admitted>`with picked as materialized (${this.#next(name)}),
      free as materialized (select jobs.id from jobs join picked on picked.id = jobs.id where jobs.state = 'waiting'
        for no key update of jobs skip locked),
      admitted as (${admitWhere(sql`id in (select id from free)`)})
      ${this.#policy(name) === 'fair' ? turns : sql``}
      select * from admitted order by created_at, id`
  }

  async #admitInTurn(db: Tx['db'], name: string): Promise<Admitted[]> {
    const { rows } = await admitWhere(sql`state = 'waiting' and id in (${this.#next(name)})`).execute(db)
    // An update returns rows in no particular order; the first admitted should also be the first to start.
    rows.sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
    if (this.#policy(name) === 'fair')
      for (const owner of new Set(rows.map(({ owner }) => owner ?? ''))) {
        await sql`insert into lane_turns (lane, owner, turn)
          values (${name}, ${owner}, (select coalesce(max(turn), 0) + 1 from lane_turns where lane = ${name}))
          on conflict (lane, owner) do update set turn = excluded.turn`.execute(db)
      }
    return rows
  }

  /** Who is next: this is what both ledgers mean by a lane's order and limit. */
  #next(name: string) {
    // The jobs that wait in a full lane are not read, however many they are.
    if (this.#policy(name) === 'fifo')
      return sql`select id from jobs where ${inLane(name)} and ${canStart(name)}
        order by ${isLater()}, created_at, id limit coalesce((select case when max_running is null then 1000000000
          when max_running > ${admittedIn(name)} then max_running - ${admittedIn(name)} else 0 end
          from lanes where lanes.name = ${name}), 0)`
    return sql`select placed.id from (
        select id, rank, row_number() over (order by later, rank, turn, created_at, id) + ${admittedIn(name)} as place from (
          select id, created_at, ${isLater()} as later, ${rankBy(this.#policy(name), name)} as rank, ${turnOf(name)} as turn, ${shareOf(name)} as share
          from jobs where ${inLane(name)} and ${canStart(name)}
        ) as ranked where share is null or rank <= share
      ) as placed join lanes on lanes.name = ${name}
      where lanes.max_running is null or place <= lanes.max_running
        or (rank = 1 and lanes.max_running > 0 and place <= lanes.max_running + lanes.reserve)`
  }

  #wakeOf({ id, kind, delay }: Admitted): Wake {
    return { id, pool: this.#kinds.get(kind).pool, delayMs: Math.max(0, Number(delay)) }
  }

  #policy(name: string): Lane['policy'] {
    return this.#kinds.all().find(({ lane }) => lane?.name === name)?.lane?.policy ?? 'fifo'
  }
}

function admitWhere(which: RawBuilder<unknown>) {
  return sql<Admitted>`update jobs set state = 'pending', paused_until = null,
      wake_at = (case when due_at > wharf_now() then due_at else wharf_now() end) + ${WAKE_GRACE_MS}
    where ${which} returning id, kind, owner, created_at, due_at - wharf_now() as delay`
}

/** Only unfinished jobs of a lane are ever looked at, however many have ended. */
function inLane(name: string | RawBuilder<unknown>, table: 'jobs' | 'held' | 'earlier' = 'jobs') {
  return sql`${sql.ref(`${table}.lane`)} = ${name} and ${activeIn(table)}`
}

function admittedIn(name: string | RawBuilder<unknown>) {
  return sql`(select count(*) from jobs where ${inLane(name)} and jobs.state in ('pending', 'running'))`
}

/**
 * Of a row in `lanes`: it could admit a job that waits. Only if the transaction that should have done so was cut off, or
 * if a pause has ended.
 */
export function hasRoom() {
  const name = sql.ref('lanes.name')
  const waits = sql`select 1 from jobs where ${inLane(name)} and ${canStart(name)}`
  return sql<boolean>`((exists (${waits}) and (lanes.max_running is null or lanes.max_running > ${admittedIn(name)}))
    or (lanes.reserve > 0 and lanes.max_running > 0 and lanes.max_running + lanes.reserve > ${admittedIn(name)}
      and exists (${waits} and ${heldBy(name)} = 0)))`
}

/** Waits, does not pause, and its owner holds fewer places than it may. */
function canStart(lane: string | RawBuilder<unknown>) {
  return sql`${isReady()} and not ${isOverShare(lane)}`
}

function isReady() {
  return sql`jobs.state = 'waiting' and (jobs.paused_until is null or jobs.paused_until <= wharf_now())`
}

function isOverShare(lane: string | RawBuilder<unknown>) {
  return sql`exists (select 1 from lane_shares where lane_shares.lane = ${lane}
    and lane_shares.owner = coalesce(jobs.owner, '') and lane_shares.max_running <= ${heldBy(lane)})`
}

/** How many places the owner of a row in `jobs` holds. */
function heldBy(lane: string | RawBuilder<unknown>) {
  return sql`(select count(*) from jobs as held where ${inLane(lane, 'held')}
    and held.state in ('pending', 'running') and coalesce(held.owner, '') = coalesce(jobs.owner, ''))`
}

function shareOf(lane: string) {
  return sql`(select max_running from lane_shares
    where lane_shares.lane = ${lane} and lane_shares.owner = coalesce(jobs.owner, ''))`
}

/** Orders waiting jobs: by arrival alone, or first by how many jobs their owner would then have admitted. */
function rankBy(policy: string, lane: string) {
  if (policy !== 'fair') return sql`0`
  return sql`row_number() over (partition by coalesce(jobs.owner, '') order by ${isLater()}, created_at, id) + ${heldBy(lane)}`
}

/** 1 for a job that lets others go first. */
function isLater() {
  return sql`(case when jobs.priority > 0 and jobs.created_at > wharf_now() - ${DEFERRED_MS} then 1 else 0 end)`
}

/** Of owners who are equal otherwise, the one whose last turn is the longest ago is next. */
function turnOf(lane: string) {
  return sql`coalesce((select turn from lane_turns
    where lane_turns.lane = ${lane} and lane_turns.owner = coalesce(jobs.owner, '')), 0)`
}
