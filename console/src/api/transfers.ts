import { ask } from './client.ts'
import { Problem, problemOf } from './problem.ts'
import { session } from './session.ts'

export type TransferStatus = 'Pending' | 'Running' | 'Success' | 'Failed' | 'Timeout'

interface FileFields {
  job_id: string
  project_id: string
  biz_id: number
  app_id: number
  file_path: string
  file_name: string
  file_signature: string
  status: TransferStatus
  created_at: string
  window_ends_at: string
  executed_at: string | null
  finished_at: string | null
  file_size: number | null
  delivered_bytes: number
  egress_bytes: number | null
}

export interface TargetCounts {
  total: number
  success: number
  failed: number
  downloading: number
  timeout: number
}

export interface TransferItem extends FileFields {
  targets: TargetCounts
  window_starts_at: string
}

export interface TransferPage {
  items: TransferItem[]
  next_cursor: string | null
}

export interface TargetState {
  error_code: number
  error_msg: string
  progress: number
}

export interface TransferJob extends FileFields {
  targets: number
  success_targets: Record<string, TargetState>
  failed_targets: Record<string, TargetState>
  downloading_targets: Record<string, TargetState>
  timeout_targets: Record<string, TargetState>
}

export interface ConnectedAgent {
  agent_id: string
  container_id: string
  version: string
  host: string
  connected_at: string
}

export interface RepositoryFile {
  path: string
  size: number
  signature: string
  put_at: string
}

export interface Delivery {
  biz_id: number
  app_id: number
  file_path: string
  file_name: string
  file_signature: string
  target_agent_id: string
  target_container_id: string
  target_user: string
  target_file_dir: string
}

export function listTransfers(
  filter: { status?: TransferStatus | undefined; limit?: number },
  { cursor, signal }: { cursor?: string | null; signal: AbortSignal },
): Promise<TransferPage> {
  const query = new URLSearchParams({ limit: String(filter.limit ?? 25) })
  if (filter.status) query.set('status', filter.status)
  if (cursor) query.set('cursor', cursor)
  return ask(`/api/transfer-jobs?${query}`, { signal })
}

const jobPath = (jobId: string) => `/api/transfer-jobs/${encodeURIComponent(jobId)}`

export const getTransferJob = (jobId: string, signal: AbortSignal): Promise<TransferJob> =>
  ask(jobPath(jobId), { signal })

export const cancelTransferJob = (jobId: string): Promise<TransferJob> =>
  ask(jobPath(jobId), { method: 'DELETE' })

export const listAgents = (signal: AbortSignal): Promise<ConnectedAgent[]> => ask('/api/agents', { signal })

export const listFiles = (prefix: string, signal: AbortSignal): Promise<{ items: RepositoryFile[] }> =>
  ask(`/api/repository?${new URLSearchParams({ prefix, limit: '100' })}`, { signal })

export const askForDelivery = (delivery: Delivery): Promise<{ task_id: string; job_id: string }> =>
  ask('/api/transfers', { method: 'POST', body: delivery })

/** With a request of the old kind: only that one tells how far an upload is. */
export function putFile(
  path: string,
  file: File,
  { onProgress, signal }: { onProgress(fraction: number): void; signal: AbortSignal },
): Promise<RepositoryFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', `/api/repository/${path.split('/').map(encodeURIComponent).join('/')}`)
    request.setRequestHeader('authorization', `Bearer ${session.get()?.token ?? ''}`)
    request.setRequestHeader('content-type', 'application/octet-stream')
    request.upload.onprogress = ({ loaded, total }) => onProgress(total === 0 ? 1 : loaded / total)
    request.onerror = () => reject(new Problem('OFFLINE', 0, 'offline'))
    request.onabort = () => reject(signal.reason)
    request.onload = () => {
      if (request.status === 200) return resolve(JSON.parse(request.responseText) as RepositoryFile)
      const { status, statusText } = request
      problemOf(new Response(request.responseText, { status, statusText })).then(reject, reject)
    }
    signal.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })
}
