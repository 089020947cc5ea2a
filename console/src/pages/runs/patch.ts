import type { QueryClient } from '@tanstack/react-query'
import type { LiveEvent } from '../../api/events.ts'
import type { Account, AccountState, RunProgress, RunsState } from '../../api/runs.ts'
import type { Patch } from '../../live/patch.ts'

export const RUNS_KEY = ['runs'] as const
/** The page of one account: its handle comes next, then what is listed of it. */
export const ACCOUNT_KEY = ['account'] as const

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
    let isOver = false
    patchAccount(client, handle, (account) => {
      if (account.run_id !== run_id || !progress) return account
      // A word of progress may come after the read that has the end; or the files of the run were deleted since.
      isOver = account.state !== 'Running'
      return isOver ? account : { ...account, progress }
    })
    if (isOver) {
      refresher.refresh(RUNS_KEY)
      refresher.refresh([...ACCOUNT_KEY, handle])
    }
    return
  }
  if (type === 'run_state_changed' && handle !== undefined) {
    patchAccount(client, handle, (account) => changed(account, event))
    refresher.refresh(RUNS_KEY)
    refresher.refresh([...ACCOUNT_KEY, handle])
  }
  if (type === 'run_log' && handle !== undefined)
    for (const list of ['log', 'failed']) refresher.refresh([...ACCOUNT_KEY, handle, list])
  if (!OTHERS.includes(type)) return
  refresher.refresh(RUNS_KEY)
  if (handle !== undefined) refresher.refresh([...ACCOUNT_KEY, handle])
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
  client.setQueryData<Account>([...ACCOUNT_KEY, handle], (account) => account && change(account))
  client.setQueryData<RunsState>(RUNS_KEY, (state) => {
    if (!state?.accounts.some((account) => account.handle === handle)) return state
    const accounts = state.accounts.map((account) => (account.handle === handle ? change(account) : account))
    return { ...state, accounts }
  })
}
