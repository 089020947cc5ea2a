import {
  AppError,
  type Backoff,
  type Clock,
  counted,
  DEFAULT_BACKOFF,
  ERRORS,
  type ErrorKind,
  isRetryableAppError,
  type Log,
  ownOutageOf,
  withRetry,
} from '../../../kernel/index.ts'
import { pageError } from '../pages/index.ts'

/** A page is retried at most five times, after growing pauses. */
export const PAGE_RETRY = { retries: 5, backoff: DEFAULT_BACKOFF, maxRetryAfterMs: 300_000 }

export interface RetryOptions {
  /** Tries after the first one. */
  retries: number
  backoff: Backoff
  maxRetryAfterMs: number
  /** Called when a page failed and will be asked for again. */
  onTrouble?(trouble: Trouble): void
}

/** Why a page is asked for again, and when. Times are the clock's. */
export interface Trouble {
  code: string
  message: string
  since: number
  /** Null while it is being asked for again. */
  nextTryAt: number | null
}

/**
 * What is wrong in the page itself. In the first answer and the first page, that is how the source is: asking again would
 * not change it. A later page may be a stumble of a source that has shown that it can answer, so it is asked for again;
 * after all tries it is what the source has to say, and another attempt would hear the same.
 */
const CONTENT: readonly ErrorKind[] = [
  ERRORS.SOURCE_NOT_JSON,
  ERRORS.SOURCE_SHAPE,
  ERRORS.SOURCE_SHORT_PAGE,
  ERRORS.SOURCE_LONG_PAGE,
]

/** Fetches a page as often as it is worth it. At the end, the error says which page it is and how often it was tried. */
export async function retryPage<T>(
  { clock, log }: { clock: Clock; log?: Log | undefined },
  { retries, backoff, maxRetryAfterMs, onTrouble }: RetryOptions,
  { page, signal }: { page: number; signal: AbortSignal },
  attempt: () => Promise<T>,
): Promise<T> {
  let trouble: Trouble | undefined
  const once = async (tried: number) => {
    if (trouble) onTrouble?.({ ...trouble, nextTryAt: null })
    try {
      return await attempt()
    } catch (error) {
      const failure = pageError(error, page)
      if (!failure.retryable || ownOutageOf(failure)) throw failure
      if (page === 0 && CONTENT.includes(failure.kind)) throw final(failure)
      throw tried > retries ? exhausted(failure, tried) : failure
    }
  }
  return withRetry(once, {
    ...{ attempts: retries + 1, clock, signal, backoff, maxRetryAfterMs },
    isRetryable: (error) => isRetryableAppError(error) && !ownOutageOf(error),
    onRetry({ attempt: tried, error, waitMs: wait }) {
      const { code, message } = error as AppError
      log?.warn({ page, tried, wait, code }, `${message}, will try again`)
      const now = clock.now()
      trouble = { code, message, since: trouble?.since ?? now, nextTryAt: now + wait }
      onTrouble?.(trouble)
    },
  })
}

function exhausted(failure: AppError, tried: number): AppError {
  if (tried === 1) return failure
  const { kind, details, retryAfter } = failure
  return new AppError(kind, `${failure.message} (asked ${counted(tried, 'time')} in this attempt)`, {
    cause: failure,
    details,
    retryable: !CONTENT.includes(kind),
    ...(retryAfter !== undefined && { retryAfter }),
  })
}

function final(failure: AppError): AppError {
  const { kind, message, details } = failure
  return new AppError(kind, message, { cause: failure, details, retryable: false })
}
