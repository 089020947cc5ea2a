import { type RawBuilder, sql } from 'kysely'
import type { WaitsOn } from '../kernel/index.ts'
import { type Ledger, now, type Tx } from '../ledger/index.ts'
import type { Wake } from './dispatch/dispatcher.ts'
import { activeIn, isNow } from './job.ts'
import type { KindRegistry, Lane } from './kind.ts'
import {
  type Admitted,
  admission,
  admitInTurn,
  IN_TURN,
  isReady,
  misplacedOwners,
  placesIn,
  placesOf,
  WAKE_GRACE_MS,
} from './lane-queue.ts'

/** Hears of the jobs that may start now, after the commit. */
export type Woken = (wakes: Wake[]) => void

interface Admission {
  /** Whose jobs of the lane the transaction has added, taken out or made ready. */
  changed?: Iterable<string | null>
  /** Hears of all that was admitted, whoever else is woken. */
  admitted?: Woken
}

/** How long a deferred job lets others go first: after that it is one of them, so it never starves. */
export const DEFERRED_MS = 10 * 60_000
/** A job that is tried again comes after the jobs of its owner that are there within this time, so it never starves either. */
export const LETS_OTHERS_MS = 10 * 60_000
const RIPENED_AT_ONCE = 500

/**
 * Lanes: how many jobs may be under way at once, over all instances, and who is next.
 *
 * A job of a full lane waits in the ledger and wakes no worker. Admission happens under the lock of the lane's row
 * whenever a place may be free: at enqueue, when a job leaves the lane, and when the limit is changed. Admitted
 * jobs hold their place until they end, so a limit is never exceeded by a late comer. In a fair lane a job that pauses
 * before it is tried again gives its place away: what waits for a slow source must not hold up others. Nor may it when it comes
 * back: a job that has failed by itself or by its source lets the owner's others go first that were not tried yet, see
 * `LETS_OTHERS_MS`. One that waits for a part of the installation keeps its turn: what it has built is to leave the disk first.
 *
 * Every job of a lane waits for that one row, so it is locked with the commit alone (`Tx.atCommit`), and the transaction that has it
 * waits for nobody: a waiting job whose own row another transaction holds (a cancel, a request that joins it) is left
 * out. Its place stays free for a moment, because that other transaction admits, too, when it commits. Should it never
 * commit, the leader sees the free place, see `hasRoom`.
 *
 * Whose turn it is in a fair lane is in `lane_queue`, which a pass brings up to date before it admits: whatever adds a job,
 * takes one out or makes one ready says so with `changed`.
 */
