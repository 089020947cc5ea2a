import type {
  AcceptedRun,
  Account,
  AccountFilePage,
  FailedFilePage,
  Run,
  RunBulkAnswer,
  RunBulkRequest,
  RunKind,
  RunLogPage,
  RunPage,
  RunsState,
} from '../../../src/http/wire.ts'
import { ask } from './client.ts'

export type { AcceptedRun, Account, Run, RunBulkRequest, RunKind, RunsState }
export type AccountFile = AccountFilePage['items'][number]
export type FailedFile = FailedFilePage['items'][number]
export type AccountState = Account['state']
export type AccountParams = Account['params']
export type RunProgress = Account['progress']

const accountPath = (handle: string) => `/api/accounts/${encodeURIComponent(handle)}`

export const getState = (signal: AbortSignal): Promise<RunsState> => ask('/api/state', { signal })

export interface ListPage {
  cursor: string | null
  signal: AbortSignal
}

const listed = (path: string, limit: number, { cursor, signal }: ListPage) =>
  ask(`${path}?${new URLSearchParams({ limit: String(limit), ...(cursor && { cursor }) })}`, { signal })

export const getAccount = (handle: string, signal: AbortSignal): Promise<Account> =>
  ask(accountPath(handle), { signal })

export const listRuns = (handle: string, page: ListPage) =>
  listed(`${accountPath(handle)}/runs`, 10, page) as Promise<RunPage>

export const listAccountFiles = (handle: string, page: ListPage) =>
  listed(`${accountPath(handle)}/files`, 25, page) as Promise<AccountFilePage>

export const listFailedFiles = (handle: string, page: ListPage) =>
  listed(`${accountPath(handle)}/failed-files`, 25, page) as Promise<FailedFilePage>

export const listRunLog = (runId: string, page: ListPage) =>
  listed(`/api/runs/${encodeURIComponent(runId)}/log`, 50, page) as Promise<RunLogPage>

/** The session's cookie goes with it: a browser can fetch it by itself. */
export const fileAddress = (handle: string, itemId: string): string =>
  `${accountPath(handle)}/files/${encodeURIComponent(itemId)}`

export const putAccount = (handle: string, url: string, params: AccountParams): Promise<unknown> =>
  ask(accountPath(handle), { method: 'PUT', body: { url, params } })

export const deleteAccount = (handle: string): Promise<null> => ask(accountPath(handle), { method: 'DELETE' })

export const startRun = (body: { handle: string; kind: RunKind }, attempt: string): Promise<AcceptedRun> =>
  ask('/api/runs', { method: 'POST', body, attempt })

export const cancelRun = (runId: string, files: 'keep' | 'delete'): Promise<AcceptedRun> =>
  ask(`/api/runs/${encodeURIComponent(runId)}/cancel`, { method: 'POST', body: { files } })

export const setMaxConcurrent = (value: number): Promise<unknown> =>
  ask('/api/settings/max_concurrent', { method: 'PUT', body: { value } })

/** A hundred accounts at most per request. */
export const changeRuns = (body: RunBulkRequest, signal: AbortSignal): Promise<RunBulkAnswer> =>
  ask('/api/runs/bulk', { method: 'POST', body, signal })
