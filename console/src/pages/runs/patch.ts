import type { QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../../api/events.ts'
import type { Account, AccountState, RunProgress, RunsState } from '../../api/runs.ts'
import type { Patch } from '../../live/patch.ts'

export const RUNS_KEY = ['runs'] as const

type RunEvent = LiveEvent & {
  run_id?: string
  handle?: string
  account_state?: AccountState
  locked?: boolean
  progress?: RunProgress
  error?: Account['error']
}

const OTHERS = ['account_changed', 'account_deleted', 'max_concurrent_changed']

/** A change of state is shown at once and read again besides: it moves the queue, which events do not tell. */
export const patchRuns: Patch = (event: RunEvent, client, refresher) => {
  const { type, handle } = event
  if (type === 'run_progress' && handle !== undefined) {
    const { run_id, progress } = event
    // A word of progress may come after the read that has the end.
    patchAccount(client, handle, (account) =>
      account.run_id === run_id && account.state === 'Running' && progress
        ? { ...account, progress }
        : account,
    )
    return
  }
  if (type === 'run_state_changed' && handle !== undefined) {
    patchAccount(client, handle, (account) => changed(account, event))
    refresher.refresh(RUNS_KEY)
  }
  if (OTHERS.includes(type)) refresher.refresh(RUNS_KEY)
}

function changed(account: Account, event: RunEvent): Account {
  const { run_id, account_state, locked, progress, error } = event
  return {
    ...account,
    ...(run_id !== undefined && { run_id: account_state === 'Idle' ? null : run_id }),
    ...(account_state && { state: account_state }),
    ...(locked !== undefined && { locked }),
    ...(progress && { progress }),
    ...(error !== undefined && { error }),
  }
}

export function patchAccount(
  client: QueryClient,
  handle: string,
  change: (account: Account) => Account,
): void {
  client.setQueryData<RunsState>(RUNS_KEY, (state) => {
    if (!state?.accounts.some((account) => account.handle === handle)) return state
    const accounts = state.accounts.map((account) => (account.handle === handle ? change(account) : account))
    return { ...state, accounts }
  })
}
