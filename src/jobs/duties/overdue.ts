import { sql } from 'kysely'
import type { Duty, Log } from '../../kernel/index.ts'
import { isOneOf, type Ledger, type LedgerClock, type Tx } from '../../ledger/index.ts'
import type { Dispatcher, Wake } from '../dispatch/dispatcher.ts'
import { isNow, toJob } from '../job.ts'
import type { KindRegistry } from '../kind.ts'
import { WAKE_GRACE_MS } from '../lane-queue.ts'
import { DEFERRED_MS, hasRoom, type Lanes, type Woken } from '../lanes.ts'
import type { Leases } from '../lease.ts'

const BATCH = 500
/** The longest pause between two looks while there are jobs. */
const LONGEST_PAUSE_MS = 10_000
/** The same while there are none; also how late the first wake can be noticed if it was lost. */
const LONGEST_IDLE_MS = 15_000
const SHORTEST_PAUSE_MS = 250
const LONGEST_REWAKE_MS = 5 * 60_000
/** How often the queues of lanes are compared with the jobs that wait, while some do. */
const REPAIR_EVERY_MS = 15_000

export interface OverdueDeps {
  ledger: Ledger
  kinds: KindRegistry
  lanes: Lanes
  leases: Leases
  dispatcher: Dispatcher
  clock: LedgerClock
  log: Log
}

/**
 * The leader's safety net: takes back jobs whose lease ran out, publishes again what is pending for too long, and admits
 * what waits although a place is free, or whose time has come.
 *
 * An idle look is one statement, which also says when the next one is due. A job that is published again and
 * again (its pool is simply busy) waits longer each time. Kinds that this version does not know (a newer one runs
 * beside it) are left to an instance that does.
 */
export class OverdueDuty implements Duty {
  readonly name = 'overdue-jobs'
  readonly #deps: OverdueDeps
  readonly #halfLeaseMs: number
  /** After an outage of the ledger, living workers get this long to renew what ran out meanwhile. */
  readonly #graceMs: number
  #forgot = false
  /** The first look leaves the mark that Redis can lose. */
  #asks = true
  #repairedAt = Number.NEGATIVE_INFINITY

  constructor(deps: OverdueDeps, { leaseMs }: { leaseMs: number }) {
    this.#deps = deps
    this.#halfLeaseMs = Math.max(SHORTEST_PAUSE_MS, leaseMs / 2)
    this.#graceMs = leaseMs / 2
  }

