import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { Problem } from '../api/problem.ts'

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

/**
 * For what makes something: a wish that is sent again because no answer came has the same `attempt`, so the server makes it once. Once
 * its end is known, the same again is another wish.
 */
export function useMadeOnce<T, A>(make: (asked: A, attempt: string) => Promise<T>): (asked: A) => Promise<T> {
  const open = useRef(new Map<string, string>())
  return async (asked) => {
    const wish = JSON.stringify(asked) ?? ''
    const attempt = open.current.get(wish) ?? randomKey()
    open.current.set(wish, attempt)
    try {
      const made = await make(asked, attempt)
      open.current.delete(wish)
      return made
    } catch (error) {
      if (isRefused(error)) open.current.delete(wish)
      throw error
    }
  }
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code === 'IDEMPOTENCY_IN_FLIGHT') return false
  return error.status >= 400 && error.status < 500
}

/** 128 random bits as text; `randomUUID` is missing where a page has no TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
