import { ask } from './client.ts'

export type AccountState = 'Idle' | 'Queued' | 'Running' | 'Done' | 'Failed' | 'Cancelled'

export interface AccountParams {
  types?: string[]
  min_size?: number
  max_size?: number
  since?: string
  until?: string
  limit?: number
}

export interface RunProgress {
  downloaded: number
  skipped: number
  filtered: number
  failed: number
  bytes: number
  rate: number
  page: number
  cursor: string | null
}

export interface Account {
  handle: string
  url: string
  params: AccountParams
  state: AccountState
  locked: boolean
  run_id: string | null
  progress: RunProgress
  error: { code: string; message: string } | null
  updated_at: string
}

export interface RunsState {
  seq: number
  max_concurrent: number
  queue: string[]
  accounts: Account[]
}

export interface AcceptedRun {
  run_id: string
  handle: string
  state: AccountState
}

const accountPath = (handle: string) => `/api/accounts/${encodeURIComponent(handle)}`

export const getState = (signal: AbortSignal): Promise<RunsState> => ask('/api/state', { signal })

export const putAccount = (handle: string, url: string, params: AccountParams): Promise<unknown> =>
  ask(accountPath(handle), { method: 'PUT', body: { url, params } })

export const deleteAccount = (handle: string): Promise<null> => ask(accountPath(handle), { method: 'DELETE' })

export const startRun = (handle: string, kind: 'start' | 'continue'): Promise<AcceptedRun> =>
  ask('/api/runs', { method: 'POST', body: { handle, kind } })

export const cancelRun = (runId: string, files: 'keep' | 'delete'): Promise<AcceptedRun> =>
  ask(`/api/runs/${encodeURIComponent(runId)}/cancel`, { method: 'POST', body: { files } })

export const setMaxConcurrent = (value: number): Promise<unknown> =>
  ask('/api/settings/max_concurrent', { method: 'PUT', body: { value } })
