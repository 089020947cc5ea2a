import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { nullable, Time } from '../../jobs/index.ts'
import { newId } from '../../kernel/index.ts'
import { type Ledger, now, readCursor, type Schema, type Tx, writeCursor } from '../../ledger/index.ts'
import type { LinkIssuer, Sealer } from '../../tenancy/index.ts'
import type { ExportView } from '../export-view.ts'
import type { ExportBody } from '../request/index.ts'
import { type EarlierRequests, noSavedExport as notFound, type Written } from './earlier-requests.ts'
import { fillRequest } from './fill-request.ts'
import { hideSecrets } from './hide-secrets.ts'
import { namedPage, requireRoom, requireShown } from './named-rows.ts'
import { checkParameters, Parameters, valuesAt, wordsAt } from './parameters.ts'
import { isoOrNull, RUN_COLUMNS, type RunRow, type RunView, SavedRun, toRunView } from './run-view.ts'
import { changed, etagOf, requireVersion, type VersionWish } from './saved-version.ts'
import { checkSchedule, nextDue, nextDues, Schedule } from './schedule.ts'
import type { Outcome } from './template-store.ts'

/** A request as it is kept, with when it runs by itself and what changes from run to run. */
export type SavedBody = ExportBody & { schedule?: Schedule; parameters?: Parameters }

export type SavedView = Static<typeof SavedExport>
export const SavedExport = Type.Object(
  {
    name: Type.String(),
    project_id: Type.String(),
    request: Type.Unknown({ description: 'without its secrets' }),
    sealed: Type.Array(Type.String(), { description: 'the secrets that it has' }),
    parameters: Parameters,
    schedule: nullable(Schedule),
    next_run_at: nullable(Time),
    next_runs: Type.Array(Time, { description: 'the next five times' }),
    last_run: nullable(SavedRun),
    failing: nullable(Type.Object({ code: Type.String(), message: Type.String(), since: Time })),
    created_at: Time,
    updated_at: Time,
    etag: Type.String({ description: 'of this version, for `If-Match`; also the header `ETag`' }),
  },
  { title: 'SavedExport' },
)

export type SavedRow = Selectable<Schema['saved_exports']>
type ViewRow = Omit<SavedRow, 'wake_at' | 'last_run_id'> & RunRow

/** So many runs are looked through for the first failure: what fails longer fails since then at least. */
const MOST_LOOKED_BACK = 200

export interface SavedDeps {
  ledger: Ledger
  sealer: Sealer
  earlier: EarlierRequests
  exports: {
    submit(
      tx: Tx,
      projectId: string,
      body: ExportBody,
      issuer?: LinkIssuer & { written?: Written },
    ): Promise<ExportView>
    check(tx: Tx, projectId: string, body: ExportBody): Promise<void>
  }
}

/** What a run is to be made from, and why. */
interface RunWish {
  given?: Parameters
  issuer?: LinkIssuer
  /** When it was due, for one that nobody asked for. */
  dueAt?: number
}

/** Requests under names: stored once, run on request and by their schedules. */
export class SavedExports {
  readonly #deps: SavedDeps

  constructor(deps: SavedDeps) {
    this.#deps = deps
  }

