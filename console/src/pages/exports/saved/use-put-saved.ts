import { useQueryClient } from '@tanstack/react-query'
import { putSaved } from '../../../api/saved.ts'
import { useOnce } from '../../../live/use-once.ts'

interface Wish {
  name: string
  json: string
  /** The version that was changed; null: a new one. */
  since: string | null
  /** Whatever was saved meanwhile. */
  anyway: boolean
}

/** Saves an export, unless another tab or person has saved it meanwhile: `changed` says so then, and nothing is saved. */
export function usePutSaved(projectId: string, onSaved: (name: string) => void) {
  const client = useQueryClient()
  const put = useOnce({
    mutationFn: ({ name, json, since, anyway }: Wish) =>
      putSaved(projectId, name, { json, ...(!anyway && { since }) }),
    onSuccess: async ({ changed }, { name }) => {
      if (changed !== null) return
      await client.invalidateQueries({ queryKey: ['saved', projectId] })
      onSaved(name)
    },
  })
  return { put, changed: put.data?.changed ?? null }
}
