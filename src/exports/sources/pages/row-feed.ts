import type { Warning } from '../../warnings/index.ts'
import type { PageBody } from './page-body.ts'

/** A run of rows, as the JSON text `{"data":[…]}` that a page of a source has too. */
export interface FeedPage {
  text: string | PageBody
  rows: number
  /** The number of all rows that the place states with it. */
  total?: number
  /** Where a feed that is resumable goes on after it. Plain data. */
  next?: unknown
}

/** A page that is made of values, as a text. */
export interface TextPage extends FeedPage {
  text: string
}

/** Rows that come in order, from a place that cannot be asked for a page again by its number. */
export interface RowFeed {
  /** Keys of the rows, with the types that the place gives them; null where it gives none. */
  readonly columns: { name: string; type: string | null }[]
  /** Later rows may bring more of them. */
  readonly grows?: boolean
  /** Of all rows; missing or null: unknown. */
  readonly total?: number | null
  /** Pages are as the place answers: one that has the very rows of another is a fault. */
  readonly paged?: boolean
  /** Of a feed of pages: the last one was read. */
  readonly ended?: boolean
  /** Such a fault can never be let pass. */
  readonly endless?: boolean
  /** It can be opened again after a page that it has given. */
  readonly resumable?: boolean
  /**
   * Ends after the last row. Broken off by its reader, it lets go of what it holds. A page is its reader's until the next but one is
   * asked for: its memory may then be used again.
   */
  pages(): AsyncIterable<FeedPage>
  /** What is to be said of the whole. */
  warnings?(rows: number): Warning[]
}

/** `close` ends what it holds open, however far it came. */
export interface OpenRows extends RowFeed {
  close(): Promise<void>
}

/** Where an earlier reading was broken off: the columns that it had, and `next` of the last page that is safe. */
export interface FeedStart {
  keys: string[]
  place: unknown
}
