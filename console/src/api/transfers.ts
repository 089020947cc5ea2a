import type {
  KnownAgent,
  Redelivery,
  RepositoryFile,
  RepositoryPage,
  TransferAccepted,
  TransferItem,
  TransferJob,
  TransferPage,
  TransferRequest,
} from '../../../src/http/wire.ts'
import { ask } from './client.ts'
import { Problem, problemOf } from './problem.ts'
import { ownHeaders } from './session.ts'

export type { RepositoryFile, TransferItem, TransferJob, TransferPage }
export type TransferStatus = TransferItem['status']
export type TargetCounts = TransferItem['targets']
export type Delivery = TransferRequest

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

export const redeliver = (jobId: string, attempt: string): Promise<Redelivery> =>
  ask(`${jobPath(jobId)}/redeliver`, { method: 'POST', attempt })

export type ConnectedAgent = KnownAgent & { connected_at: string }

/** The admin is also told of agents that are enrolled and not connected. */
export async function listAgents(signal: AbortSignal): Promise<ConnectedAgent[]> {
  const known = await ask<KnownAgent[]>('/api/agents', { signal })
  return known.filter((agent): agent is ConnectedAgent => agent.connected)
}

export const listFiles = (prefix: string, signal: AbortSignal): Promise<RepositoryPage> =>
  ask(`/api/repository?${new URLSearchParams({ prefix, limit: '100' })}`, { signal })

export const askForDelivery = (delivery: Delivery, attempt: string): Promise<TransferAccepted> =>
  ask('/api/transfers', { method: 'POST', body: delivery, attempt })

/** With a request of the old kind: only that one tells how far an upload is. */
export function putFile(
  path: string,
  file: File,
  { onProgress, signal }: { onProgress(fraction: number): void; signal: AbortSignal },
): Promise<RepositoryFile> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', `/api/repository/${path.split('/').map(encodeURIComponent).join('/')}`)
    for (const [name, value] of Object.entries(ownHeaders())) request.setRequestHeader(name, value)
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
