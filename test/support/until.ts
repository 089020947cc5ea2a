import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

/** For every wait of every test; `testTimeout` is longer, so that a wait in vain is told here and not there. */
export const LIMIT_MS = 240_000

/** For work of the product that tries until it is told to stop. */
export const limitSignal = (): AbortSignal => AbortSignal.timeout(LIMIT_MS)

type Truthy<T> = Exclude<T, false | undefined | null | 0 | ''>

/**
 * Resolves with the first answer of `read` that is the one waited for: a truthy one, or one for which `is` holds.
 * An assertion that fails inside `read` counts as "not yet". The limit only turns a hang into a message that says what
 * was seen last; no promise of the product is measured with it.
 */
export function until<T>(what: string, read: () => T | Promise<T>): Promise<Truthy<T>>
export function until<T, S extends T>(
  what: string,
  read: () => T | Promise<T>,
  is: (seen: T) => seen is S,
): Promise<S>
export function until<T>(what: string, read: () => T | Promise<T>, is: (seen: T) => unknown): Promise<T>
export async function until<T>(
  what: string,
  read: () => T | Promise<T>,
  is: (seen: T) => unknown = Boolean,
): Promise<T> {
  const began = performance.now()
  for (;;) {
    let last: unknown
    try {
      const seen = await read()
      if (is(seen)) return seen
      last = seen
    } catch (error) {
      if (!(error instanceof Error && error.name === 'AssertionError')) throw error
      last = error.message
    }
    const waited = performance.now() - began
    if (waited > LIMIT_MS)
      throw new Error(`waited in vain until ${what}; seen last: ${inspect(last, { depth: 6 })}`)
    // Who has waited for long looks less often: many a read costs more than what is waited for.
    await delay(Math.min(5 + waited / 40, 30))
  }
}
