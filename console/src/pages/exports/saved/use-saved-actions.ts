import { useQueryClient } from '@tanstack/react-query'
import { useLocation } from 'wouter'
import { deleteSaved, runSaved, type SavedParameters } from '../../../api/saved.ts'
import { addressOf } from '../../../live/page-address.ts'
import { useMadeOnce, useOnce } from '../../../live/use-once.ts'
import { useToasts } from '../../../parts/dialog/toasts.tsx'

export function useSavedActions(projectId: string, name: string) {
  const toasts = useToasts()
  const client = useQueryClient()
  const [, go] = useLocation()
  const make = useMadeOnce((parameters: SavedParameters, attempt) =>
    runSaved(projectId, name, { parameters, attempt }),
  )
  const run = useOnce({
    mutationFn: make,
    onSuccess: ({ task_id }) => go(addressOf('/exports', task_id)),
    onError: toasts.problem,
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
