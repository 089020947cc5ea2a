import {
  AppError,
  type Backoff,
  type Clock,
  ERRORS,
  isAppError,
  messageOf,
  withRetry,
} from '../../kernel/index.ts'
import { expectOk, type HttpClient, readAll } from '../../net/index.ts'
import { BarrenWatch } from './barren-watch.ts'
import { type FeedPage, readFeedPage } from './feed-page.ts'

export interface FeedReaderOptions {
  attempts?: number
  backoff?: Backoff
  maxPageBytes?: number
}

export interface NumberedPage extends FeedPage {
  /** Counted from 1 over the whole run. */
  number: number
  /** What the page was asked for with. */
  cursor: string | null
}

const BACKOFF: Backoff = { base: 500, factor: 2, max: 15_000, jitter: 0.2 }

/** Reads a feed page by page. A page that keeps failing ends the reading with FEED_FAILED. */
export class FeedReader {
  readonly #deps: { net: HttpClient; clock: Clock }
  readonly #options: Required<FeedReaderOptions>

  constructor(deps: { net: HttpClient; clock: Clock }, options: FeedReaderOptions = {}) {
    this.#deps = deps
    this.#options = { attempts: 6, backoff: BACKOFF, maxPageBytes: 16 * 1024 * 1024, ...options }
  }

  async *pages(
    url: string,
    from: { cursor: string | null; page: number },
    signal: AbortSignal,
    onRetry: (message: string) => void = () => undefined,
  ): AsyncGenerator<NumberedPage> {
    const loop = new LoopWatch()
    const barren = new BarrenWatch()
    let { cursor, page: number } = from
    do {
      loop.check(cursor)
      number++
      const page = await this.#read(url, cursor, signal, onRetry)
      barren.check(page)
      yield { ...page, number, cursor }
      cursor = page.nextCursor
    } while (cursor !== null)
  }

  async #read(url: string, cursor: string | null, signal: AbortSignal, onRetry: (message: string) => void) {
    const { net, clock } = this.#deps
    const { attempts, backoff, maxPageBytes } = this.#options
    const address = withCursor(url, cursor)
    const ask = async (): Promise<FeedPage> => {
      const response = await net.request({
        url: address,
        domain: 'runs',
        headers: { accept: 'application/json' },
        signal,
      })
      try {
        expectOk(response, clock.now())
        return readFeedPage((await readAll(response.body, maxPageBytes)).toString('utf8'), response.url)
      } finally {
        response.body.destroy()
      }
    }
    try {
      return await withRetry(ask, {
        attempts,
        clock,
        signal,
        backoff,
        onRetry: ({ error, waitMs }) => onRetry(`${messageOf(error)}; asking again in ${waitMs} ms`),
      })
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (isAppError(error, ERRORS.FEED_INVALID)) throw final(ERRORS.FEED_INVALID, error.message, error)
      throw final(ERRORS.FEED_FAILED, `the feed cannot be read: ${messageOf(error)}`, error)
    }
  }
}

/** Appended as text: writing the whole query anew would also change how the rest of it is encoded. */
function withCursor(url: string, cursor: string | null): URL {
  const address = new URL(url)
  if (cursor !== null)
    address.search += `${address.search ? '&' : '?'}cursor=${encodeURIComponent(cursor.toWellFormed())}`
  return address
}

function final(kind: (typeof ERRORS)[keyof typeof ERRORS], message: string, cause: unknown): AppError {
  return new AppError(kind, message, { cause, retryable: false })
}

/**
 * Notices a feed that leads back to where it was, which would never end. One cursor is remembered, and replaced at each
 * power of two: a circle of any length is found within twice the way, in constant memory.
 */
class LoopWatch {
  #remembered: string | null | undefined
  #steps = 0
  #next = 1

  check(cursor: string | null): void {
    if (this.#remembered !== undefined && cursor === this.#remembered)
      throw final(ERRORS.FEED_INVALID, `the feed leads back to the cursor ${String(cursor)}`, undefined)
    if (++this.#steps === this.#next) {
      this.#remembered = cursor
      this.#next *= 2
    }
  }
}
