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
