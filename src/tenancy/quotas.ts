import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { nullable } from '../jobs/index.ts'
import { AppError, type Clock, counted, ERRORS, type ErrorKind, newId } from '../kernel/index.ts'
import type { Ledger, Tx } from '../ledger/index.ts'

/** What can be limited per project. At once: per instance; the others: over all instances. */
export const QUOTAS = [
  'exports_at_once',
  'requests_at_once',
  'streams',
  'disk_bytes',
  'rows_per_day',
  'bytes_per_day',
] as const
export type Quota = (typeof QUOTAS)[number]

const Limit = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export type QuotaUsage = Static<typeof QuotaUsage>
export const QuotaUsage = Type.Object(
  {
    quota: Type.Enum([...QUOTAS]),
    limit: nullable(Limit),
    used: Type.Integer(),
    left: nullable(Limit),
  },
  { title: 'QuotaUsage' },
)

/** null: no limit of its own. */
export type QuotaValues = Record<Quota, number | null>

export const NO_QUOTAS: QuotaValues = {
  exports_at_once: null,
  requests_at_once: null,
  streams: null,
  disk_bytes: null,
  rows_per_day: null,
  bytes_per_day: null,
}

export interface Use {
  rows?: number
  bytes?: number
  disk?: number
}

/** What one project may use and uses, as last read. */
interface Standing {
  quotas: QuotaValues
  rows: number
  bytes: number
  disk: number
  day: number
  readAt: number
}

const DAY_MS = 24 * 3_600_000
/** How old the figures may be by which a request is judged. What this instance adds itself counts at once. */
const FRESH_MS = 2_000

const KINDS: Record<Exclude<Quota, 'exports_at_once'>, ErrorKind> = {
  requests_at_once: ERRORS.QUOTA_REQUESTS,
  streams: ERRORS.QUOTA_STREAMS,
  disk_bytes: ERRORS.QUOTA_DISK,
  rows_per_day: ERRORS.QUOTA_ROWS,
  bytes_per_day: ERRORS.QUOTA_BYTES,
}

/**
 * Quotas of projects. Rows, bytes and disk are counted in one row per project, which is changed together with the
 * commit that makes the change, and read at most once in two seconds per project and instance. What is held at once is
 * counted in memory.
 */
export class Quotas {
  readonly #deps: { ledger: Ledger; clock: Clock }
  readonly #defaults: QuotaValues
  readonly #standings = new Map<string, Promise<Standing>>()
  readonly #held = new Map<string, number>()

  constructor(deps: { ledger: Ledger; clock: Clock }, defaults: QuotaValues) {
    this.#deps = deps
    this.#defaults = defaults
  }

  /** Throws if one of these is used up. */
  async require(
    projectId: string,
    ...quotas: ('disk_bytes' | 'rows_per_day' | 'bytes_per_day')[]
  ): Promise<void> {
    for (const quota of quotas)
      if ((await this.left(projectId, quota)) <= 0) throw await this.exceeded(projectId, quota)
  }

  /** What is left of a quota; infinite without a limit. */
  async left(projectId: string, quota: 'disk_bytes' | 'rows_per_day' | 'bytes_per_day'): Promise<number> {
    const standing = await this.#standing(projectId)
    const limit = standing.quotas[quota]
    return limit === null ? Number.POSITIVE_INFINITY : Math.max(0, limit - usedOf(standing, quota))
  }

  /** The smaller of what one export may read and what is left of the day. */
  async within(
    projectId: string,
    { maxRows, maxBytes }: { maxRows: number; maxBytes: number },
  ): Promise<{ maxRows: number; maxBytes: number }> {
    return {
      maxRows: Math.min(maxRows, await this.left(projectId, 'rows_per_day')),
      maxBytes: Math.min(maxBytes, await this.left(projectId, 'bytes_per_day')),
    }
  }

  /**
   * Why an export that is too large for `within` was too large, if that was a quota of the day: there is too little left of
   * it, which passes, or it is more than the whole quota, which does not.
   */
  async shortage(
    projectId: string,
    own: { maxRows: number; maxBytes: number },
    needed: { what: 'rows' | 'bytes'; amount: number },
  ): Promise<AppError | undefined> {
    const quota = needed.what === 'rows' ? 'rows_per_day' : 'bytes_per_day'
    const most = needed.what === 'rows' ? own.maxRows : own.maxBytes
    const standing = await this.#standing(projectId)
    const limit = standing.quotas[quota]
    const used = usedOf(standing, quota)
    if (limit === null || limit - used >= most) return undefined
    if (needed.amount <= limit) return this.exceeded(projectId, quota)
    const at_least = needed.what === 'rows' ? '' : 'at least '
    return new AppError(
      KINDS[quota],
      `the source has ${at_least}${needed.amount} ${needed.what}, more than the ${limit} that the project may read per day (${quota}); ask for less, or let an admin raise the quota`,
      { details: { quota, limit, used, free_at: null }, retryable: false },
    )
  }

