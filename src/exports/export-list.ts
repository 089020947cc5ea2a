import { type SelectQueryBuilder, sql } from 'kysely'
import { AppError, ERRORS } from '../kernel/index.ts'
import { badCursor, type Ledger, packCursor, type Schema, unpackCursor } from '../ledger/index.ts'
import type { ExportStatus } from './export-view.ts'
import type { ExportType } from './request/index.ts'

const COLUMNS = { created: 'created_at', finished: 'ended_at', name: 'name', size: 'size' } as const
type Order = keyof typeof COLUMNS

/** Each is an index, read forwards or, with a minus, backwards. */
export const EXPORT_SORTS = Object.keys(COLUMNS).flatMap((order) => [order, `-${order}`]) as (
  | Order
  | `-${Order}`
)[]
type ExportSort = (typeof EXPORT_SORTS)[number]

export type Outcome = Schema['export_list']['outcome']

export interface ExportFilter {
  /** Left out: of all projects. */
  projectId?: string
  status?: ExportStatus
  /** Besides the status. */
  outcomes?: readonly Outcome[]
  operatorId?: string
  type?: ExportType
  /** Asked for at or after this time, and before that one. */
  from?: number
  to?: number
  /** Ended at or after this time. */
  endedFrom?: number
  /** Part of the file's name, the title, the saved export, the operator or the id. */
  search?: string
}

export interface ListOptions extends ExportFilter {
  sort?: ExportSort
  limit: number
  cursor?: string
}

/** Counting stops here, so that a total costs the same however long a history is. */
const MOST_COUNTED = 10_000
const MOST_OPERATORS = 500

export interface Total {
  count: number
  /** False: there are more. */
  exact: boolean
}

type Listed<O> = SelectQueryBuilder<Schema, 'export_list', O>

/** Which exports a list holds, and in which order; `ExportQueries` reads the rows. */
export class ExportList {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** The cursor names the last row of the page before, so that rows which come meanwhile shift nothing. */
  async page(options: ListOptions): Promise<{ taskIds: string[]; nextCursor: string | null }> {
    const { sort = options.endedFrom === undefined ? '-created' : '-finished', limit } = options
    const down = sort.startsWith('-')
    const order = (down ? sort.slice(1) : sort) as Order
    requireIndex(options, order)
    const column = sql.ref<string | number>(`export_list.${COLUMNS[order]}`)
    let query = this.#matching(options)
      .select(['export_list.task_id', column.as('value')])
      .orderBy(column, down ? 'desc' : 'asc')
      .orderBy('export_list.task_id', down ? 'desc' : 'asc')
      .limit(limit + 1)
    if (options.cursor !== undefined) {
      const { value, id } = readPlace(options.cursor, sort)
      query = query.where(
        sql<boolean>`(${column}, export_list.task_id) ${sql.raw(down ? '<' : '>')} (${value}, ${id})`,
      )
    }
    const rows = await query.execute()
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    const more = rows.length > limit && last !== undefined
    const nextCursor = more ? packCursor([sort, last.value, last.task_id]) : null
    return { taskIds: page.map(({ task_id }) => task_id), nextCursor }
  }

  async total(filter: ExportFilter): Promise<Total> {
    requireIndex(filter, filter.endedFrom === undefined ? 'created' : 'finished')
    const some = this.#matching(filter)
      .select('export_list.task_id')
      .limit(MOST_COUNTED + 1)
    const { count } = await this.#ledger.db
      .selectFrom(some.as('some'))
      .select(({ fn }) => fn.countAll<number | string>().as('count'))
      .executeTakeFirstOrThrow()
    return { count: Math.min(Number(count), MOST_COUNTED), exact: Number(count) <= MOST_COUNTED }
  }

