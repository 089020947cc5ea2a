import { ask } from './client.ts'

export type ExportStatus = 'pending' | 'processing' | 'succeeded' | 'failed' | 'cancelled'
export type ExportStage = 'queued' | 'fetching' | 'building' | 'uploading' | 'notifying' | 'done'

export interface ExportTask {
  task_id: string
  project_id: string
  operator_id: string | null
  file_name: string
  type: 'csv' | 'excel'
  status: ExportStatus
  stage: ExportStage
  progress: { fetched: number; total: number | null }
  file: { name: string; size: number; sha256: string; rows: number; parts: number } | null
  download_url: string | null
  error: { code: string; message: string } | null
  warnings: string[]
  attempts: number
  created_at: string
  started_at: string | null
  finished_at: string | null
  expires_at: string | null
}

export interface ExportPage {
  items: ExportTask[]
  next_cursor: string | null
}

export interface ExportFilter {
  status?: ExportStatus | undefined
  operator_id?: string | undefined
  search?: string | undefined
}

export function listExports(
  projectId: string,
  filter: ExportFilter,
  { cursor, signal }: { cursor: string | null; signal: AbortSignal },
): Promise<ExportPage> {
  const query = new URLSearchParams({ limit: '25' })
  for (const [name, value] of Object.entries({ ...filter, cursor })) if (value) query.set(name, value)
  return ask(`/api/projects/${encodeURIComponent(projectId)}/exports?${query}`, { signal })
}

const pathOf = (taskId: string) => `/api/exports/${encodeURIComponent(taskId)}`

export const getExport = (taskId: string, signal?: AbortSignal): Promise<ExportTask> =>
  ask(pathOf(taskId), { signal })

export const cancelExport = (taskId: string): Promise<ExportTask> => ask(pathOf(taskId), { method: 'DELETE' })

export const retryExport = (taskId: string): Promise<ExportTask> =>
  ask(`${pathOf(taskId)}/retry`, { method: 'POST' })

export interface Position {
  position: number
  running: number
  limit: number | null
  held_by: 'nothing' | 'exports_at_once'
}

export interface ExportHistoryItem {
  seq: number
  type: string
  at: string
  status?: ExportStatus
  stage?: ExportStage
  progress?: { fetched: number; total: number | null }
  error?: { code: string; message: string }
}

export interface Delivery {
  attempt: number
  at: string
  url: string
  type: string
  status: number | null
  error: string | null
  delivered: boolean
}

export interface Download {
  at: string
  who: string
  address: string
  bytes: number
  complete: boolean
}

const items = async <T>(taskId: string, what: string, signal: AbortSignal): Promise<T[]> =>
  (await ask<{ items: T[] }>(`${pathOf(taskId)}/${what}`, { signal })).items

export const getPosition = (taskId: string, signal: AbortSignal): Promise<Position> =>
  ask(`${pathOf(taskId)}/position`, { signal })
export const listHistory = (taskId: string, signal: AbortSignal) =>
  items<ExportHistoryItem>(taskId, 'events', signal)
export const listDeliveries = (taskId: string, signal: AbortSignal) =>
  items<Delivery>(taskId, 'deliveries', signal)
export const listDownloads = (taskId: string, signal: AbortSignal) =>
  items<Download>(taskId, 'downloads', signal)