export class Lanes {
  readonly #ledger: Ledger
  readonly #kinds: KindRegistry
  readonly #changed = new WeakMap<Tx, Map<string, Set<string>>>()

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
    this.admit(tx, name, woken, { changed: [owner] })
  }

  /** Lets the jobs of this owner that pause for `outage` try again at once. */
  async resume(tx: Tx, name: string, owner: string, outage: WaitsOn, woken: Woken): Promise<void> {
    await tx.db
      .updateTable('jobs')
      .set({ paused_until: null, due_at: now, wake_at: sql<number>`wharf_now() + ${WAKE_GRACE_MS}` })
      .where('lane', '=', name)
      .where(sql<boolean>`jobs.state = 'waiting' and jobs.paused_until is not null`)
      .where('owner', '=', owner)
      .where('outage', '=', outage)
      .execute()
    this.admit(tx, name, woken, { changed: [owner] })
  }

  /** Ends the pause of a job, if it is over. */
  async endPause(tx: Tx, id: string, woken: Woken): Promise<void> {
    const over = await tx.db
      .updateTable('jobs')
      .set({ paused_until: null })
      .where('id', '=', id)
      .where(isNow('waiting'))
      .where('paused_until', '<=', now)
      .returning(['lane', 'owner'])
      .executeTakeFirst()
    if (over?.lane) this.admit(tx, over.lane, woken, { changed: [over.owner] })
  }

  /** Makes those ready whose pause is over, and lets those take part that have let others go first for long enough. */
  async ripen(tx: Tx, woken: Woken): Promise<void> {
    if (this.#names().length === 0) return
    const at = await tx.now()
    const some = (which: RawBuilder<unknown>) => sql`${isNow('waiting')} and id in (select id from jobs
      where state = 'waiting' and ${which} and lane in (${sql.join(this.#names())}) limit ${RIPENED_AT_ONCE}
      ${this.#ledger.dialect === 'postgres' ? sql`for no key update skip locked` : sql``})
      returning lane, owner`
    for (const ripe of [
      sql`update jobs set paused_until = null where ${some(sql`paused_until is not null and paused_until <= ${at}`)}`,
      sql`update jobs set priority = 0 where ${some(sql`priority > 0 and created_at <= ${at - DEFERRED_MS}`)}`,
    ]) {
      const { rows } = await sql<{ lane: string; owner: string | null }>`${ripe}`.execute(tx.db)
      for (const { lane, owner } of rows) this.admit(tx, lane, woken, { changed: [owner] })
    }
  }

  /** The leader's look at all lanes: owners that are missing in a queue, and places that nobody took. */
  async repair(tx: Tx, woken: Woken): Promise<void> {
    for (const name of this.#names())
      this.admit(tx, name, woken, { changed: await misplacedOwners(tx.db, name) })
  }

  /** How many places of a lane this owner holds. */
  async held(name: string, owner: string): Promise<number> {
    const { rows } = await sql<{ count: number }>`${placesOf(name, owner)}`.execute(this.#ledger.db)
    return Number(rows[0]?.count ?? 0)
  }

  /** Whether another job could start if a job of this owner gave its place away. */
  async othersWait(name: string, owner: string | null): Promise<boolean> {
    const waiting =
      this.#policy(name) === 'fifo'
        ? sql`select 1 from jobs where ${inLane(name)} and jobs.state = 'waiting'`
        : sql`select 1 from lane_queue where lane = ${name} and (owner = ${owner ?? ''} or not ${isOverShare(name)})`
    const { rows } = await sql`${waiting} limit 1`.execute(this.#ledger.db)
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
    const { rows } = await sql<{ running: number; max_running: number | null; waits: number }>`
      select (${placesIn(name)}) as running, (select max_running from lanes where lanes.name = ${name}) as max_running,
        (select count(*) from jobs where jobs.id = ${jobId} and ${isReady}) as waits`.execute(this.#ledger.db)
    const row = rows[0]
    const place = Number(row?.waits) > 0 ? await this.#place(name, jobId) : undefined
    return {
      position: Number(place?.position ?? 0),
      running: Number(row?.running ?? 0),
      limit: row?.max_running ?? null,
      overShare: place?.over_share != null,
    }
  }

  /** Reads all that wait, so it is for people who ask, and not for the work. */
  async #place(name: string, jobId: string) {
    const fairly = this.#policy(name) === 'fair' ? sql`coalesce(held, 0) + nth, coalesce(turn, 0),` : sql``
    const { rows } = await sql<{ position: number | null; over_share: number | null }>`
      with places as (select coalesce(held.owner, '') as owner, count(*) as held from jobs as held
          where held.lane = ${name} and held.state in ('pending', 'running') group by coalesce(held.owner, '')),
        ready as (select jobs.id, jobs.priority, coalesce(jobs.queued_at, jobs.created_at) as since, places.held, lane_turns.turn, lane_shares.max_running as share,
            row_number() over (partition by coalesce(jobs.owner, '') order by jobs.priority, ${IN_TURN}) as nth
          from jobs left join places on places.owner = coalesce(jobs.owner, '')
          left join lane_turns on lane_turns.lane = ${name} and lane_turns.owner = coalesce(jobs.owner, '')
          left join lane_shares on lane_shares.lane = ${name} and lane_shares.owner = coalesce(jobs.owner, '')
          where jobs.lane = ${name} and ${isReady}),
        ranked as (select id, row_number() over (order by priority, ${fairly} since, id) as position
          from ready where share is null or share > coalesce(held, 0))
      select (select position from ranked where id = ${jobId}) as position,
        (select 1 from ready where id = ${jobId} and share < coalesce(held, 0) + nth) as over_share`.execute(
      this.#ledger.db,
    )
    return rows[0]
  }

  /**
   * Moves jobs from `waiting` to `pending` while the lane has free places, once per transaction: `woken` of the first call hears
   * of them, `admitted` of each.
   */
  admit(tx: Tx, name: string, woken: Woken, { changed = [], admitted }: Admission = {}): void {
    const owners = this.#changedIn(tx, name)
    for (const owner of changed) owners.add(owner ?? '')
    const first = tx.atCommit<Admitted>({
      name: `lane ${name}: 2 admit`,
      statements: () => [admission(name, owners).compile(tx.db)],
      inTurn: () => admitInTurn(tx.db, name, owners),
      done: (rows) => {
        const wakes = rows.map((row) => this.#wakeOf(row))
        admitted?.(wakes)
        if (first && wakes.length > 0) woken(wakes)
      },
    })
  }

  #changedIn(tx: Tx, name: string): Set<string> {
    const lanes = this.#changed.get(tx) ?? new Map<string, Set<string>>()
    const owners = lanes.get(name) ?? new Set()
    this.#changed.set(tx, lanes.set(name, owners))
    return owners
  }

  #wakeOf({ id, kind, delay }: Admitted): Wake {
    return { id, pool: this.#kinds.get(kind).pool, delayMs: Math.max(0, Number(delay)) }
  }

  /** Lanes of kinds that this version knows. */
  #names(): string[] {
    return [...new Set(this.#kinds.all().flatMap(({ lane }) => lane?.name ?? []))]
  }

  #policy(name: string): Lane['policy'] {
    return this.#kinds.all().find(({ lane }) => lane?.name === name)?.lane?.policy ?? 'fifo'
  }
}

/** Only unfinished jobs of a lane are ever looked at, however many have ended. */
function inLane(name: string | RawBuilder<unknown>) {
  return sql`jobs.lane = ${name} and ${activeIn()}`
}

/**
 * Of a row in `lanes`: it could admit a job that waits. Only if the transaction that should have done so was cut off.
 */
export function hasRoom() {
  const name = sql.ref('lanes.name')
  const taken = sql`(${placesIn(name)})`
  const queued = sql`select 1 from lane_queue where lane_queue.lane = ${name}`
  // In the order of an index: for a lane without any, PostgreSQL would else read all jobs of the others.
  const first = sql`select jobs.id from jobs where ${inLane(name)} and jobs.state = 'waiting'
    order by jobs.created_at, jobs.id limit 1`
  const waits = sql`case lanes.policy when 'fair' then exists (${queued} and not ${isOverShare(name)})
    else (${first}) is not null end`
  return sql<boolean>`(((lanes.max_running is null or lanes.max_running > ${taken}) and ${waits})
    or (lanes.reserve > 0 and lanes.max_running > 0 and lanes.max_running + lanes.reserve > ${taken}
      and exists (${queued} and not exists (${placesOf(name, sql`lane_queue.owner`)} having count(*) > 0))))`
}

/** Of a row in `lane_queue`: its owner holds as many places as it may. */
function isOverShare(lane: string | RawBuilder<unknown>) {
  return sql`exists (select 1 from lane_shares where lane_shares.lane = ${lane}
    and lane_shares.owner = lane_queue.owner and lane_shares.max_running <= (${placesOf(lane, sql`lane_queue.owner`)}))`
}
