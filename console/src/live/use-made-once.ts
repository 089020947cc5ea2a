import { useRef } from 'react'
import { Problem } from '../api/problem.ts'
import { randomKey } from './random-key.ts'

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