  async runOnce(signal: AbortSignal): Promise<{ nextInMs: number; reclaimed: number; published: number }> {
    // Answered only once, so it is kept until the ledger has it.
    if (this.#asks) this.#forgot ||= await this.#deps.dispatcher.forgot().catch(() => false)
    if (this.#forgot) await this.wakeAll()
    this.#forgot = false
    const { wake, lease, ripe, room, waits, at } = await this.#nextTimes()
    // While nothing waits for a wake, none can have been lost.
    this.#asks = wake !== Number.POSITIVE_INFINITY
    if (ripe <= 0) await this.#admit((tx, woken) => this.#deps.lanes.ripen(tx, woken))
    if (room || (waits && at - this.#repairedAt >= REPAIR_EVERY_MS)) {
      await this.#admit((tx, woken) => this.#deps.lanes.repair(tx, woken))
      this.#repairedAt = at
    }
    const reclaims = lease <= 0 && this.#deps.clock.isSteady(this.#graceMs)
    const reclaimed = reclaims ? await this.#reclaim(signal) : 0
    const published = wake <= 0 || reclaimed > 0 ? await this.#republish(signal) : 0
    const next = published + reclaimed > 0 ? 0 : Math.min(wake, lease, ripe)
    const longest = next === Number.POSITIVE_INFINITY ? LONGEST_IDLE_MS : LONGEST_PAUSE_MS
    return {
      // At most half a lease: each one is seen at least once before it runs out, and so its end is known in time.
      nextInMs: Math.min(this.#halfLeaseMs, longest, Math.max(SHORTEST_PAUSE_MS, next)),
      reclaimed,
      published,
    }
  }

  /** Makes everything that waits for a wake due for publishing: the dispatcher may have lost it. */
  async wakeAll(): Promise<void> {
    await this.#deps.ledger.db
      .updateTable('jobs')
      .set({ wake_at: 0, wakes: 0 })
      .where('state', '=', 'pending')
      .execute()
  }

  /** For a process that is proven to be alone: nobody works on what is marked as running. */
  async voidLeases(): Promise<void> {
    await this.#deps.ledger.db
      .updateTable('jobs')
      .set({ lease_until: 0 })
      .where('state', '=', 'running')
      .execute()
  }

  async #nextTimes() {
    const kinds = this.#deps.kinds.names()
    const never = Number.POSITIVE_INFINITY
    if (kinds.length === 0)
      return { wake: never, lease: never, ripe: never, room: false, waits: false, at: 0 }
    const mine = sql`kind in (${sql.join(kinds)})`
    const { rows } = await sql<
      Record<'wake' | 'lease' | 'pause' | 'deferral' | 'waits' | 'room' | 'at', number | null>
    >`select
      (select min(wake_at) from jobs where state = 'pending' and ${mine}) - wharf_now() as wake,
      (select min(lease_until) from jobs where state = 'running' and ${mine}) - wharf_now() as lease,
      (select min(paused_until) from jobs where state = 'waiting' and paused_until is not null) - wharf_now() as pause,
      (select min(created_at) from jobs where state = 'waiting' and priority > 0) + ${DEFERRED_MS} - wharf_now() as deferral,
      (select 1 from jobs where state = 'waiting' and paused_until is null
        order by lane, coalesce(owner, ''), priority, created_at, id limit 1) as waits,
      (select count(*) from lanes where ${hasRoom()}) as room, wharf_now() as at`.execute(
      this.#deps.ledger.db,
    )
    const orNever = (value: number | null | undefined) => (value == null ? never : Number(value))
    const row = rows[0]
    return {
      wake: orNever(row?.wake),
      lease: orNever(row?.lease),
      ripe: Math.min(orNever(row?.pause), orNever(row?.deferral)),
      room: Number(row?.room) > 0,
      waits: row?.waits != null,
      at: Number(row?.at),
    }
  }

  async #admit(work: (tx: Tx, woken: Woken) => Promise<void>): Promise<void> {
    const wakes: Wake[] = []
    await this.#deps.ledger.transaction((tx) => work(tx, (admitted) => wakes.push(...admitted)))
    await this.#publish(wakes)
  }

  async #reclaim(signal: AbortSignal): Promise<number> {
    let reclaimed = 0
    while (!signal.aborted) {
      const expired = await this.#deps.ledger.db
        .selectFrom('jobs')
        .selectAll()
        .where('state', '=', 'running')
        .where('lease_until', '<=', sql<number>`wharf_now()`)
        .where('kind', 'in', this.#deps.kinds.names())
        .orderBy('lease_until')
        .limit(BATCH)
        .execute()
      for (const { id, kind, worker } of expired)
        this.#deps.log.warn({ jobId: id, kind, worker }, 'a lease ran out; the job is free again')
      const { wakes, taken } = await this.#deps.leases.takeBack(expired.map((job) => toJob(job)))
      await this.#publish(wakes)
      reclaimed += taken
      if (expired.length < BATCH) break
    }
    return reclaimed
  }

  async #republish(signal: AbortSignal): Promise<number> {
    let published = 0
    while (!signal.aborted) {
      const overdue = await this.#deps.ledger.db
        .selectFrom('jobs')
        .select(['id', 'kind', sql<number>`due_at - wharf_now()`.as('delay')])
        .where('state', '=', 'pending')
        .where('wake_at', '<=', sql<number>`wharf_now()`)
        .where('kind', 'in', this.#deps.kinds.names())
        .orderBy('wake_at')
        .limit(BATCH)
        .execute()
      if (overdue.length === 0) break
      const wakes = overdue.map((row) => ({
        id: row.id,
        pool: this.#deps.kinds.get(row.kind).pool,
        delayMs: Math.max(0, Number(row.delay)),
      }))
      // Published first: if the carrier is away, this throws and the rows stay overdue.
      await this.#deps.dispatcher.publish(wakes)
      await this.#postpone(wakes.map(({ id }) => id))
      published += wakes.length
    }
    return published
  }

  async #postpone(ids: string[]): Promise<void> {
    const later = sql`${WAKE_GRACE_MS} * (case when wakes > 6 then 64 else power(2, wakes + 1) end)`
    await sql`update jobs set wakes = wakes + 1, wake_at = (case when due_at > wharf_now() then due_at else wharf_now() end)
        + cast((case when ${later} > ${LONGEST_REWAKE_MS} then ${LONGEST_REWAKE_MS} else ${later} end) as bigint)
      where ${isOneOf(this.#deps.ledger.dialect, 'jobs.id', ids)} and ${isNow('pending')}`.execute(
      this.#deps.ledger.db,
    )
  }

  async #publish(wakes: Wake[]): Promise<void> {
    if (wakes.length > 0) await this.#deps.dispatcher.publish(wakes).catch(() => undefined)
  }
}