  /** Checked as if it ran now. With `dryRun` nothing is stored, and the answer says what would be. */
  async put(
    tx: Tx,
    {
      projectId,
      name,
      dryRun = false,
      version = {},
    }: { projectId: string; name: string; dryRun?: boolean; version?: VersionWish },
    { schedule, parameters = {}, project_id: _, ...given }: SavedBody,
  ): Promise<{ outcome: Outcome; etag: string | null }> {
    requireShown(name)
    const request = await this.#deps.earlier.complete(tx, projectId, given)
    const at = await tx.now()
    if (schedule) checkSchedule(schedule, at)
    checkParameters(parameters)
    const when = { at, timezone: zoneOf(schedule, request) }
    const values = valuesAt(parameters, {}, when)
    await this.#deps.exports.check(tx, projectId, fillRequest(request, wordsAt(values, when)))
    const before = await this.#find(tx, projectId, name)
    const kept = { request: JSON.stringify(request), parameters: JSON.stringify(parameters) }
    const [cron, timezone] = [schedule?.cron ?? null, schedule?.timezone ?? null]
    const sameTimes = before?.cron === cron && before.timezone === timezone
    if (before && sameTimes && before.parameters === kept.parameters && this.#opened(before) === kept.request)
      return { outcome: 'unchanged', etag: etagOf(before) }
    requireVersion(name, version, before)
    if (!before) await requireRoom(this.#names(tx, projectId))
    const outcome = before ? 'changed' : 'created'
    if (dryRun) return { outcome, etag: before ? etagOf(before) : null }
    const due = schedule ? nextDue(schedule, at) : null
    const stored = {
      ...kept,
      request: this.#deps.sealer.seal(kept.request),
      cron,
      timezone,
      // What is due stays due, unless the times are others now.
      ...(!sameTimes && { due_at: due, wake_at: due }),
      trouble_code: null,
      trouble_message: null,
      trouble_since: null,
      updated_at: now,
    }
    const fresh = { id: newId(), project_id: projectId, name, created_at: now, due_at: due, wake_at: due }
    const isConditional = version.ifMatch !== undefined || version.ifNoneMatch !== undefined
    // Two at the same time have read the same version: only the one whose statement still finds it stores something.
    const done =
      isConditional && before
        ? await tx.db
            .updateTable('saved_exports')
            .set(stored)
            .where('id', '=', before.id)
            .where('request', '=', before.request)
            .executeTakeFirst()
        : await tx.db
            .insertInto('saved_exports')
            .values({ ...fresh, ...stored })
            .onConflict((conflict) => {
              const taken = conflict.columns(['project_id', 'name'])
              return isConditional ? taken.doNothing() : taken.doUpdateSet(stored)
            })
            .executeTakeFirst()
    const rows = 'numUpdatedRows' in done ? done.numUpdatedRows : done.numInsertedOrUpdatedRows
    if (isConditional && rows === 0n) throw changed(name, await this.#find(tx, projectId, name))
    return { outcome, etag: etagOf(stored) }
  }

  async get(projectId: string, name: string): Promise<SavedView> {
    const row = await this.#views(projectId).where('name', '=', name).executeTakeFirst()
    if (!row) throw notFound(name)
    return this.#complete(row)
  }

  async list(projectId: string, page: { limit: number; cursor?: string }) {
    return namedPage(page, async (after, limit) => {
      const query = this.#views(projectId).where('name', '>', after).orderBy('name').limit(limit)
      return Promise.all((await query.execute()).map((row) => this.#complete(row)))
    })
  }

  /** Its exports stay; its history goes. */
  async delete(tx: Tx, projectId: string, name: string, version: VersionWish = {}): Promise<void> {
    const before = await this.#find(tx, projectId, name)
    if (!before) throw notFound(name)
    requireVersion(name, version, before)
    let query = tx.db.deleteFrom('saved_exports').where('id', '=', before.id)
    if (version.ifMatch !== undefined) query = query.where('request', '=', before.request)
    const { numDeletedRows } = await query.executeTakeFirst()
    if (numDeletedRows > 0n) return
    const present = await this.#find(tx, projectId, name)
    throw present ? changed(name, present) : notFound(name)
  }

  /** Now, because somebody asks. */
  async run(tx: Tx, projectId: string, name: string, wish: RunWish): Promise<ExportView> {
    const saved = await this.#find(tx, projectId, name)
    if (!saved) throw notFound(name)
    return (await this.start(tx, saved, wish)) as ExportView
  }

  /** Undefined if the run for this due time was started before: that cannot happen twice. */
  async start(
    tx: Tx,
    saved: SavedRow,
    { given = {}, issuer = {}, dueAt }: RunWish,
  ): Promise<ExportView | undefined> {
    const request = JSON.parse(this.#opened(saved)) as ExportBody
    // A run that comes late is about the days of when it was due.
    const when = { at: dueAt ?? (await tx.now()), timezone: zoneOf(scheduleOf(saved), request) }
    const parameters = JSON.parse(saved.parameters) as Parameters
    const values = valuesAt(parameters, given, when)
    const runId = newId()
    const { numInsertedOrUpdatedRows } = await tx.db
      .insertInto('saved_export_runs')
      .values({
        id: runId,
        saved_id: saved.id,
        due_at: dueAt ?? null,
        task_id: null,
        parameters: JSON.stringify(values),
        error_code: null,
        error_message: null,
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) return undefined
    const filled = fillRequest(request, wordsAt(values, when))
    const hasWords = JSON.stringify(filled) !== JSON.stringify(request)
    if (dueAt !== undefined) filled.priority ??= 'scheduled'
    const body = { ...request, parameters: { ...parameters, ...given } }
    const view = await this.#deps.exports.submit(tx, saved.project_id, filled, {
      ...issuer,
      ...(hasWords && { written: { body, timezone: when.timezone } }),
    })
    await tx.db
      .updateTable('saved_export_runs')
      .set({ task_id: view.task_id })
      .where('id', '=', runId)
      .execute()
    await tx.db.updateTable('saved_exports').set({ last_run_id: runId }).where('id', '=', saved.id).execute()
    return { ...view, saved_export: saved.name }
  }

  /** Newest first. */
  async runs(
    projectId: string,
    name: string,
    { limit, cursor }: { limit: number; cursor?: string },
  ): Promise<{ items: RunView[]; next_cursor: string | null }> {
    const saved = await this.#find(this.#deps.ledger, projectId, name)
    if (!saved) throw notFound(name)
    let query = this.#newestRuns(saved.id).limit(limit + 1)
    if (cursor !== undefined) {
      const { at, id } = readCursor(cursor)
      query = query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('saved_export_runs.created_at', 'saved_export_runs.id'), '<', tuple(at, id)),
      )
    }
    const rows = await query.execute()
    const last = rows[limit - 1]
    return {
      items: rows.slice(0, limit).map((row) => toRunView(row) as RunView),
      next_cursor:
        rows.length > limit && last ? writeCursor({ at: last.run_created_at, id: last.run_id }) : null,
    }
  }

  #newestRuns(savedId: string) {
    return this.#deps.ledger.db
      .selectFrom('saved_export_runs')
      .leftJoin('tasks', 'tasks.id', 'saved_export_runs.task_id')
      .leftJoin('jobs', 'jobs.id', 'tasks.job_id')
      .select(RUN_COLUMNS)
      .where('saved_export_runs.saved_id', '=', savedId)
      .orderBy('saved_export_runs.created_at', 'desc')
      .orderBy('saved_export_runs.id', 'desc')
  }

  /** One that fails does so since the first failure after its last success. */
  async #complete(row: ViewRow): Promise<SavedView> {
    const view = this.#view(row)
    if (view.failing === null || row.trouble_code !== null) return view
    const runs = (await this.#newestRuns(row.id).limit(MOST_LOOKED_BACK).execute()).flatMap(
      (run) => toRunView(run) ?? [],
    )
    const good = runs.findIndex(({ status }) => status === 'succeeded')
    const first = runs.slice(0, good < 0 ? runs.length : good).findLast(({ status }) => status === 'failed')
    return first ? { ...view, failing: { ...view.failing, since: endOf(first) } } : view
  }

  #names(tx: Tx, projectId: string) {
    return tx.db.selectFrom('saved_exports').select('name').where('project_id', '=', projectId)
  }

