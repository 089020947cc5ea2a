import { AppError, type Duty, ERRORS, isAppError, type Log, newId, outageOf } from '../../kernel/index.ts'
import { type Ledger, now, type Tx } from '../../ledger/index.ts'
import { type SavedExports, type SavedRow, scheduleOf } from './saved-exports.ts'
import { lastDue, nextDue, type Schedule } from './schedule.ts'

export interface SchedulerDeps {
  ledger: Ledger
  saved: Pick<SavedExports, 'start'>
  exports: { refusal(projectId: string): Promise<AppError | undefined> }
  log: Log
}

const BATCH = 100
/** A schedule that is stored meanwhile is seen after so long. */
const LONGEST_MS = 20_000
/** What waits for a quota or a place is tried again. */
const TRY_AGAIN_MS = 60_000
/** Runs of which no export came; all others go with their tasks. */
const REMEMBERED_MS = 30 * 24 * 3_600_000

/**
 * Starts what is due. Only the leader runs it, but it would be safe on all instances: a run is a row that is unique for its
 * due time, written in one transaction with its export and the next due time. Of the times that an outage has left out,
 * the last one is made up for.
 */
export class Scheduler implements Duty {
  readonly name = 'schedules'
  readonly #deps: SchedulerDeps
  readonly #now: () => Promise<number>

  /** `now` is the ledger's time. */
  constructor(deps: SchedulerDeps, { now = () => deps.ledger.now() }: { now?: () => Promise<number> } = {}) {
    this.#deps = deps
    this.#now = now
  }

  async runOnce(signal: AbortSignal): Promise<{ started: number; nextInMs: number }> {
    const rows = await this.#deps.ledger.db
      .selectFrom('saved_exports')
      .selectAll()
      .where('wake_at', 'is not', null)
      .orderBy('wake_at')
      .limit(BATCH)
      .execute()
    // Nothing is scheduled: the time need not be asked for.
    if (rows.length === 0) return { started: 0, nextInMs: LONGEST_MS }
    const at = await this.#now()
    const due = rows.filter(({ wake_at }) => (wake_at ?? 0) <= at)
    let started = 0
    for (const row of due) {
      if (signal.aborted) break
      if (await this.#fire(row, at)) started++
    }
    const next = rows[due.length]?.wake_at
    const wait = next == null ? (due.length < BATCH ? LONGEST_MS : 0) : next - at
    return { started, nextInMs: Math.max(0, Math.min(wait, LONGEST_MS)) }
  }

  async #fire(seen: SavedRow, at: number): Promise<boolean> {
    const { ledger, saved, exports, log } = this.#deps
    const schedule = scheduleOf(seen)
    if (!schedule || seen.due_at === null) return false
    const dueAt = Math.max(seen.due_at, lastDue(schedule, at) ?? 0)
    const refused = await exports.refusal(seen.project_id)
    try {
      return await ledger.transaction(async (tx) => {
        const row = await this.#hold(tx, seen)
        if (!row) return false
        if (refused) throw refused
        const view = await saved.start(tx, row, { dueAt })
        await this.#set(tx, seen, { schedule, at })
        return view !== undefined
      })
    } catch (error) {
      if (!(error instanceof AppError) || isAppError(error, ERRORS.LEDGER_UNAVAILABLE)) throw error
      log.warn(
        { err: error, saved: seen.name, project: seen.project_id },
        'a saved export could not be started',
      )
      await ledger.transaction((tx) => this.#fail(tx, seen, { schedule, dueAt, at, error }))
      return false
    }
  }

  /** Waits for another instance that looks at it; undefined if that one has done what there was to do. */
  #hold(tx: Tx, { id, due_at, wake_at, updated_at }: SavedRow): Promise<SavedRow | undefined> {
    return tx.db
      .updateTable('saved_exports')
      .set({ wake_at })
      .where('id', '=', id)
      .where('due_at', '=', due_at)
      .where('wake_at', '=', wake_at)
      .where('updated_at', '=', updated_at)
      .returningAll()
      .executeTakeFirst()
  }

  async #set(tx: Tx, { id }: SavedRow, { schedule, at }: { schedule: Schedule; at: number }): Promise<void> {
    const next = nextDue(schedule, at)
    await tx.db
      .updateTable('saved_exports')
      .set({ due_at: next, wake_at: next, trouble_code: null, trouble_message: null, trouble_since: null })
      .where('id', '=', id)
      .execute()
  }

  async #fail(
    tx: Tx,
    seen: SavedRow,
    { schedule, dueAt, at, error }: { schedule: Schedule; dueAt: number; at: number; error: AppError },
  ): Promise<void> {
    const row = await this.#hold(tx, seen)
    if (!row) return
    const failure = { code: error.code, message: error.message }
    // A quota or a place in the queue is waited for; everything else would go wrong again.
    if (outageOf(error) || isAppError(error, ERRORS.EXPORT_LIMIT)) {
      const since = { trouble_since: row.trouble_since ?? at }
      await tx.db
        .updateTable('saved_exports')
        .set({
          wake_at: at + TRY_AGAIN_MS,
          trouble_code: failure.code,
          trouble_message: failure.message,
          ...since,
        })
        .where('id', '=', row.id)
        .execute()
      return
    }
    if (isAppError(error, ERRORS.PROJECT_NOT_FOUND)) {
      await tx.db.updateTable('saved_exports').set({ wake_at: null }).where('id', '=', row.id).execute()
      return
    }
    const id = newId()
    await tx.db
      .insertInto('saved_export_runs')
      .values({
        id,
        saved_id: row.id,
        due_at: dueAt,
        task_id: null,
        parameters: '{}',
        error_code: failure.code,
        error_message: failure.message,
        created_at: now,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await this.#set(tx, row, { schedule, at })
    await tx.db.updateTable('saved_exports').set({ last_run_id: id }).where('id', '=', row.id).execute()
    await tx.db
      .deleteFrom('saved_export_runs')
      .where('saved_id', '=', row.id)
      .where('created_at', '<', (await tx.now()) - REMEMBERED_MS)
      .where('task_id', 'is', null)
      .execute()
  }
}
