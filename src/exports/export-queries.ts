import { type Kysely, sql } from 'kysely'
import { type Static, Type } from 'typebox'
import { activeIn, Time, WAITING_COLUMNS } from '../jobs/index.ts'
import { AppError, ERRORS, newId } from '../kernel/index.ts'
import { type Ledger, now, type Schema, type Tx } from '../ledger/index.ts'
import { EXPORT_KIND, type ExportPayload } from './export-job.ts'
import type { ExportRow } from './export-view.ts'
import type { ExportType } from './request/index.ts'

export type Download = Static<typeof Download>
export const Download = Type.Object({
  at: Time,
  who: Type.String(),
  address: Type.String(),
  bytes: Type.Integer(),
  complete: Type.Boolean(),
})

/** The statements about exports. */
export class ExportQueries {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** With `tx`, also one that the transaction has just made. */
  async find(taskId: string, tx?: Tx): Promise<ExportRow> {
    const row = await this.#rows(tx?.db).where('tasks.id', '=', taskId).executeTakeFirst()
    if (!row) throw noExport(taskId)
    return row
  }

  async payload({ db }: Pick<Ledger, 'db'>, jobId: string): Promise<ExportPayload> {
    const query = db.selectFrom('jobs').select('payload').where('id', '=', jobId)
    return JSON.parse((await query.executeTakeFirstOrThrow()).payload) as ExportPayload
  }

  /** In the order of the ids; one that has gone meanwhile is left out. */
  async some(taskIds: readonly string[]): Promise<ExportRow[]> {
    if (taskIds.length === 0) return []
    const found = new Map<string, ExportRow>()
    for (const row of await this.#rows().where('tasks.id', 'in', taskIds).execute()) found.set(row.id, row)
    return taskIds.flatMap((id) => found.get(id) ?? [])
  }

  /**
   * Fails the transaction, with what `refuse` makes of their number, if it leaves the project with more than `limit`
   * unfinished exports. Requests of a project take turns for it, and only at their end, so that none waits for a stopped
   * instance.
   */
  requireAtMost(tx: Tx, projectId: string, limit: number, refuse: (count: number) => Error): void {
    const name = `project ${projectId}: exports`
    const count = this.#active(tx, projectId)
    tx.atCommit({
      name,
      statements: () => [
        tx.db.selectFrom('projects').select('id').where('id', '=', projectId).forNoKeyUpdate().compile(),
        sql`select case when count > ${limit} then wharf_refuse(${name}, count::text) end from (${count}) as active`.compile(
          tx.db,
        ),
      ],
      inTurn: async () => {
        const active = await this.countActive(tx, projectId)
        if (active > limit) throw refuse(active)
        return []
      },
      refused: (reason) => refuse(Number(reason)),
    })
  }

  /** In the caller's transaction: a second connection taken inside one can wait for itself. */
  async countActive(tx: Tx, projectId: string): Promise<number> {
    const row = await this.#active(tx, projectId).executeTakeFirst()
    return Number(row?.count ?? 0)
  }

  /** A job counts its own tasks and has the project as its owner, so that only unfinished jobs are read. */
  #active(tx: Tx, projectId: string) {
    return tx.db
      .selectFrom('jobs')
      .select(({ fn }) => fn.sum<number | null>('live_tasks').as('count'))
      .where('owner', '=', projectId)
      .where('kind', '=', EXPORT_KIND)
      .where(activeIn())
  }

  /** Counts one use of a link; false when it has none left. */
  async takeUse(taskId: string, limit: number): Promise<boolean> {
    const taken = await this.#ledger.db
      .insertInto('export_link_uses')
      .values({ task_id: taskId, uses: 1 })
      .onConflict((conflict) =>
        conflict
          .column('task_id')
          .doUpdateSet({ uses: sql`export_link_uses.uses + 1` })
          .where('export_link_uses.uses', '<', limit),
      )
      .returning('uses')
      .executeTakeFirst()
    return taken !== undefined
  }

  /** Marks the file as deleted, if it was not; false when it was. */
  async markRemoved(tx: Tx, jobId: string): Promise<boolean> {
    const marked = await tx.db
      .updateTable('export_files')
      .set({ removed_at: now })
      .where('job_id', '=', jobId)
      .where('removed_at', 'is', null)
      .executeTakeFirst()
    return marked.numUpdatedRows > 0n
  }

  async recordDownload(taskId: string, download: Omit<Download, 'at'>): Promise<void> {
    const { who, address, bytes, complete } = download
    await this.#ledger.db
      .insertInto('export_downloads')
      .values({ id: newId(), task_id: taskId, at: now, who, address, bytes, complete: complete ? 1 : 0 })
      .execute()
  }

  async downloads(taskId: string): Promise<Download[]> {
    const rows = await this.#ledger.db
      .selectFrom('export_downloads')
      .selectAll()
      .where('task_id', '=', taskId)
      .orderBy('at')
      .orderBy('id')
      .execute()
    return rows.map(({ at, who, address, bytes, complete }) => ({
      at: new Date(at).toISOString(),
      who,
      address,
      bytes,
      complete: complete === 1,
    }))
  }

  /** A member of the request as it was asked for; read in place, because a payload can be large. */
  #asked<T = string>(member: 'fileName' | 'type' | 'templates' | 'tables[0].title') {
    return this.#ledger.dialect === 'sqlite'
      ? sql<T>`jobs.payload ->> ${sql.lit(`$.request.${member}`)}`
      : sql<T>`jobs.payload::json #>> ${sql.lit(`{request,${member.split(/[[\].]+/).join(',')}}`)}`
  }

  #rows(db: Kysely<Schema> = this.#ledger.db) {
    return db
      .selectFrom('tasks')
      .innerJoin('jobs', 'jobs.id', 'tasks.job_id')
      .leftJoin('export_files', 'export_files.job_id', 'jobs.id')
      .where('tasks.kind', '=', EXPORT_KIND)
      .select([
        'tasks.id',
        'tasks.project_id',
        'tasks.label',
        'tasks.callback',
        'tasks.created_at as task_created_at',
        'tasks.cancelled_at',
        'jobs.id as job_id',
        'jobs.state',
        'jobs.progress',
        'jobs.result',
        ...WAITING_COLUMNS,
        'jobs.attempts',
        'jobs.started_at',
        'jobs.finished_at',
        'export_files.expires_at',
        'export_files.removed_at',
        'export_files.artifact_key',
        this.#asked('fileName').as('file_name'),
        this.#asked<string | null>('tables[0].title').as('title'),
        sql<
          string | null
        >`(select saved_exports.name from saved_export_runs join saved_exports on saved_exports.id = saved_export_runs.saved_id
          where saved_export_runs.task_id = tasks.id limit 1)`.as('saved_export'),
        this.#asked<ExportType>('type').as('type'),
        this.#asked<string | null>('templates').as('templates'),
        sql<
          number | null
        >`(select min(delivered) from deliveries where deliveries.task_id = tasks.id and channel = 'callback' and delivered > 0
          and deliveries.at >= coalesce(tasks.cancelled_at, jobs.finished_at))`.as('notified'),
      ])
  }
}

/** The same for an export of another project, so that its id reveals nothing. */
export function noExport(taskId: string): AppError {
  return new AppError(ERRORS.TASK_NOT_FOUND, `there is no export ${taskId}`)
}
