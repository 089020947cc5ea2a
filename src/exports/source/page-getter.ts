import { AppError, type Clock, ERRORS } from '../../kernel/index.ts'
import { parseRetryAfter } from '../../net/index.ts'
import { withDeadline } from './deadline.ts'
import { isWorthRetrying } from './envelope.ts'
import { discard, type PageBody } from './page-body.ts'
import type { PageAnswer, PageSource } from './page-source.ts'

export interface PageGetterOptions {
  /** A page larger than this ends the fetch. */
  maxPageBytes: number
  /** One try that takes longer than this has failed. */
  pageTimeoutMs: number
  /** A source that asks for more patience than this gets this much. */
  maxRetryAfterMs: number
}

/**
 * One try at one page, up to its bytes. All fetchers of a job share one getter, so that a source which tells one of them
 * to wait is left in peace by all.
 */
export class PageGetter {
  readonly #deps: { source: PageSource; clock: Clock }
  readonly #options: PageGetterOptions
  #notBefore = 0

  constructor(deps: { source: PageSource; clock: Clock }, options: PageGetterOptions) {
    this.#deps = deps
    this.#options = options
  }

  async get(page: number, pageSize: number, body: PageBody, signal: AbortSignal): Promise<void> {
    const { source, clock } = this.#deps
    const { pageTimeoutMs, maxPageBytes } = this.#options
    for (let wait = this.#notBefore - clock.now(); wait > 0; wait = this.#notBefore - clock.now())
      await clock.sleep(wait, signal)
    const late = () =>
      new AppError(ERRORS.SOURCE_UNREACHABLE, `page ${page} took longer than ${pageTimeoutMs / 1000} seconds`)
    await withDeadline(clock, { ms: pageTimeoutMs, signal, late }, async (inner) => {
      const answer = await source.get(page, pageSize, inner)
      if (inner.aborted) {
        // Given up on meanwhile: the body may already belong to the next try.
        await discard(answer.body)
        throw inner.reason
      }
      if (answer.status < 200 || answer.status > 299) {
        await discard(answer.body)
        throw this.#refused(page, answer)
      }
      await body.fill(answer.body, page, maxPageBytes, inner)
    })
  }

  #refused(page: number, { status, headers }: PageAnswer): AppError {
    const now = this.#deps.clock.now()
    const seconds = parseRetryAfter(headers['retry-after'], now)
    const wait = seconds === undefined ? undefined : Math.min(seconds * 1_000, this.#options.maxRetryAfterMs)
    if (wait !== undefined && (status === 429 || status === 503))
      this.#notBefore = Math.max(this.#notBefore, now + wait)
    return new AppError(ERRORS.SOURCE_STATUS, `page ${page} was answered with status ${status}`, {
      retryable: isWorthRetrying(status),
      details: { page, status },
      ...(wait === undefined ? {} : { retryAfter: wait / 1000 }),
    })
  }
}
