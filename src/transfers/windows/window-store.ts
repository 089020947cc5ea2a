import { type RawBuilder, sql } from 'kysely'
import type { Engine, EventQuery } from '../../jobs/index.ts'
import { jsonRows, type Ledger, now, type Tx } from '../../ledger/index.ts'
import type { TransferStatus } from '../tables.ts'
import { TRANSFER_KIND, taskPrefix } from '../transfer-keys.ts'
import { type TransferWindow, toTarget, toWindow, type WindowTarget } from './transfer-window.ts'

/** What became of one target since it was last written down. */
export type TargetChange = Pick<
  WindowTarget,
  'id' | 'status' | 'errorCode' | 'errorMessage' | 'progress' | 'absent'
>

export interface WindowStoreDeps {
  engine: Engine
  ledger: Ledger
  /** Called after a commit that changed the window. */
  onChanged?(windowId: string): void
}

const STEPS = {
  id: 'text',
  status: 'text',
  error_code: 'integer',
  error_message: 'text',
  progress: 'integer',
  absent: 'integer',
  event: 'text',
  data: 'text',
} as const

/** The worker's side of a window: close it, follow its targets, end it. Every change of a target emits one event per task. */
export class WindowStore {
  readonly #deps: WindowStoreDeps

  constructor(deps: WindowStoreDeps) {
    this.#deps = deps
  }

  async find(id: string): Promise<TransferWindow | undefined> {
    const row = await this.#deps.ledger.db
      .selectFrom('transfer_windows')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && toWindow(row)
  }

  async targets(windowId: string, db = this.#deps.ledger.db): Promise<WindowTarget[]> {
    const rows = await db
      .selectFrom('transfer_targets')
      .selectAll()
      .where('window_id', '=', windowId)
      .orderBy('id')
      .execute()
    return rows.map(toTarget)
  }

