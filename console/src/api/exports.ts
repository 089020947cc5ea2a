import type {
  AskedFor,
  EventMessage,
  ExportDelivery,
  ExportDownload,
  ExportPage,
  ExportPlace,
  ExportReport,
  ExportTask,
} from '../../../src/http/wire.ts'
import { ask, askWithText } from './client.ts'
import { rememberExport } from './own-exports.ts'

export type { ExportDelivery, ExportDownload, ExportPage, ExportReport, ExportTask }
export type ExportStatus = ExportTask['status']

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

export const deleteFile = (taskId: string): Promise<null> =>
  ask(`${pathOf(taskId)}/file`, { method: 'DELETE' })

export async function retryExport(taskId: string): Promise<ExportTask> {
  const task = await ask<ExportTask>(`${pathOf(taskId)}/retry`, { method: 'POST' })
  rememberExport(task)
  return task
}

/** The request without its secrets, which `sealed` names. */
export const getRequest = (taskId: string, signal?: AbortSignal): Promise<ShownRequest> =>
  askWithText(`${pathOf(taskId)}/request`, { signal })

export type ShownRequest = Omit<AskedFor, 'request'> & { request: Record<string, unknown>; text: string }

export async function runAgain(taskId: string, attempt: string): Promise<ExportTask> {
  const headers = { 'idempotency-key': attempt }
  const task = await ask<ExportTask>(`${pathOf(taskId)}/run-again`, { method: 'POST', headers })
  rememberExport(task)
  return task
}

export const getManifest = (taskId: string): Promise<object> => ask(`${pathOf(taskId)}/manifest`)

export type ExportHistoryItem = Pick<EventMessage, 'seq' | 'type' | 'at'> &
  Partial<Pick<ExportTask, 'status' | 'stage' | 'progress' | 'error'>> & {
    /** Of an attempt that failed only what, code and message. */
    waiting_for?: Pick<WaitingFor, 'what' | 'code' | 'message'> & Partial<WaitingFor>
    /** Of `export.notified`. */
    delivered?: boolean
  }

type WaitingFor = NonNullable<ExportTask['waiting_for']>

const items = async <T>(taskId: string, what: string, signal: AbortSignal): Promise<T[]> =>
  (await ask<{ items: T[] }>(`${pathOf(taskId)}/${what}`, { signal })).items

export const getPosition = (taskId: string, signal: AbortSignal): Promise<ExportPlace> =>
  ask(`${pathOf(taskId)}/position`, { signal })
export const getReport = (taskId: string, signal: AbortSignal): Promise<ExportReport> =>
  ask(`${pathOf(taskId)}/report`, { signal })
export const listHistory = (taskId: string, signal: AbortSignal) =>
  items<ExportHistoryItem>(taskId, 'events?progress=stages', signal)
export const listDeliveries = (taskId: string, signal: AbortSignal) =>
  items<ExportDelivery>(taskId, 'deliveries', signal)
export const listDownloads = (taskId: string, signal: AbortSignal) =>
  items<ExportDownload>(taskId, 'downloads', signal)
