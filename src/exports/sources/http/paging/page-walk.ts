import { hash } from 'node:crypto'
import { AppError, type Clock, counted, ERRORS, type Log } from '../../../../kernel/index.ts'
import type { HttpTimeouts } from '../../../../net/index.ts'
import { type Warning, warn } from '../../../warnings/index.ts'
import { PageGetter, type RetryOptions, retryPage } from '../../ask/index.ts'
import {
  type FeedPage,
  type FeedStart,
  type OpenRows,
  type PageAnswer,
  PageBody,
  type PageSource,
} from '../../pages/index.ts'
import { askSource, type SourceAsker } from '../ask-source.ts'
import type { HttpPlan } from '../read-http-source.ts'
import { hasMore } from '../says-more.ts'
import { type AnswerPage, keysOf, readAnswer, toPage } from './answer-page.ts'
import { nextAddress, type Position, pageRequest } from './page-request.ts'

export interface WalkOptions extends RetryOptions {
  /** Rows to ask for at once. */
  size: number
  maxPageBytes: number
  pageTimeoutMs: number
  onBytes(bytes: number): void
  signal: AbortSignal
}

/** How far a walk has come. Plain data: it is noted with the spool. */
interface WalkState extends Position {
  /** Pages that have been read, and their rows. */
  pages: number
  fetched: number
  /** What the first answer stated; null: nothing. */
  total: number | null
  /** What the last answer stated. */
  stated: number | null
  /** Pages without rows, one after another; a walk that an earlier version has noted lacks it. */
  empty?: number
  /** The member of the last answer that says that there is more. */
  more?: string
  /** Rows of the last page that the first total leaves no place for. */
  beyond?: number
  /** Rows that a page has, as the first one showed: sources may give fewer than they are asked for. */
  pageRows: number
  done: boolean
}

/** Sources that filter as they go may lead on with pages that have no rows. One that never has any again would not end. */
const MOST_EMPTY = 1_000

/** A page far down a large table may take the source a minute; how long one may take in all is the page getter's affair. */
const TIMEOUTS: HttpTimeouts = { headersMs: 300_000, bodyMs: 300_000, totalMs: 300_000 }

/**
 * Reads a source page after page, each where the one before it says. The walk ends where the source says so: by a total, by a
 * missing cursor or link, by a page without rows that leads to where the walk has been, and where it states none of these by a page
 * without rows.
 */
export class PageWalk implements OpenRows, PageSource {
  readonly columns: OpenRows['columns']
  readonly grows = true
  readonly resumable = true
  readonly paged = true
  readonly #deps: SourceAsker & { log?: Log | undefined; clock: Clock }
  readonly #plan: HttpPlan
  readonly #options: WalkOptions
  readonly #getter: PageGetter
  readonly #body = new PageBody()
  /** Prints of the cursors and addresses that have been followed. */
  readonly #followed = new Set<string>()
  #state: WalkState
  #first: FeedPage | undefined
  #answered: { headers: Record<string, string>; url: string } = { headers: {}, url: '' }

