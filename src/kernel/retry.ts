import type { Clock } from './clock.ts'
import { AppError } from './errors.ts'

export interface Backoff {
  /** First wait in milliseconds. */
  readonly base: number
  /** Each further wait is this many times the one before. */
  readonly factor: number
  readonly max: number
  /** Part of the wait that is random, 0 to 1: it keeps many waiters from coming back at the same moment. */
  readonly jitter: number
}

export const DEFAULT_BACKOFF: Backoff = { base: 1_000, factor: 2, max: 60_000, jitter: 0.2 }

/** How long to wait before try number `attempt + 1`, with `attempt` counted from 1. */
export function backoffDelay(
  attempt: number,
  backoff: Backoff = DEFAULT_BACKOFF,
  random = Math.random,
): number {
  const grown = Math.min(backoff.max, backoff.base * backoff.factor ** Math.max(0, attempt - 1))
  return Math.round(grown * (1 - backoff.jitter + 2 * backoff.jitter * random()))
}

export interface RetryOptions {
  /** How often to try in all; without it there is no limit. */
  attempts?: number
  clock: Clock
  signal: AbortSignal
  backoff?: Backoff
  /** Longest wait that a `retryAfter` may ask for. */
  maxRetryAfterMs?: number
  /**
   * Which errors are worth another try: by default retryable AppErrors. Any other thrown value is a mistake in the program
   * or an abort, which a second try does not cure.
   */
  isRetryable?(error: unknown): boolean
  onRetry?(retry: { attempt: number; error: unknown; waitMs: number }): void
}

/** The one loop that tries again: at growing intervals, and never sooner than the other side asks for. */
export async function withRetry<T>(
  attempt: (number: number) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { attempts = Number.POSITIVE_INFINITY, clock, signal, maxRetryAfterMs = 300_000 } = options
  const isRetryable = options.isRetryable ?? isRetryableAppError
  for (let number = 1; ; number++) {
    signal.throwIfAborted()
    try {
      return await attempt(number)
    } catch (error) {
      signal.throwIfAborted()
      if (number >= attempts || !isRetryable(error)) throw error
      const asked = error instanceof AppError ? (error.retryAfter ?? 0) * 1_000 : 0
      const waitMs = Math.max(Math.min(asked, maxRetryAfterMs), backoffDelay(number, options.backoff))
      options.onRetry?.({ attempt: number, error, waitMs })
      await clock.sleep(waitMs, signal)
    }
  }
}

export function isRetryableAppError(error: unknown): error is AppError {
  return error instanceof AppError && error.retryable
}
