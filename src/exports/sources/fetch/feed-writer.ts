import type { Clock } from '../../../kernel/index.ts'
import { counted } from '../../../kernel/index.ts'
import { type Drift, type OnDuplicates, type RowChecks, samePage } from '../duplicates/duplicates.ts'
import { PagePrints } from '../duplicates/page-prints.ts'
import { type FeedPage, PageBody, type RowFeed } from '../pages/index.ts'
import type { RangeMeta, SpoolFolder, SpoolMeta } from '../spool/index.ts'
import { Checkpointer } from './checkpointer.ts'
import type { FetchLimits } from './fetch-to-spool.ts'
import type { PageSink, RangeState } from './range-spooler.ts'
import { type FetchProgress, tooLarge } from './spool-fetch.ts'

export interface FeedWriterOptions {
  limits?: FetchLimits
  onDuplicates?: OnDuplicates
  onProgress?(progress: FetchProgress): void
}

const FLUSH_BYTES = 1024 * 1024
const FLUSH_EVERY_MS = 500

/** Puts the pages of a feed into the spool, one after the other, and notes how far it has come where the feed is resumable. */
export class FeedWriter {
  readonly #deps: { folder: SpoolFolder; clock: Clock; feed: RowFeed; meta: SpoolMeta }
  readonly #options: FeedWriterOptions
  readonly #prints = new PagePrints(0)
  readonly #checkpointer: Checkpointer
  #sink: PageSink
  /** As far as the files hold it, and where the feed goes on then. */
  #written: RangeMeta
  #place: unknown
  /** Of the last page that was taken. */
  #next: unknown
  #pages: number
  #rows: number
  #samePages = 0
  #drift: Drift | null
  #flushed: number

  constructor(
    deps: { folder: SpoolFolder; clock: Clock; feed: RowFeed; meta: SpoolMeta },
    options: FeedWriterOptions,
    sink: PageSink,
  ) {
    const { meta, clock, folder } = deps
    this.#deps = deps
    this.#options = options
    this.#sink = sink
    this.#written = meta.ranges[0]!
    this.#place = meta.feed?.place
    this.#next = this.#place
    this.#pages = this.#written.next
    this.#rows = this.#written.segments.reduce((sum, { rows }) => sum + rows, 0)
    this.#drift = meta.drift
    this.#flushed = clock.now()
    const snapshot = () => this.#snapshot()
    this.#checkpointer = new Checkpointer({ clock, folder, snapshot }, { everyMs: FLUSH_EVERY_MS })
  }

  get pages(): number {
    return this.#pages
  }

  get checks(): Pick<RowChecks, 'samePages' | 'drift'> {
    return { samePages: this.#samePages, drift: this.#drift }
  }

  /** Pages that an earlier reading has, so that none of them comes again. */
  async takeUp(): Promise<void> {
    const { folder } = this.#deps
    this.#samePages = this.#prints.addAll(0, await folder.readLog('pages-0', this.#written.pages))
    if (this.#pages > 0) this.#report(0)
  }

  /** Goes on in another sink, which begins with what the files hold. */
  async move(open: (start: RangeState) => PageSink): Promise<void> {
    await this.#flush()
    this.#sink.close()
    this.#sink = open(this.#written)
  }

  async write({ text, rows, total, next }: FeedPage): Promise<void> {
    const { maxRows, maxBytes } = this.#options.limits ?? {}
    if (maxRows !== undefined && this.#rows + rows > maxRows)
      throw tooLarge(`the source has more than ${counted(maxRows, 'row')}, the most an export may have`, {
        rows: this.#rows + rows,
      })
    const expected = { page: this.#pages, rows, pageSize: rows, total: Number.MAX_SAFE_INTEGER }
    const taken = await this.#sink.take(typeof text === 'string' ? PageBody.ofText(text) : text, expected)
    const page = this.#pages++
    this.#rows += rows
    this.#compare(page, taken.print)
    this.#next = next
    const first = this.#deps.feed.total
    if (total !== undefined && typeof first === 'number' && total !== first) this.#drift ??= { page, total }
    if (maxBytes !== undefined && taken.bytes > maxBytes)
      throw tooLarge(
        `the source's rows take more than ${counted(maxBytes, 'byte')}, the most an export may have`,
        {
          bytes: taken.bytes,
        },
      )
    if (taken.waiting >= FLUSH_BYTES || this.#flushDue) await this.#flush()
    if (this.#deps.feed.resumable && this.#checkpointer.due) this.#checkpointer.begin()
    this.#report(taken.bytes)
  }

  /** All is in the files, and noted as whole. */
  async end(): Promise<RangeMeta> {
    await this.#flush()
    this.#written = { ...this.#written, end: this.#written.next }
    if (this.#deps.feed.resumable) await this.#checkpointer.save()
    return this.#written
  }

  /** Keeps what has come, for another attempt. */
  async keep(): Promise<void> {
    if (!this.#deps.feed.resumable) return
    await this.#flush()
    await this.#checkpointer.save()
  }

  async close(): Promise<void> {
    this.#sink.close()
    await this.#checkpointer.idle()
  }

  get #flushDue(): boolean {
    const { feed, clock } = this.#deps
    return feed.resumable === true && clock.now() - this.#flushed >= FLUSH_EVERY_MS
  }

  #compare(page: number, print: [number, number, number, number]): void {
    const { feed } = this.#deps
    if (!feed.paged) return
    const twin = this.#prints.add(page, print)
    if (twin === undefined) return
    if (this.#options.onDuplicates !== 'warn' || feed.endless) throw samePage(page, twin)
    this.#samePages++
  }

  async #flush(): Promise<void> {
    const { folder, clock } = this.#deps
    this.#flushed = clock.now()
    const { written, ...state } = await this.#sink.flush()
    folder.wrote(written)
    this.#written = { ...this.#written, next: this.#pages, ...state }
    this.#place = this.#next
  }

  #report(bytes: number): void {
    const { total = null } = this.#deps.feed
    this.#options.onProgress?.({ fetched: this.#rows, total, bytes })
  }

  #snapshot(): SpoolMeta {
    const { meta, clock } = this.#deps
    const feed = { keys: meta.feed?.keys ?? [], place: this.#place }
    return { ...meta, ranges: [this.#written], drift: this.#drift, feed, updated: clock.now() }
  }
}
