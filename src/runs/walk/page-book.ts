import { addCounts, type Counts, NO_COUNTS } from '../run-progress.ts'
import type { Checkpoint } from '../run-store.ts'

export interface PageMark {
  number: number
  cursor: string | null
  nextCursor: string | null
}

/** What happened to the items of one page. */
export class PageTally implements Counts {
  readonly mark: PageMark
  downloaded = 0
  skipped = 0
  filtered = 0
  failed = 0
  bytes = 0
  #open = 0
  #listed = false

  constructor(mark: PageMark) {
    this.mark = mark
  }

  get done(): boolean {
    return this.#listed && this.#open === 0
  }

  begin(): void {
    this.#open++
  }

  end(): void {
    this.#open--
  }

  /** No further item of this page begins. */
  allBegun(): void {
    this.#listed = true
  }
}

/**
 * Counts page by page, because files of several pages are under way at once. A page is done when its last file is; the
 * checkpoint is at the first page that is not, so a crash loses no file and counts none twice.
 */
export class PageBook {
  #checkpoint: Checkpoint
  readonly #pages: PageTally[] = []

  constructor(from: Checkpoint) {
    this.#checkpoint = from
  }

  add(page: PageTally): void {
    this.#pages.push(page)
  }

  get checkpoint(): Checkpoint {
    while (this.#pages[0]?.done) {
      const page = this.#pages.shift() as PageTally
      this.#checkpoint = {
        cursor: page.mark.nextCursor,
        page: page.mark.number,
        counts: addCounts(this.#checkpoint.counts, page),
        finished: page.mark.nextCursor === null,
      }
    }
    return this.#checkpoint
  }

  get counts(): Counts {
    return this.#pages.reduce<Counts>(addCounts, addCounts(this.checkpoint.counts, NO_COUNTS))
  }

  /** How many pages were read. */
  get page(): number {
    return this.#pages.at(-1)?.mark.number ?? this.#checkpoint.page
  }
}
