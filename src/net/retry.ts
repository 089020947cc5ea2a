import { AppError, type Backoff, backoffDelay, type Clock, DEFAULT_BACKOFF } from '../kernel/index.ts'

export interface RetryOptions {
  /** How often to try in all. */
  attempts: number
  clock: Clock
  signal: AbortSignal
  backoff?: Backoff
  /** Longest wait that a `retryAfter` may ask for. */
  maxRetryAfterMs?: number
  /** What is not tried again here although it is retryable. */
  giveUpOn?(error: AppError): boolean
  onRetry?(retry: { attempt: number; error: AppError; waitMs: number }): void
}

/**
 * Tries again what failed with a retryable AppError, at growing intervals and never sooner than the other side asked for.
 * Any other thrown value is a mistake in the program or an abort, which a second try does not cure.
 */
export async function withRetry<T>(
  attempt: (number: number, signal: AbortSignal) => Promise<T>,
  options: RetryOptions,
): Promise<T> {
  const { attempts, clock, signal, backoff = DEFAULT_BACKOFF, maxRetryAfterMs = 300_000 } = options
  for (let number = 1; ; number++) {
    signal.throwIfAborted()
    try {
      return await attempt(number, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!(error instanceof AppError) || !error.retryable || number >= attempts) throw error
      if (options.giveUpOn?.(error)) throw error
      const asked = Math.min(maxRetryAfterMs, (error.retryAfter ?? 0) * 1000)
      const waitMs = Math.max(asked, backoffDelay(number, backoff))
      options.onRetry?.({ attempt: number, error, waitMs })
      await clock.sleep(waitMs, signal)
    }
  }
}
