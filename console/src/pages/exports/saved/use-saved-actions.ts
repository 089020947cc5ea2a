import { useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useLocation } from 'wouter'
import { deleteSaved, runSaved, type SavedParameters } from '../../../api/saved.ts'
import { addressOf } from '../../../live/page-address.ts'
import { useOnce } from '../../../live/use-once.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'
import { randomKey } from '../../../parts/text/random-key.ts'

export function useSavedActions(projectId: string, name: string) {
  const toasts = useToasts()
  const client = useQueryClient()
  const [, go] = useLocation()
  const attempt = useRef(randomKey())
  const run = useOnce({
    mutationFn: (parameters: SavedParameters) =>
      runSaved(projectId, name, { parameters, attempt: attempt.current }),
    onSuccess: ({ task_id }) => go(addressOf('/exports', task_id)),
    onError: (error) => {
      // Another try may be another wish.
      attempt.current = randomKey()
      toasts.problem(error)
    },
  })
  const remove = useOnce({
    mutationFn: () => deleteSaved(projectId, name),
    onSuccess: async () => {
      go('/saved/exports')
      client.removeQueries({ queryKey: ['saved', projectId, name] })
      await client.invalidateQueries({ queryKey: ['saved', projectId], exact: true })
    },
    onError: toasts.problem,
  })
  return { run, remove }
}
