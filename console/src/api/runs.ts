import type { AcceptedRun, Account, RunKind, RunsState } from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { AcceptedRun, Account, RunsState }
export type AccountState = Account['state']
export type AccountParams = Account['params']
export type RunProgress = Account['progress']

const accountPath = (handle: string) => `/api/accounts/${encodeURIComponent(handle)}`

export const getState = (signal: AbortSignal): Promise<RunsState> => ask('/api/state', { signal })

export const putAccount = (handle: string, url: string, params: AccountParams): Promise<unknown> =>
  ask(accountPath(handle), { method: 'PUT', body: { url, params } })

export const deleteAccount = (handle: string): Promise<null> => ask(accountPath(handle), { method: 'DELETE' })

export const startRun = (handle: string, kind: RunKind): Promise<AcceptedRun> =>
  ask('/api/runs', { method: 'POST', body: { handle, kind } })

export const cancelRun = (runId: string, files: 'keep' | 'delete'): Promise<AcceptedRun> =>
  ask(`/api/runs/${encodeURIComponent(runId)}/cancel`, { method: 'POST', body: { files } })

export const setMaxConcurrent = (value: number): Promise<unknown> =>
  ask('/api/settings/max_concurrent', { method: 'PUT', body: { value } })
