import type {
  AskedFor,
  ColumnTotal,
  ColumnType,
  EventMessage,
  ExportBulkAnswer,
  ExportBulkRequest,
  ExportDelivery,
  ExportDownload,
  ExportPage,
  ExportPlace,
  ExportReport,
  ExportTask,
  HttpPreset,
  Mask,
  PagingStyle,
} from '../../../src/http/wire.ts'
import { ask, askWithText } from './client.ts'
import { everyName } from './every-name.ts'
import { rememberExport } from './own-exports.ts'

export type {
  ColumnTotal,
  ColumnType,
  ExportBulkAnswer,
  ExportBulkRequest,
  ExportDelivery,
  ExportDownload,
  ExportPage,
  ExportReport,
  ExportTask,
  HttpPreset,
  Mask,
  PagingStyle,
}
export type ExportStatus = ExportTask['status']

type ExportType = ExportTask['type']

export const STATUSES = everyName<ExportStatus>({
  pending: true,
  processing: true,
  succeeded: true,
  failed: true,
  cancelled: true,
})
export const TYPES = everyName<ExportType>({ csv: true, excel: true, jsonl: true, parquet: true })
export const MASKS = everyName<Mask>({
  phone: true,
  email: true,
  id_card: true,
  bank_card: true,
  name: true,
  last4: true,
  hash: true,
  fixed: true,
})

/** As the server takes it. */
export interface ExportFilter {
  project_id?: string | undefined
  status?: ExportStatus | undefined
  operator_id?: string | undefined
  type?: ExportType | undefined
  search?: string | undefined
  from?: string | undefined
  to?: string | undefined
  ended_from?: string | undefined
}

export const PAGE_ROWS = 100

/** Without a project: of all, which only the admin may see. */
export function listExports(
  filter: ExportFilter & { sort?: string | undefined },
  { cursor, signal, limit = PAGE_ROWS }: { cursor: string | null; signal: AbortSignal; limit?: number },
): Promise<ExportPage> {
  const query = new URLSearchParams({ limit: String(limit) })
  for (const [name, value] of Object.entries({ ...filter, cursor })) if (value) query.set(name, value)
  if (cursor === null && limit === PAGE_ROWS) query.set('total', 'true')
  return ask(`/api/exports?${query}`, { signal })
}

/** How many there are. */
export const countExports = (filter: ExportFilter, signal: AbortSignal): Promise<ExportPage> => {
  const query = new URLSearchParams({ limit: '1', total: 'true' })
  for (const [name, value] of Object.entries(filter)) if (value) query.set(name, value)
  return ask(`/api/exports?${query}`, { signal })
}

export async function listOperators(
  projectId: string,
  prefix: string,
  signal: AbortSignal,
): Promise<string[]> {
  const query = prefix && `?${new URLSearchParams({ prefix })}`
  const path = `/api/projects/${encodeURIComponent(projectId)}/operators${query}`
  return (await ask<{ items: string[] }>(path, { signal })).items
}

export type BulkAction = ExportBulkRequest['action']

/** A hundred at most per request; with a filter, `next_cursor` leads on. */
export const changeExports = (body: ExportBulkRequest, signal: AbortSignal): Promise<ExportBulkAnswer> =>
  ask('/api/exports/bulk', { method: 'POST', body, signal })

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

export type ShownRequest = Omit<AskedFor, 'request' | 'written'> & {
  request: Record<string, unknown>
  /** With words in place of dates; null: there were none, or an older version has made it. */
  written: Record<string, unknown> | null
  text: string
}

/** For the same days, or with its words for dates filled in anew. */
export type AgainDates = 'same' | 'today'

export async function runAgain(taskId: string, dates: AgainDates, attempt: string): Promise<ExportTask> {
  const task = await ask<ExportTask>(`${pathOf(taskId)}/run-again?dates=${dates}`, {
    method: 'POST',
    attempt,
  })
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