  /**
   * From here on the window takes no target. Waits for the joins that hold its row, and sees all of theirs. Safe to
   * repeat: a window that was closed before comes back as it is.
   */
  async close(tx: Tx, id: string, timeoutMs: number): Promise<TransferWindow | undefined> {
    const closed = await tx.db
      .updateTable('transfer_windows')
      .set({
        status: 'Running',
        version: sql<number>`version + 1`,
        executed_at: now,
        deadline_at: sql<number>`wharf_now() + ${timeoutMs}`,
        targets: sql<number>`(select count(*) from transfer_targets where window_id = ${id})`,
      })
      .where('id', '=', id)
      .where('status', '=', 'Pending')
      .returningAll()
      .executeTakeFirst()
    if (!closed) return this.#read(tx, id)
    const window = toWindow(closed)
    await tx.db
      .updateTable('transfer_targets')
      .set({ status: 'Running', error_code: 115 })
      .where('window_id', '=', id)
      .where('status', '=', 'Pending')
      .execute()
    await this.#emit(
      tx,
      window,
      { type: sql`'transfer.running'`, data: sql`'{"status":"Running"}'` },
      sql`from transfer_tasks join transfer_targets on transfer_targets.id = transfer_tasks.target_id
      where transfer_targets.window_id = ${id}`,
    )
    this.#changed(tx, id)
    return window
  }

  async started(tx: Tx, id: string, engineTaskId: string, fileSize: number): Promise<void> {
    await tx.db
      .updateTable('transfer_windows')
      .set({ engine_task_id: engineTaskId, file_size: fileSize, version: sql<number>`version + 1` })
      .where('id', '=', id)
      .execute()
    this.#changed(tx, id)
  }

  /** Writes changes down; targets that have ended stay as they are. */
  async record(tx: Tx, window: TransferWindow, changes: TargetChange[], egress?: number): Promise<void> {
    if (changes.length === 0) return
    const rows = changes.map((change) => ({
      id: change.id,
      status: change.status,
      error_code: change.errorCode,
      error_message: change.errorMessage,
      progress: change.progress,
      absent: change.absent ? 1 : 0,
      event: `transfer.${change.status.toLowerCase()}`,
      data: JSON.stringify(toldOf(change)),
    }))
    const steps = jsonRows(this.#deps.ledger.dialect, STEPS, rows)
    // Before the update: a target whose status stays the same has no event.
    await this.#emit(
      tx,
      window,
      { type: sql`r.event`, data: sql`r.data` },
      sql`from ${steps} join transfer_targets on transfer_targets.id = r.id
        and transfer_targets.status in ('Pending', 'Running') and transfer_targets.status <> r.status
      join transfer_tasks on transfer_tasks.target_id = r.id`,
    )
    await sql`update transfer_targets set status = r.status, error_code = r.error_code,
        error_message = r.error_message, progress = r.progress, absent = r.absent
      from ${steps} where transfer_targets.id = r.id and transfer_targets.status in ('Pending', 'Running')`.execute(
      tx.db,
    )
    await this.#count(tx, window.id, egress)
    this.#changed(tx, window.id)
  }

  /** From the targets themselves: counts that were only added up could drift. */
  async #count(tx: Tx, id: string, egress: number | undefined): Promise<void> {
    await sql`update transfer_windows set version = version + 1, targets = counted.targets,
        succeeded = counted.succeeded, failed = counted.failed, timed_out = counted.timed_out,
        absent = counted.absent,
        egress = coalesce(cast(${egress ?? null} as bigint), egress)
      from (select count(*) as targets,
          coalesce(sum(case when status = 'Success' then 1 end), 0) as succeeded,
          coalesce(sum(case when status = 'Failed' then 1 end), 0) as failed,
          coalesce(sum(case when status = 'Timeout' then 1 end), 0) as timed_out,
          coalesce(sum(absent), 0) as absent
        from transfer_targets where window_id = ${id}) as counted
      where transfer_windows.id = ${id}`.execute(tx.db)
  }

  async end(tx: Tx, id: string, status: TransferStatus): Promise<void> {
    await tx.db
      .updateTable('transfer_windows')
      .set({ status, finished_at: now, version: sql<number>`version + 1` })
      .where('id', '=', id)
      .where('status', 'in', ['Pending', 'Running'])
      .execute()
    this.#changed(tx, id)
  }

  /** The window of a job, locked: its end and joins to it wait for each other. */
  async ofJob(tx: Tx, jobId: string): Promise<TransferWindow | undefined> {
    let query = tx.db.selectFrom('transfer_windows').selectAll().where('job_id', '=', jobId)
    if (this.#deps.ledger.dialect === 'postgres') query = query.forUpdate()
    const row = await query.executeTakeFirst()
    return row && toWindow(row)
  }

  /** Safe to repeat: the window's own row goes last. */
  async delete(id: string): Promise<void> {
    const { db } = this.#deps.ledger
    const targets = db.selectFrom('transfer_targets').select('id').where('window_id', '=', id)
    await db.deleteFrom('transfer_tasks').where('target_id', 'in', targets).execute()
    await db.deleteFrom('transfer_targets').where('window_id', '=', id).execute()
    await db.deleteFrom('transfer_windows').where('id', '=', id).execute()
  }

  async #read(tx: Tx, id: string): Promise<TransferWindow | undefined> {
    const row = await tx.db.selectFrom('transfer_windows').selectAll().where('id', '=', id).executeTakeFirst()
    return row && toWindow(row)
  }

  /** One event per task of the rows. */
  async #emit(
    tx: Tx,
    window: TransferWindow,
    event: Pick<EventQuery, 'type' | 'data'>,
    from: RawBuilder<unknown>,
  ): Promise<void> {
    const query = {
      ...event,
      kind: sql`${TRANSFER_KIND}`,
      project_id: sql`cast(${window.projectId} as text)`,
      task_id: sql`cast(${taskPrefix(window)} as text) || transfer_tasks.id`,
      job_id: sql`cast(${window.jobId} as text)`,
    }
    await this.#deps.engine.emitter.statement(tx, query, from).execute(tx.db)
  }

  #changed(tx: Tx, windowId: string): void {
    tx.afterCommit(() => this.#deps.onChanged?.(windowId))
  }
}

function toldOf({ status, errorCode, errorMessage, progress }: TargetChange) {
  return { status, error_code: errorCode, error_msg: errorMessage, progress: { percent: progress } }
}
