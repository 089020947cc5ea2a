import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useToasts } from '../../parts/toasts.tsx'

/**
 * Something that is done on the server, after which `key` is read again. What goes wrong is said in words. Two clicks, before the
 * button shows that it is busy, are one request: two keys would be made, and the secret of one of them never shown.
 */
export function useDeed<T, A>(
  key: QueryKey,
  work: (asked: A) => Promise<T>,
  { said, onDone }: { said?: string; onDone?: (answer: T, asked: A) => void } = {},
) {
  const client = useQueryClient()
  const toasts = useToasts()
  const underWay = useRef(new Map<string, Promise<T>>())
  return useMutation({
    mutationFn: (asked: A) => {
      const wish = JSON.stringify(asked) ?? ''
      const answer = underWay.current.get(wish) ?? work(asked).finally(() => underWay.current.delete(wish))
      underWay.current.set(wish, answer)
      return answer
    },
    onSuccess: async (answer, asked) => {
      if (said) toasts.success(said)
      onDone?.(answer, asked)
      await client.invalidateQueries({ queryKey: key })
    },
    onError: toasts.problem,
  })
}
