import { createHash } from 'node:crypto'
import {
  AppError,
  type Backoff,
  type Clock,
  codeOf,
  counted,
  ERRORS,
  isAppError,
  messageOf,
  SecretMask,
  withRetry,
} from '../../kernel/index.ts'
import { expectOk, type HttpClient, readAll } from '../../net/index.ts'
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

  /** What a feed says may repeat the password of its address. */
  async *pages(
    url: string,
    from: { cursor: string | null; page: number },
    signal: AbortSignal,
    onRetry: (message: string, code: string) => void = () => undefined,
  ): AsyncGenerator<NumberedPage> {
    const mask = new SecretMask().addUrl(url)
    const masked = (message: string, code: string) => onRetry(mask.text(message), code)
    for await (const page of mask.guardEach(this.#pages(url, from, signal, masked)))
      yield { ...page, broken: mask.value(page.broken) }
  }

  async *#pages(
    url: string,
    from: { cursor: string | null; page: number },
    signal: AbortSignal,
    onRetry: (message: string, code: string) => void,
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

  async #read(
    url: string,
    cursor: string | null,
    signal: AbortSignal,
    onRetry: (message: string, code: string) => void,
  ) {
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
        onRetry: ({ error, waitMs }) =>
          onRetry(`${messageOf(error)}; asking again in ${waitMs} ms`, codeOf(error)),
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

/** Pages in a row that bring nothing: more than a feed that looks for something has reason to send. */
const MOST_BARREN = 1_000

/** Notices a feed that goes on and on with new cursors, but without items, or with pages that it has sent before. */
class BarrenWatch {
  readonly #most: number
  /** Prints of the last pages that had items. */
  readonly #prints = new Set<string>()
  #barren = 0

  constructor(most: number = MOST_BARREN) {
    this.#most = most
  }

  check({ items, broken, nextCursor }: FeedPage): void {
    this.#barren = this.#isBarren(items, broken) ? this.#barren + 1 : 0
    if (this.#barren <= this.#most || nextCursor === null) return
    throw new AppError(
      ERRORS.FEED_INVALID,
      `the feed has no end: its last ${counted(this.#barren, 'page')} had no item that is new`,
      { retryable: false },
    )
  }

  #isBarren(items: FeedPage['items'], broken: FeedPage['broken']): boolean {
    if (items.length === 0) return true
    const print = createHash('sha1')
    for (const { id } of items) print.update(`${id.length}:${id}`)
    const digest = print.update(String(broken.length)).digest('base64')
    if (this.#prints.has(digest)) return true
    this.#prints.add(digest)
    const [oldest] = this.#prints
    if (this.#prints.size > this.#most && oldest !== undefined) this.#prints.delete(oldest)
    return false
  }
}
