import type { Selectable } from 'kysely'
import { type Static, Type } from 'typebox'
import { Failure, type JobState, nullable, Time, WaitingFor, waitingFor } from '../jobs/index.ts'
import type { Schema } from '../ledger/index.ts'
import { type ExportProgress, type ExportResult, fileOf, troubleOf } from './export-job.ts'
import { WarningDetail, warningDetails } from './report/index.ts'
import { EXPORT_TYPES, type ExportType, UsedTemplate } from './request/index.ts'
import { warn } from './warnings/index.ts'

export const ExportState = Type.Enum(['pending', 'processing', 'succeeded', 'failed', 'cancelled'], {
  title: 'ExportState',
})

export type ExportStatus = Static<typeof ExportState>

/** A task as callers, callbacks and browsers see it. */
export type ExportView = Static<typeof ExportTask>
export const ExportTask = Type.Object(
  {
    task_id: Type.String(),
    project_id: Type.String(),
    operator_id: nullable(Type.String()),
    file_name: Type.String({ description: 'as it was asked for, without its ending' }),
    title: nullable(Type.String({ description: 'above the table, or above that of the first sheet' })),
    saved_export: nullable(Type.String({ description: 'the name of the saved export whose run it is' })),
    type: Type.Enum([...EXPORT_TYPES]),
    templates: Type.Array(UsedTemplate, {
      description: 'the ones that were asked for by name, with the versions that they had',
    }),
    status: ExportState,
    stage: Type.Enum(['queued', 'fetching', 'building', 'uploading', 'notifying', 'done']),
    progress: Type.Object({ fetched: Type.Integer(), total: nullable(Type.Integer()) }),
    file: nullable(
      Type.Object({
        name: Type.String(),
        size: Type.Integer(),
        sha256: Type.String(),
        rows: Type.Integer(),
        parts: Type.Integer(),
      }),
    ),
    download_url: nullable(Type.String()),
    error: nullable(Failure),
    waiting_for: nullable(WaitingFor),
    warnings: Type.Array(Type.String(), { description: 'sentences in English' }),
    warning_details: Type.Array(WarningDetail, {
      description: 'the same warnings, one for one, as codes and values',
    }),
    attempts: Type.Integer(),
    created_at: Time,
    started_at: nullable(Time),
    finished_at: nullable(Time),
    expires_at: nullable(Time),
    file_deleted_at: Type.Union([Time, Type.Null()], {
      description:
        'when the file was deleted, by a request or at the end of its time; `file` still says what it was',
    }),
  },
  {
    title: 'ExportTask',
    examples: [
      {
        task_id: '01JH3V6W6Y8E9Z',
        project_id: 'erp',
        operator_id: null,
        file_name: 'orders-2026-01',
        title: 'Orders of January',
        saved_export: null,
        type: 'excel',
        templates: [],
        status: 'succeeded',
        stage: 'done',
        progress: { fetched: 1200, total: 1200 },
        file: { name: 'orders-2026-01.xlsx', size: 48_213, sha256: 'e3b0c442…', rows: 1200, parts: 1 },
        download_url: 'https://wharf.example.com/api/exports/01JH3V6W6Y8E9Z/file?ticket=…',
        error: null,
        waiting_for: null,
        warnings: [],
        warning_details: [],
        attempts: 1,
        created_at: '2026-02-01T08:00:00.000Z',
        started_at: '2026-02-01T08:00:00.100Z',
        finished_at: '2026-02-01T08:00:04.000Z',
        expires_at: '2026-02-08T08:00:04.000Z',
        file_deleted_at: null,
      },
    ],
  },
)

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
  title: string | null
  saved_export: string | null
  type: ExportType
  /** JSON. */
  templates: string | null
  /** 1: the callback was delivered; 2: it was given up; null: not yet. */
  notified: number | null
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
  const warnings = [
    ...warningDetails(result?.warnings ?? [], result?.warningDetails),
    ...(row.notified === 2 ? [warn('CALLBACK_GIVEN_UP', {})] : []),
  ]
  return {
    task_id: row.id,
    project_id: row.project_id ?? '',
    operator_id: row.label,
    file_name: row.file_name,
    title: row.title,
    saved_export: row.saved_export,
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
    warnings: warnings.map(({ message }) => message),
    warning_details: warnings,
    attempts: row.attempts,
    created_at: iso(row.task_created_at),
    started_at: isoOrNull(row.started_at),
    finished_at: isoOrNull(row.cancelled_at ?? row.finished_at),
    expires_at: isoOrNull(row.expires_at),
    file_deleted_at: result && isoOrNull(row.removed_at),
  }
}

function waitsFor(row: ExportRow, status: ExportStatus, progress: ExportProgress | null): WaitingFor | null {
  if (status === 'pending') return waitingFor(row)
  return (status === 'processing' && progress && troubleOf(progress).waiting_for) || null
}

function stageOf(row: ExportRow, status: ExportStatus, progress: ExportProgress | null): ExportView['stage'] {
  if (status === 'pending') return 'queued'
  if (status === 'processing') return progress?.stage ?? 'fetching'
  return row.callback !== null && row.notified === null ? 'notifying' : 'done'
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function isoOrNull(ms: number | null): string | null {
  return ms === null ? null : iso(ms)
}
