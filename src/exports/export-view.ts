import type { Selectable } from 'kysely'
import type { JobState } from '../jobs/index.ts'
import { type WaitingFor, waitingFor } from '../jobs/index.ts'
import type { Schema } from '../ledger/index.ts'
import { type ExportProgress, type ExportResult, fileOf, troubleOf } from './export-job.ts'
import type { ExportType, UsedTemplate } from './request/index.ts'

export type ExportStatus = 'pending' | 'processing' | 'succeeded' | 'failed' | 'cancelled'
type ExportStage = 'queued' | 'fetching' | 'building' | 'uploading' | 'notifying' | 'done'

const UNTOLD = 'the callback could not be told, and is not tried again; see the deliveries'

/** A task as everybody outside sees it: callers, callbacks, browsers. */
export interface ExportView {
  task_id: string
  project_id: string
  operator_id: string | null
  /** As it was asked for: without its ending, and before there is a file. */
  file_name: string
  type: ExportType
  /** The templates that were asked for by name, with the versions that they had. */
  templates: UsedTemplate[]
  status: ExportStatus
  stage: ExportStage
  progress: { fetched: number; total: number | null }
  file: ReturnType<typeof fileOf> | null
  download_url: string | null
  error: { code: string; message: string } | null
  /** What is away or failing, while the export cannot go on because of it. */
  waiting_for: WaitingFor | null
  warnings: string[]
  attempts: number
  created_at: string
  started_at: string | null
  finished_at: string | null
  expires_at: string | null
}

/** One row of the join that `ExportQueries` reads. */
export type ExportRow = Selectable<{
  id: string
  project_id: string | null
  label: string | null
  callback: string | null
  task_created_at: number
  cancelled_at: number | null
  job_id: string
  state: JobState
  progress: string | null
  result: string | null
  error_code: string | null
  error_message: string | null
  outage: Schema['jobs']['outage']
  outage_since: number | null
  due_at: number
  attempts: number
  started_at: number | null
  finished_at: number | null
  expires_at: number | null
  removed_at: number | null
  artifact_key: string | null
  file_name: string
  type: ExportType
  /** JSON. */
  templates: string | null
  told: number | null
}>

export function statusOf({ state, cancelled_at }: Pick<ExportRow, 'state' | 'cancelled_at'>): ExportStatus {
  if (cancelled_at !== null) return 'cancelled'
  if (state === 'waiting' || state === 'pending') return 'pending'
  return state === 'running' ? 'processing' : state
}

export function toExportView(
  row: ExportRow,
  downloadUrl: (taskId: string, result: ExportResult) => string | null,
): ExportView {
  const status = statusOf(row)
  const progress = row.progress === null ? null : (JSON.parse(row.progress) as ExportProgress)
  const result =
    status === 'succeeded' && row.result !== null ? (JSON.parse(row.result) as ExportResult) : null
  const failed = status === 'failed' && row.error_code !== null
  return {
    task_id: row.id,
    project_id: row.project_id ?? '',
    operator_id: row.label,
    file_name: row.file_name,
    type: row.type,
    templates: row.templates === null ? [] : (JSON.parse(row.templates) as UsedTemplate[]),
    status,
    stage: stageOf(row, status, progress),
    progress: {
      fetched: result?.rows ?? progress?.fetched ?? 0,
      total: result?.rows ?? progress?.total ?? null,
    },
    file: result && fileOf(result),
    download_url: result && row.removed_at === null ? downloadUrl(row.id, result) : null,
    error: failed ? { code: row.error_code as string, message: row.error_message ?? '' } : null,
    waiting_for: waitsFor(row, status, progress),
    warnings: [...(result?.warnings ?? []), ...(row.told === 2 ? [UNTOLD] : [])],
    attempts: row.attempts,
    created_at: iso(row.task_created_at),
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.cancelled_at ?? row.finished_at),
    expires_at: isoOrNull(row.expires_at),
  }
}

function waitsFor(row: ExportRow, status: ExportStatus, progress: ExportProgress | null): WaitingFor | null {
  if (status === 'pending') return waitingFor(row)
  return (status === 'processing' && progress && troubleOf(progress).waiting_for) || null
}

function stageOf(row: ExportRow, status: ExportStatus, progress: ExportProgress | null): ExportStage {
  if (status === 'pending') return 'queued'
  if (status === 'processing') return progress?.stage ?? 'fetching'
  return row.callback !== null && row.told === null ? 'notifying' : 'done'
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