  #find({ db }: Pick<Ledger, 'db'>, projectId: string, name: string): Promise<SavedRow | undefined> {
    return db
      .selectFrom('saved_exports')
      .selectAll()
      .where('project_id', '=', projectId)
      .where('name', '=', name)
      .executeTakeFirst()
  }

  #views(projectId: string) {
    return this.#deps.ledger.db
      .selectFrom('saved_exports')
      .leftJoin('saved_export_runs', 'saved_export_runs.id', 'saved_exports.last_run_id')
      .leftJoin('tasks', 'tasks.id', 'saved_export_runs.task_id')
      .leftJoin('jobs', 'jobs.id', 'tasks.job_id')
      .select([
        'saved_exports.id',
        'saved_exports.project_id',
        'saved_exports.name',
        'saved_exports.request',
        'saved_exports.parameters',
        'saved_exports.cron',
        'saved_exports.timezone',
        'saved_exports.due_at',
        'saved_exports.trouble_code',
        'saved_exports.trouble_message',
        'saved_exports.trouble_since',
        'saved_exports.created_at',
        'saved_exports.updated_at',
      ])
      .select(RUN_COLUMNS)
      .where('saved_exports.project_id', '=', projectId)
  }

  #view(row: ViewRow): SavedView {
    const { shown, sealed } = hideSecrets(JSON.parse(this.#opened(row)) as Record<string, unknown>)
    const last = toRunView(row)
    const schedule = scheduleOf(row)
    return {
      name: row.name,
      project_id: row.project_id,
      request: shown,
      sealed,
      parameters: JSON.parse(row.parameters) as Parameters,
      schedule: schedule ?? null,
      next_run_at: isoOrNull(row.due_at),
      next_runs: schedule && row.due_at !== null ? nextDues(schedule, row.due_at) : [],
      last_run: last,
      failing: failing(row, last),
      created_at: new Date(row.created_at).toISOString(),
      updated_at: new Date(row.updated_at).toISOString(),
      etag: etagOf(row),
    }
  }

  #opened({ request }: Pick<SavedRow, 'request'>): string {
    return this.#deps.sealer.open(request)
  }
}

export function scheduleOf({ cron, timezone }: Pick<SavedRow, 'cron' | 'timezone'>): Schedule | undefined {
  return cron === null || timezone === null ? undefined : { cron, timezone }
}

/** Whose days the dates are. */
function zoneOf(schedule: Schedule | undefined, { timezone }: ExportBody): string {
  return schedule?.timezone ?? timezone ?? 'UTC'
}

function failing(
  {
    trouble_code: code,
    trouble_message,
    trouble_since,
  }: Pick<SavedRow, `trouble_${'code' | 'message' | 'since'}`>,
  last: RunView | null,
): SavedView['failing'] {
  if (code !== null)
    return { code, message: trouble_message ?? '', since: new Date(trouble_since ?? 0).toISOString() }
  if (last?.status !== 'failed') return null
  return { code: '', message: '', ...last.error, since: endOf(last) }
}

function endOf({ finished_at, created_at }: RunView): string {
  return finished_at ?? created_at
}
