import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'

/**
 * A mutation that a second click does not repeat. A wish is under way until `onSuccess` is through, and so until what it reads
 * again has come: before that the page still offers what was done already, and the server would refuse it.
 */
export function useOnce<T, A = void>(options: UseMutationOptions<T, Error, A>) {
  const mutation = useMutation(options)
  const { mutateAsync } = mutation
  const underWay = useRef(new Set<string>())
  const mutate = useCallback(
    (asked: A) => {
      const wish = JSON.stringify(asked) ?? ''
      if (underWay.current.has(wish)) return
      underWay.current.add(wish)
      // What goes wrong is for `onError`, or is shown from `error`.
      void mutateAsync(asked)
        .catch(() => undefined)
        .finally(() => underWay.current.delete(wish))
    },
    [mutateAsync],
  )
  return { ...mutation, mutate }
}