  /** Those of a project who have asked for exports, by their names; each costs one look into an index. */
  async operators(projectId: string, prefix = ''): Promise<string[]> {
    const { rows } = await sql<{ operator: string }>`with recursive found (operator) as (
        select (select min(operator) from export_list where project_id = ${projectId} and operator >= ${prefix})
        union all
        select (select min(operator) from export_list where project_id = ${projectId} and operator > found.operator)
        from found where substr(found.operator, 1, ${[...prefix].length}) = ${prefix}
      ) select operator from found where substr(operator, 1, ${[...prefix].length}) = ${prefix}
      limit ${MOST_OPERATORS}`.execute(this.#ledger.db)
    return rows.map(({ operator }) => operator)
  }

  #matching(filter: ExportFilter) {
    const { projectId, status, outcomes, operatorId, type, from, to, endedFrom, search } = filter
    const open = status === 'pending' || status === 'processing'
    let query = (open ? this.#open(status) : this.#ledger.db.selectFrom('export_list')) as Listed<object>
    if (projectId !== undefined) query = query.where('export_list.project_id', '=', projectId)
    if (status !== undefined) query = query.where('export_list.outcome', '=', open ? 'open' : status)
    if (outcomes !== undefined) query = query.where('export_list.outcome', 'in', outcomes)
    if (operatorId !== undefined) query = query.where('export_list.operator', '=', operatorId)
    if (type !== undefined) query = query.where('export_list.type', '=', type)
    if (from !== undefined) query = query.where('export_list.created_at', '>=', from)
    if (to !== undefined) query = query.where('export_list.created_at', '<', to)
    if (endedFrom !== undefined)
      query = query
        .where('export_list.ended_at', '>=', endedFrom)
        .where('export_list.ended_at', '<', Number.MAX_SAFE_INTEGER)
    return search === undefined ? query : query.where(holds(search))
  }

  /** Only the job knows whether an open export waits or runs. A cross join makes SQLite begin there. */
  #open(status: 'pending' | 'processing') {
    return this.#ledger.db
      .selectFrom('export_list')
      .crossJoin('tasks')
      .crossJoin('jobs')
      .whereRef('tasks.id', '=', 'export_list.task_id')
      .whereRef('jobs.id', '=', 'tasks.job_id')
      .where('jobs.state', 'in', status === 'processing' ? ['running'] : ['waiting', 'pending'])
  }
}

/** What no index has in this order is refused: a list never reads all of history. */
function requireIndex({ projectId, status, endedFrom }: ExportFilter, order: Order): void {
  if (endedFrom !== undefined && order !== 'finished')
    throw new AppError(ERRORS.REQUEST_INVALID, 'ended_from takes sort=finished or sort=-finished')
  if (projectId !== undefined || order === 'created') return
  if (endedFrom === undefined)
    throw new AppError(ERRORS.REQUEST_INVALID, `sort=${order} takes one project: say project_id`)
  if (status === undefined || status === 'pending' || status === 'processing')
    throw new AppError(
      ERRORS.REQUEST_INVALID,
      'ended_from over all projects takes status=succeeded, failed or cancelled',
    )
}

function holds(search: string) {
  const pattern = `%${search.toLowerCase().replace(/[\\%_]/g, '\\$&')}%`
  const like = (text: unknown) => sql`${text} like ${pattern} escape '\\'`
  const texts = [
    sql.ref('export_list.name'),
    sql.ref('export_list.title'),
    sql`lower(export_list.operator)`,
    sql.ref('export_list.task_id'),
  ]
  return sql<boolean>`(${sql.join(texts.map(like), sql` or `)} or export_list.task_id in
    (select task_id from saved_exports join saved_export_runs on saved_id = saved_exports.id where ${like(sql`lower(saved_exports.name)`)}))`
}

function readPlace(cursor: string, sort: ExportSort): { value: string | number; id: string } {
  const [of, value, id] = unpackCursor(cursor)
  const fits = typeof value === (sort.endsWith('name') ? 'string' : 'number')
  if (of !== sort || value === undefined || !fits || typeof id !== 'string') throw badCursor()
  return { value, id }
}
