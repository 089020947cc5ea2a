import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import type { Ledger, Schema } from '../../ledger/index.ts'
import { Time } from '../shapes.ts'
import type { Attention } from './attention.ts'
import { EndedSpans } from './ended-spans.ts'
import { type Ends, EndsByMinute, MINUTE } from './ends-by-minute.ts'
import { type HistoryView, type OverviewRange, readHistory } from './overview-history.ts'

const MINUTES = 60
/** Durations are read from the newest ends only: sorting those of a busy hour would cost more than all the rest. */
const SAMPLE = 2_000

const Depth = { queued: Type.Integer(), running: Type.Integer() }
export type Depth = Pick<DomainOverview, keyof typeof Depth>

/** A domain as the overview sees it: its kind of work, and where to count what is open if not among the jobs. */
export interface WatchedDomain {
  kind: string
  depth?(): Promise<Depth>
  /** What failed last and what waits longest. */
  attention?(): Promise<Attention>
}

type DomainOverview = Static<typeof DomainOverview>
export const DomainOverview = Type.Object(
  {
    ...Depth,
    finished_last_hour: Type.Integer({ description: 'Ended well' }),
    failed_last_hour: Type.Integer(),
    per_minute: Type.Array(Type.Object({ minute: Time, finished: Type.Integer(), failed: Type.Integer() }), {
      description: `The last ${MINUTES} minutes, oldest first; the last one is not over`,
    }),
    duration_ms: Type.Union([Type.Object({ p50: Type.Integer(), p95: Type.Integer() }), Type.Null()], {
      description:
        'From the request to the end, of the last 2,000 that ended well within the hour; null: nothing did',
    }),
  },
  { title: 'DomainOverview' },
)

type InstanceOverview = Static<typeof InstanceOverview>
export const InstanceOverview = Type.Object(
  {
    instance_id: Type.String(),
    host: Type.String(),
    version: Type.String(),
    started_at: Time,
    seen_at: Time,
    leader: Type.Boolean(),
  },
  { title: 'Instance' },
)

interface OverviewView<D extends string> {
  at: string
  domains: Record<D, DomainOverview>
  instances: InstanceOverview[]
  leader: string | null
}

/**
 * How the whole installation does, from a few statements: what is open is counted through the partial indexes that hold
 * nothing else, and what ended within the hour through an index that has all it takes. History is never scanned. Between
 * statements others get their turn: in an embedded server each one holds up everything else.
 */
export class Overview<D extends string> {
  readonly #ledger: Ledger
  readonly #leaseMs: number
  readonly #domains: Record<D, WatchedDomain>
  readonly #ends: EndsByMinute
  readonly #spans: EndedSpans

  constructor({ ledger, leaseMs }: { ledger: Ledger; leaseMs: number }, domains: Record<D, WatchedDomain>) {
    this.#ledger = ledger
    this.#leaseMs = leaseMs
    this.#domains = domains
    this.#ends = new EndsByMinute(
      ledger,
      Object.values<WatchedDomain>(domains).map(({ kind }) => kind),
    )
    this.#spans = new EndedSpans(ledger)
  }

  async read(): Promise<OverviewView<D>> {
    const { db } = this.#ledger
    const now = await this.#ledger.now()
    const last = Math.floor(now / MINUTE)
    const first = last - MINUTES + 1
    const open = await openJobs(db)
    const ends = await this.#ends.read(first, last)
    const domains = {} as Record<D, DomainOverview>
    for (const [name, { kind, depth }] of Object.entries(this.#domains) as [D, WatchedDomain][]) {
      const perMinute = minutesOf(
        ends.filter((row) => row.kind === kind),
        first,
      )
      domains[name] = {
        ...((await depth?.()) ?? open.get(kind) ?? { queued: 0, running: 0 }),
        finished_last_hour: sum(perMinute.map(({ finished }) => finished)),
        failed_last_hour: sum(perMinute.map(({ failed }) => failed)),
        per_minute: perMinute,
        duration_ms: await durationsOf(db, kind, first * MINUTE),
      }
      await nextTurn()
    }
    return { at: iso(now), domains, ...(await instancesAt(db, now, this.#leaseMs)) }
  }

  /** What ended in a longer time, step by step. */
  async history(range: OverviewRange): Promise<HistoryView<D>> {
    const now = await this.#ledger.now()
    return readHistory({ minutes: this.#ends, spans: this.#spans }, this.#domains, { range, now })
  }

  /** What failed last and what waits longest, by domain. */
  async attention(): Promise<Record<D, Attention>> {
    const noticed = {} as Record<D, Attention>
    for (const [name, { attention }] of Object.entries(this.#domains) as [D, WatchedDomain][]) {
      noticed[name] = (await attention?.()) ?? { failures: [], waiting: [] }
      await nextTurn()
    }
    return noticed
  }
}

/** Literals, and the words of the indexes themselves: only so does each part find the partial index that serves it. */
export const OPEN_JOBS = `
  select kind, 0 as running, count(*) as count from jobs where state = 'pending' group by kind
  union all
  select kind, 0, count(*) from jobs
    where state = 'waiting' and lane is not null and state in ('waiting', 'pending', 'running') group by kind
  union all
  select kind, 1, count(*) from jobs where state = 'running' group by kind`

async function openJobs(db: Kysely<Schema>): Promise<Map<string, Depth>> {
  const { rows } = await sql.raw<{ kind: string; running: number; count: number }>(OPEN_JOBS).execute(db)
  const open = new Map<string, Depth>()
  for (const { kind, running, count } of rows) {
    const depth = open.get(kind) ?? { queued: 0, running: 0 }
    if (Number(running) === 1) depth.running += Number(count)
    else depth.queued += Number(count)
    open.set(kind, depth)
  }
  return open
}

async function durationsOf(db: Kysely<Schema>, kind: string, since: number) {
  const rows = await db
    .selectFrom('ended_work')
    .select('duration_ms')
    .where('kind', '=', kind)
    .where('at', '>=', since)
    .where('failed', '=', 0)
    .orderBy('at', 'desc')
    .limit(SAMPLE)
    .execute()
  const sorted = rows.map(({ duration_ms }) => Number(duration_ms)).sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? 0
  return sorted.length === 0 ? null : { p50: at(0.5), p95: at(0.95) }
}

/** Every minute has its entry, also those in which nothing ended. */
function minutesOf(ends: Ends[], first: number): DomainOverview['per_minute'] {
  const byMinute = new Map(ends.map((row) => [row.minute, row]))
  return Array.from({ length: MINUTES }, (_, index) => {
    const minute = first + index
    const { finished = 0, failed = 0 } = byMinute.get(minute) ?? {}
    return { minute: iso(minute * MINUTE), finished, failed }
  })
}

async function instancesAt(db: Kysely<Schema>, now: number, aliveMs: number) {
  const rows = await db
    .selectFrom('instances')
    .select(['id', 'host', 'version', 'started_at', 'seen_at'])
    .where('seen_at', '>=', now - aliveMs)
    .orderBy('started_at')
    .orderBy('id')
    .execute()
  const lead = await db
    .selectFrom('leaders')
    .select('holder')
    .where('name', '=', 'wharf')
    .where('lease_until', '>=', now)
    .executeTakeFirst()
  const leader = lead?.holder ?? null
  const instances = rows.map(({ id, host, version, started_at, seen_at }) => ({
    instance_id: id,
    host,
    version,
    started_at: iso(started_at),
    seen_at: iso(seen_at),
    leader: id === leader,
  }))
  return { instances, leader }
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function iso(ms: number): string {
  return new Date(Number(ms)).toISOString()
}
