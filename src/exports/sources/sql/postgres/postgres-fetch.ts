import pg from 'pg'
import type { TextPage } from '../../pages/index.ts'
import { rowTooLarge } from '../sql-error.ts'
import { MOST_ROW_BYTES, type PageGatherer } from '../sql-pages.ts'

/** Values as PostgreSQL writes them, whatever their type. */
const AS_TEXT = { getTypeParser: () => (text: string) => text } as unknown as pg.CustomTypesConfig

/** Pages that may wait for the consumer. */
const MOST_PAGES = 2

interface Socket {
  pause(): void
  resume(): void
  destroy(): void
  on(event: 'data', listener: (chunk: Uint8Array) => void): void
  off(event: 'data', listener: (chunk: Uint8Array) => void): void
}

export interface FetchHooks {
  /** Hears that something came. */
  heard(): void
  /** Hears that nothing is asked for until the next page is taken. */
  resting(rests: boolean): void
  errorOf(error: unknown): unknown
}

/**
 * Up to `count` rows of the cursor as pages, the last of which may be left in the gatherer. They are written as they come, and the socket is
 * not read while pages wait, so that neither many large rows nor one that is too large is ever in memory as a whole. Returns how many came.
 */
export async function* fetchPages(
  client: pg.Client,
  count: number,
  gatherer: PageGatherer<string>,
  hooks: FetchHooks,
): AsyncGenerator<TextPage, number> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const pages: TextPage[] = []
  let [rows, sinceRow, over] = [0, 0, false]
  let failure: { error: unknown } | undefined
  let wake: () => void = () => undefined
  const end = (error?: unknown) => {
    over = true
    if (error !== undefined) failure ??= { error: hooks.errorOf(error) }
    wake()
  }
  const cut = (error: unknown) => {
    failure ??= { error }
    stream.destroy()
    end()
  }
  const heard = (chunk: Uint8Array) => {
    hooks.heard()
    sinceRow += chunk.length
    if (sinceRow > MOST_ROW_BYTES) cut(rowTooLarge(MOST_ROW_BYTES))
  }
  const text = `fetch forward ${count} from wharf`
  const query = new pg.Query({ text, rowMode: 'array', types: AS_TEXT } as pg.QueryArrayConfig)
  query.on('row', (row: unknown) => {
    sinceRow = 0
    rows += 1
    const page = gatherer.add(row as (string | null)[])
    if (!page) return
    pages.push(page)
    if (pages.length >= MOST_PAGES) {
      hooks.resting(true)
      stream.pause()
    }
    wake()
  })
  query.on('end', () => end())
  query.on('error', (error: unknown) => end(error))
  stream.on('data', heard)
  try {
    client.query(query)
    for (;;) {
      const page = pages.shift()
      if (page) {
        if (pages.length < MOST_PAGES) {
          hooks.resting(false)
          stream.resume()
        }
        yield page
        continue
      }
      if (failure) throw failure.error
      if (over) return rows
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    stream.off('data', heard)
  }
}
