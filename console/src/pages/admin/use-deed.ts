import { type QueryKey, useQueryClient } from '@tanstack/react-query'
import { useOnce } from '../../live/use-once.ts'
import { useToasts } from '../../parts/dialog/toasts.tsx'

/** Something that is done on the server, after which `key` is read again. What goes wrong is said in words. */
export function useDeed<T, A>(
  key: QueryKey,
  work: (asked: A) => Promise<T>,
  { said, onDone }: { said?: string; onDone?: (answer: T, asked: A) => void } = {},
) {
  const client = useQueryClient()
  const toasts = useToasts()
  return useOnce({
    mutationFn: work,
    onSuccess: async (answer: T, asked: A) => {
      if (said) toasts.success(said)
      onDone?.(answer, asked)
      await client.invalidateQueries({ queryKey: key })
    },
    onError: toasts.problem,
  })
}
