import { sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { nullable, pageOf, Time } from '../jobs/index.ts'
import { type Ledger, readCursor, writeCursor } from '../ledger/index.ts'
import { maskUrl } from '../tenancy/index.ts'

export const Delivery = Type.Object({
  attempt: Type.Integer(),
  at: Time,
  url: Type.String(),
  type: Type.String(),
  status: nullable(Type.Integer()),
  error: nullable(Type.String()),
  delivered: Type.Boolean(),
  channel: Type.String({ description: 'callback, email, or the kind of a chat' }),
  next_attempt_at: nullable(Time),
})
export type Delivery = Static<typeof Delivery>

const LoggedDelivery = Type.Object(
  {
    ...Delivery.properties,
    delivery_id: Type.String(),
    task_id: Type.String(),
    project_id: nullable(Type.String()),
  },
  { title: 'LoggedDelivery' },
)
export const DeliveryPage = pageOf(LoggedDelivery, 'DeliveryPage')

export interface DeliveryFilter {
  /** Only attempts that did not arrive. */
  failed?: boolean
  limit: number
  cursor?: string
}

/** Every attempt at telling somebody of an end. */
export class DeliveryLog {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** Of one task, oldest first. */
  async ofTask(taskId: string): Promise<Delivery[]> {
    const rows = await this.#rows()
      .where('deliveries.task_id', '=', taskId)
      .orderBy('deliveries.at')
      .orderBy('deliveries.id')
      .execute()
    const last = lastByJob(rows)
    return rows.map((row) => toDelivery(row, last))
  }

  /** Of all tasks, newest first. */
  async list({ failed = false, limit, cursor }: DeliveryFilter): Promise<Static<typeof DeliveryPage>> {
    let query = this.#rows()
      .orderBy('deliveries.at', 'desc')
      .orderBy('deliveries.id', 'desc')
      .limit(limit + 1)
    if (failed) query = query.where(sql<boolean>`deliveries.delivered <> 1`)
    if (cursor !== undefined) {
      const { at, id } = readCursor(cursor)
      query = query.where(sql<boolean>`(deliveries.at, deliveries.id) < (${at}, ${id})`)
    }
    const rows = await query.execute()
    const page = rows.slice(0, limit)
    const end = page.at(-1)
    // Newest first: the first of a job is its last attempt.
    const last = lastByJob([...page].reverse())
    return {
      items: page.map((row) => ({
        ...toDelivery(row, last),
        delivery_id: row.id,
        task_id: row.task_id,
        project_id: row.project_id,
      })),
      next_cursor: rows.length > limit && end ? writeCursor({ at: end.at, id: end.id }) : null,
    }
  }

  #rows() {
    return this.#ledger.db
      .selectFrom('deliveries')
      .leftJoin('tasks', 'tasks.id', 'deliveries.task_id')
      .leftJoin('jobs', 'jobs.id', 'deliveries.job_id')
      .selectAll('deliveries')
      .select([
        'tasks.project_id',
        sql<number | null>`case when jobs.state = 'pending' then jobs.due_at end`.as('due_at'),
      ])
  }
}

interface Row {
  id: string
  job_id: string | null
  event_type: string
  url: string
  attempt: number
  at: number
  status: number | null
  error: string | null
  delivered: number
  channel: string
  due_at: number | null
}

/** Only the last attempt of a job is followed by the next. */
function lastByJob(rows: readonly Row[]): Set<string> {
  return new Set(new Map(rows.map(({ job_id, id }) => [job_id ?? id, id])).values())
}

function toDelivery(row: Row, last: ReadonlySet<string>): Delivery {
  return {
    attempt: row.attempt,
    at: new Date(row.at).toISOString(),
    url: row.channel === 'email' ? row.url : maskUrl(row.url),
    type: row.event_type,
    status: row.status,
    error: row.error,
    delivered: row.delivered === 1,
    channel: row.channel,
    next_attempt_at: row.due_at !== null && last.has(row.id) ? new Date(row.due_at).toISOString() : null,
  }
}
