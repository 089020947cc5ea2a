/** A run of rows, as the JSON text `{"data":[…]}` that a page of a source has too. */
export interface FeedPage {
  text: string
  rows: number
}

/** Rows that come once, in order, from a place that cannot be asked for a page again. */
export interface RowFeed {
  /** Keys of the rows, with the types that the place gives them; null where it gives none. */
  readonly columns: readonly { name: string; type: string | null }[]
  /** Ends after the last row. Broken off by its reader, it lets go of what it holds. */
  pages(): AsyncIterable<FeedPage>
}