  /** The same as `require`, for a caller that must not throw yet. */
  async refusal(...asked: Parameters<Quotas['require']>): Promise<AppError | undefined> {
    return this.require(...asked).then(
      () => undefined,
      (error) => {
        if (error instanceof AppError) return error
        throw error
      },
    )
  }

  /** Counts one more that is held at once, or throws; what it returns gives it back. */
  async hold(projectId: string, quota: 'requests_at_once' | 'streams'): Promise<() => void> {
    const { quotas } = await this.#standing(projectId)
    const name = `${quota} ${projectId}`
    const held = this.#held.get(name) ?? 0
    const limit = quotas[quota]
    if (limit !== null && held >= limit) throw exceeded(quota, { limit, used: held, freeAt: null, now: 0 })
    this.#held.set(name, held + 1)
    let given = false
    return () => {
      if (given) return
      given = true
      const left = (this.#held.get(name) ?? 1) - 1
      if (left > 0) this.#held.set(name, left)
      else this.#held.delete(name)
    }
  }

  /** null: the project has no such limit. */
  async limitOf(projectId: string, quota: Quota): Promise<number | null> {
    return (await this.#standing(projectId)).quotas[quota]
  }

  /**
   * Counts room on disk that is about to be used, with the commit, so that no two take the same room; the transaction
   * fails if there is too little. `limit` is asked for before the transaction, which has a connection already.
   */
  take(tx: Tx, projectId: string, bytes: number, limit: number | null): void {
    if (limit === null || bytes <= 0) {
      this.add(tx, projectId, { disk: bytes })
      return
    }
    const name = `usage of project ${projectId}: ${newId()}`
    const refused = (used: number) =>
      exceeded('disk_bytes', { limit, used, freeAt: null, now: this.#deps.clock.now() })
    const begin = tx.db
      .insertInto('project_usage')
      .values({ project_id: projectId, day: 0, rows_read: 0, bytes_read: 0, disk_bytes: 0 })
      .onConflict((conflict) => conflict.doNothing())
    const count = tx.db.updateTable('project_usage').where('project_id', '=', projectId)
    tx.atCommit({
      name,
      statements: () => [
        begin.compile(),
        count
          .set({
            disk_bytes: sql<number>`disk_bytes + case when disk_bytes + ${bytes}::bigint > ${limit}::bigint
              then wharf_refuse(${name}, disk_bytes::text)::bigint else ${bytes}::bigint end`,
          })
          .compile(),
      ],
      inTurn: async () => {
        await begin.execute()
        const { disk_bytes } = await count
          .set({ disk_bytes: sql<number>`disk_bytes + ${bytes}` })
          .returning('disk_bytes')
          .executeTakeFirstOrThrow()
        if (Number(disk_bytes) > limit) throw refused(Number(disk_bytes) - bytes)
        return []
      },
      done: () => this.forget(projectId),
      refused: (used) => refused(Number(used)),
    })
  }

  /** Counts what a project has used, with the commit. */
  add(tx: Tx, projectId: string, { rows = 0, bytes = 0, disk = 0 }: Use): void {
    const day = sql`wharf_now() / ${sql.lit(DAY_MS)}`
    const same = sql`project_usage.day = excluded.day`
    const count = sql`insert into project_usage (project_id, day, rows_read, bytes_read, disk_bytes)
      values (${projectId}, ${day}, ${rows}, ${bytes}, ${disk})
      on conflict (project_id) do update set day = excluded.day,
        rows_read = excluded.rows_read + case when ${same} then project_usage.rows_read else 0 end,
        bytes_read = excluded.bytes_read + case when ${same} then project_usage.bytes_read else 0 end,
        disk_bytes = project_usage.disk_bytes + excluded.disk_bytes`
    tx.atCommit({
      // A name of its own: all that is counted in one transaction counts. Last of all, because it locks the project's row.
      name: `usage of project ${projectId}: ${newId()}`,
      statements: () => [count.compile(tx.db)],
      inTurn: async () => (await count.execute(tx.db)).rows,
      done: () => this.#standings.delete(projectId),
    })
  }

  /** What an admin gave this project; null takes a value back. */
  async set(tx: Tx, projectId: string, values: Partial<QuotaValues>): Promise<void> {
    for (const [quota, value] of Object.entries(values)) {
      if (value === null)
        await tx.db
          .deleteFrom('project_quotas')
          .where('project_id', '=', projectId)
          .where('quota', '=', quota)
          .execute()
      else
        await tx.db
          .insertInto('project_quotas')
          .values({ project_id: projectId, quota, value })
          .onConflict((conflict) => conflict.columns(['project_id', 'quota']).doUpdateSet({ value }))
          .execute()
    }
    tx.afterCommit(() => this.forget(projectId))
  }

  /** The next one who asks reads the ledger: another instance may have changed something. */
  forget(projectId: string): void {
    this.#standings.delete(projectId)
  }

  /** `exportsAtOnce` is what the lane of exports counts. */
  async of(projectId: string, { exportsAtOnce }: { exportsAtOnce: number }): Promise<QuotaUsage[]> {
    this.forget(projectId)
    const standing = await this.#standing(projectId)
    return QUOTAS.map((quota) => {
      const limit = standing.quotas[quota]
      const used = quota === 'exports_at_once' ? exportsAtOnce : this.#used(projectId, quota, standing)
      return { quota, limit, used, left: limit === null ? null : Math.max(0, limit - used) }
    })
  }

  /** When the counts of the day begin anew. */
  resetsAt(): number {
    return (Math.floor(this.#deps.clock.now() / DAY_MS) + 1) * DAY_MS
  }

  #used(projectId: string, quota: Exclude<Quota, 'exports_at_once'>, standing: Standing): number {
    if (quota === 'requests_at_once' || quota === 'streams')
      return this.#held.get(`${quota} ${projectId}`) ?? 0
    return usedOf(standing, quota)
  }

  /** The error that says what is used up, and when it is free again. */
  async exceeded(
    projectId: string,
    quota: 'disk_bytes' | 'rows_per_day' | 'bytes_per_day',
  ): Promise<AppError> {
    const standing = await this.#standing(projectId)
    return exceeded(quota, {
      limit: standing.quotas[quota] ?? 0,
      used: usedOf(standing, quota),
      freeAt: quota === 'disk_bytes' ? null : this.resetsAt(),
      now: this.#deps.clock.now(),
    })
  }

  async #standing(projectId: string): Promise<Standing> {
    const known = await this.#standings.get(projectId)?.catch(() => undefined)
    const now = this.#deps.clock.now()
    if (known && now - known.readAt < FRESH_MS && now >= known.readAt) return known
    const read = this.#read(projectId)
    this.#standings.set(projectId, read)
    return read
  }

  async #read(projectId: string): Promise<Standing> {
    const { ledger, clock } = this.#deps
    const readAt = clock.now()
    const given = await ledger.db
      .selectFrom('project_quotas')
      .select(['quota', 'value'])
      .where('project_id', '=', projectId)
      .execute()
    const usage = await ledger.db
      .selectFrom('project_usage')
      .selectAll()
      .where('project_id', '=', projectId)
      .executeTakeFirst()
    const quotas = { ...this.#defaults }
    for (const { quota, value } of given) quotas[quota as Quota] = Number(value)
    const day = Math.floor(readAt / DAY_MS)
    const today = Number(usage?.day) === day
    return {
      quotas,
      rows: today ? Number(usage?.rows_read) : 0,
      bytes: today ? Number(usage?.bytes_read) : 0,
      disk: Number(usage?.disk_bytes ?? 0),
      day,
      readAt,
    }
  }
}

function usedOf(
  { rows, bytes, disk }: Standing,
  quota: 'disk_bytes' | 'rows_per_day' | 'bytes_per_day',
): number {
  return quota === 'disk_bytes' ? disk : quota === 'rows_per_day' ? rows : bytes
}

/** What a project does with each, as the middle of a sentence. */
const USES: Record<Exclude<Quota, 'exports_at_once'>, (used: number, limit: number) => string> = {
  requests_at_once: (used, limit) =>
    `has ${used} sync and preview requests at work on this instance, and may have ${limit}`,
  streams: (used, limit) => `has ${used} event streams open on this instance, and may have ${limit}`,
  disk_bytes: (used, limit) => `keeps ${counted(used, 'byte')} of files, and may keep ${limit}`,
  rows_per_day: (used, limit) => `has read ${counted(used, 'row')} today (UTC), and may read ${limit}`,
  bytes_per_day: (used, limit) => `has read ${counted(used, 'byte')} today (UTC), and may read ${limit}`,
}

const FREE_WHEN = {
  requests_at_once: 'wait for one to end',
  streams: 'close one',
  disk_bytes: 'delete files, or wait until some expire',
}

function exceeded(
  quota: Exclude<Quota, 'exports_at_once'>,
  { limit, used, freeAt, now }: { limit: number; used: number; freeAt: number | null; now: number },
): AppError {
  const free_at = freeAt === null ? null : new Date(freeAt).toISOString()
  const advice =
    quota === 'rows_per_day' || quota === 'bytes_per_day'
      ? `wait until ${free_at}, or let an admin raise the quota`
      : FREE_WHEN[quota]
  return new AppError(KINDS[quota], `the project ${USES[quota](used, limit)} (${quota}); ${advice}`, {
    details: { quota, limit, used, free_at },
    retryAfter: freeAt === null ? 5 : Math.ceil((freeAt - now) / 1_000),
  })
}
