import { useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import {
  type AcceptedRun,
  type Account,
  type AccountParams,
  cancelRun,
  putAccount,
  type RunKind,
  startRun,
} from '../../api/runs.ts'
import { useMadeOnce, useOnce } from '../../live/use-once.ts'
import { useToasts } from '../../parts/dialog/toasts.tsx'
import { ACCOUNT_KEY, patchAccount, RUNS_KEY } from './patch.ts'

/** What can be done with an account. An accepted run locks its row at once; events bring the rest. */
export function useRunActions({ handle, url, run_id }: Account) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const { success, problem: onError } = useToasts()
  const readAgain = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: RUNS_KEY }),
      client.invalidateQueries({ queryKey: [...ACCOUNT_KEY, handle] }),
    ])
  const makeRun = useMadeOnce(startRun)
  const start = useOnce({
    mutationFn: (kind: RunKind) => makeRun({ handle, kind }),
    onSuccess: ({ run_id, state }: AcceptedRun) => {
      patchAccount(client, handle, (account) => ({ ...account, run_id, state, locked: true, error: null }))
      return readAgain()
    },
    onError: (error) => {
      onError(error)
      // Somebody else was faster: show what is.
      void readAgain()
    },
  })
  const cancel = useOnce({
    mutationFn: (files: 'keep' | 'delete') => cancelRun(run_id ?? '', files),
    onSuccess: readAgain,
    onError,
  })
  const paste = useOnce({
    mutationFn: (params: AccountParams) => putAccount(handle, url, params),
    onSuccess: () => {
      success(t('runs.pasted', { handle }))
      return readAgain()
    },
    onError,
  })
  return { start, cancel, paste }
}
