import { type RawBuilder, sql } from 'kysely'
import { jsonRows, type Ledger } from '../../ledger/index.ts'
import type { Change, DefinedKind, Described } from '../kind.ts'

/**
 * What a change of a row in `jobs` or `tasks` has to tell. Whoever sets these columns has appended the event: a trigger
 * writes it into the log with the very statement that makes the change, for the task or for all tasks of the job, so
 * no change can be made and not told, and telling costs no statement of its own.
 */
export interface Telling {
  event_type: string
  event_data: string
}

export function telling(kind: DefinedKind, job: Described, change: Change): Telling {
  const { type, data } = kind.describe(change, job)
  return { event_type: type, event_data: JSON.stringify(data) }
}

const TOLD_COLUMNS = { id: 'text', event_type: 'text', event_data: 'text' } as const

/** Tells for all tasks of these jobs, for a change that is written already: their rows need not be written again. */
export function tellTasks(
  dialect: Ledger['dialect'],
  jobs: readonly (Telling & { id: string })[],
): RawBuilder<unknown> {
  return sql`insert into events (type, kind, project_id, task_id, job_id, data, at)
    select r.event_type, tasks.kind, tasks.project_id, tasks.id, tasks.job_id, r.event_data, wharf_now()
    from ${jsonRows(dialect, TOLD_COLUMNS, jobs)} join tasks on tasks.job_id = r.id where tasks.cancelled_at is null`
}
