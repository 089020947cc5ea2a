import { AppError, type Clock, counted, ERRORS, traced, withDeadline } from '../../../kernel/index.ts'
import { parseRetryAfter } from '../../../net/index.ts'
import { discard, isWorthRetrying, type PageAnswer, type PageBody, type PageSource } from '../pages/index.ts'
import { inUtf8, pageNotJson } from './decode-charset.ts'
import { ownWords } from './own-words.ts'

export interface PageGetterOptions {
  /** A page larger than this ends the fetch. */
  maxPageBytes: number
  /** One try that takes longer than this has failed. */
  pageTimeoutMs: number
  /** A source that asks for more patience than this gets this much. */
  maxRetryAfterMs: number
  /** A page that has begun to come, and then comes slower than this, has failed. */
  minBytesPerSecond?: number
  /** Hears of bytes as they come. */
  onBytes?(bytes: number): void
}

/** The pace is judged over this long. */
const PACE_MS = 30_000
export const MIN_BYTES_PER_SECOND = 1_024

/**
 * One try at one page, up to its bytes. All fetchers of a job share one getter, so that a source which asks one of them
 * to wait is left in peace by all.
 */
export class PageGetter {
  readonly #deps: { source: PageSource; clock: Clock }
  readonly #options: PageGetterOptions
  #notBefore = 0
  #bytes = 0

  constructor(deps: { source: PageSource; clock: Clock }, options: PageGetterOptions) {
    this.#deps = deps
    this.#options = options
  }

  /** Of all pages, also of those that failed. */
  get bytes(): number {
    return this.#bytes
  }

  get(page: number, pageSize: number, body: PageBody, signal: AbortSignal): Promise<void> {
    const attributes = { 'wharf.page': page, 'wharf.page_size': pageSize }
    return traced('page', { attributes }, () => this.#get(page, pageSize, body, signal))
  }

  async #get(page: number, pageSize: number, body: PageBody, signal: AbortSignal): Promise<void> {
    const { source, clock } = this.#deps
    const { pageTimeoutMs, maxPageBytes } = this.#options
    for (let wait = this.#notBefore - clock.now(); wait > 0; wait = this.#notBefore - clock.now())
      await clock.sleep(wait, signal)
    const late = () =>
      new AppError(
        ERRORS.SOURCE_UNREACHABLE,
        `page ${page} took longer than ${counted(pageTimeoutMs / 1000, 'second')}`,
      )
    const pace = new Pace(page, this.#options.minBytesPerSecond ?? MIN_BYTES_PER_SECOND)
    await withDeadline(clock, { ms: pageTimeoutMs, signal, late }, async (inner) => {
      // Ends an answer whose reason is not worth waiting for.
      const enough = new AbortController()
      const answer = await source.get(page, pageSize, AbortSignal.any([inner, enough.signal]))
      if (inner.aborted) {
        // Given up on meanwhile: the body may already belong to the next try.
        await discard(answer.body)
        throw inner.reason
      }
      if (answer.status < 200 || answer.status > 299) {
        const said = await ownWords(answer, { clock, signal: inner })
        enough.abort()
        await discard(answer.body)
        throw this.#refused(page, answer, said)
      }
      const arrived = (bytes: number) => {
        this.#bytes += bytes
        this.#options.onBytes?.(bytes)
        pace.arrived(bytes, clock.now())
      }
      await body.fill(await this.#text(page, answer), { page, limit: maxPageBytes, signal: inner, arrived })
    })
  }

  async #text(page: number, answer: PageAnswer): Promise<PageAnswer['body']> {
    try {
      return inUtf8(answer, pageNotJson(page))
    } catch (error) {
      await discard(answer.body)
      throw error
    }
  }

  #refused(page: number, { status, headers }: PageAnswer, said: string): AppError {
    const now = this.#deps.clock.now()
    const seconds = parseRetryAfter(headers['retry-after'], now)
    const wait = seconds === undefined ? undefined : Math.min(seconds * 1_000, this.#options.maxRetryAfterMs)
    if (wait !== undefined && (status === 429 || status === 503))
      this.#notBefore = Math.max(this.#notBefore, now + wait)
    return new AppError(ERRORS.SOURCE_STATUS, `page ${page} was answered with status ${status}${said}`, {
      retryable: isWorthRetrying(status),
      details: { page, status },
      ...(wait === undefined ? {} : { retryAfter: wait / 1000 }),
    })
  }
}

/** How fast a page comes once it has begun to: until then the source may be looking for it. */
class Pace {
  readonly #page: number
  readonly #minBytesPerSecond: number
  #since: number | undefined
  #bytes = 0

  constructor(page: number, minBytesPerSecond: number) {
    this.#page = page
    this.#minBytesPerSecond = minBytesPerSecond
  }

  /** Throws if the page drips. One that stops altogether ends with the time for a page. */
  arrived(bytes: number, now: number): void {
    this.#since ??= now
    this.#bytes += bytes
    const ms = now - this.#since
    if (ms < PACE_MS) return
    if (this.#bytes < (this.#minBytesPerSecond * ms) / 1_000)
      throw new AppError(
        ERRORS.SOURCE_TOO_SLOW,
        `page ${this.#page} came with fewer than ${counted(this.#minBytesPerSecond, 'byte')} per second`,
      )
    this.#since = now
    this.#bytes = 0
  }
}