  /** With the first page read, unless it goes on where an earlier walk was broken off. */
  static async open(
    deps: SourceAsker & { log?: Log | undefined },
    plan: HttpPlan,
    options: WalkOptions,
    from?: FeedStart,
  ): Promise<PageWalk> {
    if (from) return new PageWalk(deps, plan, options, from)
    const walk = new PageWalk(deps, plan, options, { keys: [], place: startOf(plan) })
    walk.#first = await walk.#read()
    walk.columns.push(...keysOf(walk.#first!.text as PageBody).map((name) => ({ name, type: null })))
    return walk
  }

  private constructor(
    deps: SourceAsker & { log?: Log | undefined },
    plan: HttpPlan,
    options: WalkOptions,
    { keys, place }: FeedStart,
  ) {
    this.#deps = deps
    this.#plan = plan
    this.#options = options
    this.#state = place as WalkState
    this.columns = keys.map((name) => ({ name, type: null }))
    this.#getter = new PageGetter({ source: this, clock: deps.clock }, options)
  }

  get total(): number | null {
    return this.#state.total
  }

  get ended(): boolean {
    return this.#state.done
  }

  /** Nothing but the source's word ends it, so a source that ignores what it is asked for would never end. */
  get endless(): boolean {
    return isNumbered(this.#plan) && this.#state.total === null
  }

  async *pages(): AsyncGenerator<FeedPage> {
    const first = this.#first
    this.#first = undefined
    if (first && first.rows > 0) yield first
    while (!this.#state.done) {
      const page = await this.#read()
      if (page.rows > 0 || this.#state.done) yield page
    }
  }

  warnings(rows: number): Warning[] {
    const { total, stated, more, beyond } = this.#state
    const isNotMet = !isNumbered(this.#plan) && stated !== null && stated !== rows
    return [
      ...(isNotMet ? [warn('TOTAL_NOT_MET', { total: stated, rows })] : []),
      ...(beyond === undefined ? [] : [warn('ROWS_BEYOND_TOTAL', { total: total!, count: beyond })]),
      ...(more === undefined ? [] : [warn('MORE_NOT_READ', { member: more, rows })]),
    ]
  }

  async close(): Promise<void> {}

  /** One try at the present page, for the page getter. */
  async get(_page: number, _size: number, signal: AbortSignal): Promise<PageAnswer> {
    const request = pageRequest(this.#plan, this.#options.size, this.#state)
    const { status, headers, body, url } = await askSource(this.#deps, request, {
      signal,
      timeouts: TIMEOUTS,
    })
    this.#answered = { headers: Object.fromEntries(headers), url: url.href }
    return { status, headers: this.#answered.headers, body }
  }

  async #read(): Promise<FeedPage> {
    const { signal, size } = this.#options
    const { pages: page } = this.#state
    return retryPage(this.#deps, this.#options, { page, signal }, async () => {
      await this.#getter.get(page, size, this.#body, signal)
      return this.#take(readAnswer(this.#body, this.#answered.headers, this.#plan, page))
    })
  }

  #take(answer: AnswerPage): FeedPage {
    const before = this.#state
    const total = before.pages === 0 ? (answer.total ?? null) : before.total
    const rows = this.#kept(answer, total)
    const fetched = before.fetched + rows
    const done = this.#isDone(answer, { fetched, total })
    const more = done ? this.#unread(answer, total) : undefined
    const next: WalkState = {
      ...before,
      pages: before.pages + 1,
      page: before.page + 1,
      offset: before.offset + rows,
      fetched,
      total,
      stated: answer.total ?? before.stated,
      empty: answer.count > 0 ? 0 : (before.empty ?? 0) + 1,
      pageRows: before.pages === 0 ? answer.count : before.pageRows,
      done,
      ...(more !== undefined && { more }),
      ...(rows < answer.count && !hasGrown(answer, total) && { beyond: answer.count - rows }),
    }
    this.#state = next.done ? next : this.#followOn(next, answer)
    const stated = isNumbered(this.#plan) ? answer.total : undefined
    return {
      text: toPage(this.#body.bytes, answer, rows, this.#plan.lift),
      rows,
      next: this.#state,
      ...(stated !== undefined && { total: stated }),
    }
  }

  /** The first total rules: rows that were added meanwhile are left out, and a page that lacks rows is a fault. */
  #kept({ count }: AnswerPage, total: number | null): number {
    const { style } = this.#plan
    const { pages, fetched, pageRows } = this.#state
    if (!isNumbered(this.#plan) || total === null) return count
    const left = total - fetched
    const expected = style === 'offset' || pages === 0 ? Math.min(1, left) : Math.min(pageRows, left)
    if (count < expected)
      throw new AppError(
        ERRORS.SOURCE_SHORT_PAGE,
        `page ${pages} has ${counted(count, 'row')}, it must have ${style === 'offset' ? 'some' : expected}: ${left} of ${total} are missing`,
        { details: { page: pages, rows: count, expected } },
      )
    if (style === 'page' && pages > 0 && count > pageRows)
      throw new AppError(
        ERRORS.SOURCE_LONG_PAGE,
        `page ${pages} has ${counted(count, 'row')}, and the first page had ${pageRows}`,
        { details: { page: pages, rows: count, expected } },
      )
    return Math.min(count, left)
  }

  #isDone(
    { count, cursor }: AnswerPage,
    { fetched, total }: { fetched: number; total: number | null },
  ): boolean {
    const { style } = this.#plan
    if (style === 'none') return true
    if (style === 'link') return cursor === undefined
    if (style === 'cursor')
      return cursor === undefined || (count === 0 && this.#followed.has(printOf(cursor)))
    return total === null ? count === 0 : fetched >= total
  }

  /**
   * What the last answer says of more. Pages without a total end by one without rows, whatever it says; addresses and cursors of pages
   * that are counted mean nothing, because nobody follows them.
   */
  #unread(answer: AnswerPage, total: number | null): string | undefined {
    if (!isNumbered(this.#plan)) return answer.cursor === undefined ? answer.more() : undefined
    return total === null || hasGrown(answer, total) ? undefined : answer.more(hasMore)
  }

  #followOn(next: WalkState, { cursor }: AnswerPage): WalkState {
    const { style } = this.#plan
    if (!isNumbered(this.#plan) && next.empty! > MOST_EMPTY)
      throw new AppError(
        ERRORS.SOURCE_SHAPE,
        `${MOST_EMPTY} pages in a row have no rows, and each leads on`,
        {
          retryable: false,
        },
      )
    if (style === 'cursor') return { ...next, cursor: this.#once(cursor!, 'cursor', next.pages) }
    if (style !== 'link') return next
    const stated: unknown = JSON.parse(cursor!)
    if (typeof stated !== 'string')
      throw new AppError(ERRORS.SOURCE_SHAPE, `page ${next.pages - 1}: the next address is not a text`, {
        retryable: false,
      })
    const link = nextAddress(this.#plan, stated, this.#answered.url)
    return { ...next, link: this.#once(link, 'address', next.pages) }
  }

  /** A source that leads back to where it came from would be read for ever. */
  #once(followed: string, what: string, page: number): string {
    const print = printOf(followed)
    if (this.#followed.has(print))
      throw new AppError(
        ERRORS.SOURCE_PAGE_REPEATED,
        `page ${page - 1} states a next ${what} that an earlier page has stated: it would never end`,
        { retryable: false, details: { page: page - 1 } },
      )
    this.#followed.add(print)
    return followed
  }
}

function printOf(followed: string): string {
  return hash('sha256', followed, 'base64url')
}

/** Rows that the source has got meanwhile: a warning of its own tells of them. */
function hasGrown({ total: stated = 0 }: AnswerPage, total: number | null): boolean {
  return total !== null && stated > total
}

/** Pages that are counted, not linked to one another. */
function isNumbered({ style }: Pick<HttpPlan, 'style'>): boolean {
  return style === 'page' || style === 'offset'
}

function startOf({ first, style }: HttpPlan): WalkState {
  return {
    page: first,
    offset: style === 'offset' ? first : 0,
    cursor: null,
    link: null,
    pages: 0,
    fetched: 0,
    total: null,
    stated: null,
    pageRows: 0,
    done: false,
  }
}
