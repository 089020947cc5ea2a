import { type Static, Type } from 'typebox'
import { Failure, type JobState, nullable, Time } from '../../jobs/index.ts'
import { ExportState, type ExportStatus } from '../export-view.ts'
import { Parameters } from './parameters.ts'

/** One time that a saved export was run. */
export type RunView = Static<typeof SavedRun>
export const SavedRun = Type.Object(
  {
    run_id: Type.String(),
    task_id: nullable(Type.String({ description: 'null: no export came of it; error says why' })),
    by: Type.Enum(['schedule', 'request']),
    due_at: nullable(Time),
    parameters: Parameters,
    status: ExportState,
    error: nullable(Failure),
    created_at: Time,
    finished_at: nullable(Time),
  },
  { title: 'SavedRun' },
)

/** The run, and its job, if it has one. */
export const RUN_COLUMNS = [
  'saved_export_runs.id as run_id',
  'saved_export_runs.task_id',
  'saved_export_runs.due_at as run_due_at',
  'saved_export_runs.parameters as run_parameters',
  'saved_export_runs.error_code as run_error_code',
  'saved_export_runs.error_message as run_error_message',
  'saved_export_runs.created_at as run_created_at',
  'tasks.cancelled_at',
  'jobs.state',
  'jobs.error_code',
  'jobs.error_message',
  'jobs.finished_at',
] as const

export interface RunRow {
  run_id: string | null
  task_id: string | null
  run_due_at: number | null
  run_parameters: string | null
  run_error_code: string | null
  run_error_message: string | null
  run_created_at: number | null
  cancelled_at: number | null
  state: JobState | null
  error_code: string | null
  error_message: string | null
  finished_at: number | null
}

export function toRunView(row: RunRow): RunView | null {
  if (row.run_id === null || row.run_created_at === null) return null
  const status = statusOf(row)
  const code = row.run_error_code ?? (status === 'failed' ? row.error_code : null)
  const ended = row.task_id === null ? row.run_created_at : (row.cancelled_at ?? row.finished_at)
  return {
    run_id: row.run_id,
    task_id: row.task_id,
    by: row.run_due_at === null ? 'request' : 'schedule',
    due_at: isoOrNull(row.run_due_at),
    parameters: JSON.parse(row.run_parameters ?? '{}') as Parameters,
    status,
    error: code === null ? null : { code, message: row.run_error_message ?? row.error_message ?? '' },
    created_at: new Date(row.run_created_at).toISOString(),
    finished_at: isoOrNull(ended),
  }
}

function statusOf({ task_id, cancelled_at, state }: RunRow): ExportStatus {
  if (task_id === null) return 'failed'
  if (cancelled_at !== null) return 'cancelled'
  if (state === 'waiting' || state === 'pending' || state === null) return 'pending'
  return state === 'running' ? 'processing' : state
}

export function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
