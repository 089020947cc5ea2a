import type { Warning } from '../../warnings/index.ts'
import type { FeedPage, OpenRows, PageBody } from '../pages/index.ts'

interface StreamColumns {
  keys: readonly string[]
  grows: boolean
  /** What is to be said of the whole, at its end. */
  warnings?(): Warning[]
}

/** Rows of a stream: they come once, and the first of them are read when it is opened. */
export class StreamRows implements OpenRows {
  readonly columns: OpenRows['columns']
  readonly grows: boolean
  readonly #pages: AsyncGenerator<FeedPage>
  readonly #first: FeedPage | undefined

  readonly warnings: () => Warning[]

  /** `columnsOf` gets the first page, which is missing for an empty stream. */
  static async open(
    pages: AsyncGenerator<FeedPage & { text: PageBody }>,
    columnsOf: (first: PageBody | undefined) => StreamColumns,
  ): Promise<StreamRows> {
    try {
      const { value, done } = await pages.next()
      const first = done ? undefined : value
      return new StreamRows(pages, first, columnsOf(first?.text))
    } catch (error) {
      await pages.return(undefined)
      throw error
    }
  }

  private constructor(
    pages: AsyncGenerator<FeedPage>,
    first: FeedPage | undefined,
    { keys, grows, warnings = () => [] }: StreamColumns,
  ) {
    this.#pages = pages
    this.#first = first
    this.columns = keys.map((name) => ({ name, type: null }))
    this.grows = grows
    this.warnings = warnings
  }

  async *pages(): AsyncGenerator<FeedPage> {
    if (this.#first) yield this.#first
    yield* this.#pages
  }

  async close(): Promise<void> {
    await this.#pages.return(undefined)
  }
}
