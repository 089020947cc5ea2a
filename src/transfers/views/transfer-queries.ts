import { WAITING_COLUMNS, type WaitingFor, waitingFor } from '../../jobs/index.ts'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { Ledger } from '../../ledger/index.ts'
import { hashOf, parseTaskKey, taskPrefix } from '../transfer-keys.ts'
import { hasEnded, type TransferWindow, toTarget, toWindow, type WindowTarget } from '../windows/index.ts'
import { type TransferJobView, type TransferTaskView, toJobView, toTaskView } from './transfer-view.ts'

const TARGET_COLUMNS = [
  'transfer_targets.status as target_status',
  'agent_id',
  'container_id',
  'owner',
  'directory',
  'error_code',
  'error_message',
  'progress',
  'transfer_targets.absent as target_absent',
] as const

/** The state of tasks and jobs: one statement per question, found by a short key. */
export class TransferQueries {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async task(taskId: string): Promise<TransferTaskView> {
    const uuid = parseTaskKey(taskId)?.uuid
    const row =
      uuid === undefined
        ? undefined
        : await this.#ledger.db
            .selectFrom('transfer_tasks')
            .innerJoin('transfer_targets', 'transfer_targets.id', 'transfer_tasks.target_id')
            .innerJoin('transfer_windows', 'transfer_windows.id', 'transfer_targets.window_id')
            .selectAll('transfer_windows')
            .select(['transfer_tasks.created_at as asked_at', ...TARGET_COLUMNS])
            .where('transfer_tasks.id', '=', uuid)
            .executeTakeFirst()
    const window = row && toWindow(row)
    // The UUID alone does not make an id: the rest has to be right as well.
    if (!row || !window || taskPrefix(window) + uuid !== taskId) throw noTransfer('task', taskId)
    const target = toTarget({
      ...row,
      status: row.target_status,
      absent: row.target_absent,
      window_id: row.id,
    })
    const waiting_for = hasEnded(target.status) ? null : await this.#waitingFor(window)
    return { ...toTaskView(taskId, row.asked_at, window, target), waiting_for }
  }

  async job(jobId: string): Promise<TransferJobView> {
    const { window, targets } = await this.read(hashOf(jobId))
    if (!window) throw noTransfer('job', jobId)
    return { ...toJobView(window, targets), waiting_for: await this.#waitingFor(window) }
  }

  /** What the delivery of a window waits for before it goes on: a part of the installation that is away. */
  async #waitingFor({ jobId, status }: TransferWindow): Promise<WaitingFor | null> {
    if (jobId === null || hasEnded(status)) return null
    const job = await this.#ledger.db
      .selectFrom('jobs')
      .select(['jobs.state', 'jobs.progress', ...WAITING_COLUMNS])
      .where('id', '=', jobId)
      .executeTakeFirst()
    if (!job) return null
    // A delivery that has its deadline to keep waits while it runs.
    if (job.state !== 'running') return waitingFor(job)
    return (JSON.parse(job.progress ?? 'null') as { waitingFor?: WaitingFor } | null)?.waitingFor ?? null
  }

  async window(id: string): Promise<TransferWindow | undefined> {
    const row = await this.#ledger.db
      .selectFrom('transfer_windows')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && toWindow(row)
  }

  /** A window's tasks in order of their ids, page by page. */
  tasksOf(windowId: string, after: string, limit: number) {
    return this.#ledger.db
      .selectFrom('transfer_tasks')
      .innerJoin('transfer_targets', 'transfer_targets.id', 'transfer_tasks.target_id')
      .select(['transfer_tasks.id', 'target_id', 'transfer_tasks.created_at'])
      .where('window_id', '=', windowId)
      .where('transfer_tasks.id', '>', after)
      .orderBy('transfer_tasks.id')
      .limit(limit)
      .execute()
  }

  /** A window with its targets, both of the same moment. */
  async read(windowId: string): Promise<{ window: TransferWindow | undefined; targets: WindowTarget[] }> {
    const rows = await this.#ledger.db
      .selectFrom('transfer_windows')
      .innerJoin('transfer_targets', 'transfer_targets.window_id', 'transfer_windows.id')
      .selectAll('transfer_windows')
      .select(['transfer_targets.id as target_id', ...TARGET_COLUMNS])
      .where('transfer_windows.id', '=', windowId)
      .execute()
    const first = rows[0]
    const targets = rows.map((row) =>
      toTarget({
        ...row,
        id: row.target_id,
        status: row.target_status,
        absent: row.target_absent,
        window_id: row.id,
      }),
    )
    return { window: first && toWindow(first), targets }
  }
}

/** Also for those whose transfer it is not. */
export function noTransfer(what: 'task' | 'job', id: string): AppError {
  return new AppError(ERRORS.TASK_NOT_FOUND, `there is no transfer ${what} ${id.slice(0, 500)}`)
}
