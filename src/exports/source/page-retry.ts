import { AppError, type Backoff, backoffDelay, type Clock, type Log } from '../../kernel/index.ts'
import { pageError } from './page-error.ts'

export interface RetryOptions {
  /** Tries after the first one. */
  retries: number
  backoff: Backoff
  maxRetryAfterMs: number
}

/** Tries until it works, the error is not worth another try, or the tries are used up. */
export async function retryPage<T>(
  { clock, log }: { clock: Clock; log?: Log | undefined },
  { retries, backoff, maxRetryAfterMs }: RetryOptions,
  { page, signal }: { page: number; signal: AbortSignal },
  attempt: () => Promise<T>,
): Promise<T> {
  for (let tried = 1; ; tried++) {
    try {
      return await attempt()
    } catch (error) {
      signal.throwIfAborted()
      const failure = pageError(error, page)
      if (!failure.retryable) throw failure
      if (tried > retries) throw exhausted(failure, tried)
      const asked = Math.min((failure.retryAfter ?? 0) * 1_000, maxRetryAfterMs)
      const wait = Math.max(backoffDelay(tried, backoff), asked)
      log?.warn({ page, tried, wait, code: failure.code }, `${failure.message}, will try again`)
      await clock.sleep(wait, signal)
    }
  }
}

function exhausted(failure: AppError, tried: number): AppError {
  return tried === 1
    ? failure
    : new AppError(failure.kind, `${failure.message} (tried ${tried} times)`, {
        cause: failure,
        details: failure.details,
        ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter }),
      })
}
