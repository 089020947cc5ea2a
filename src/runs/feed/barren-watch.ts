import { createHash } from 'node:crypto'
import { AppError, ERRORS } from '../../kernel/index.ts'
import type { FeedPage } from './feed-page.ts'

/** Pages in a row that bring nothing: more than a feed that looks for something has reason to send. */
const MOST_BARREN = 1_000

/** Notices a feed that goes on and on with new cursors, but without items, or with pages that it has sent before. */
export class BarrenWatch {
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
      `the feed has no end: its last ${this.#barren} pages had no item that is new`,
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
