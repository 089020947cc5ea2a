import pg from 'pg'
import type { FeedPage } from '../../pages/index.ts'
import { MessageTap } from './message-tap.ts'
import type { RowPages } from './row-pages.ts'

/** Pages that may wait for the consumer. */
const MOST_PAGES = 4

type Listener = (chunk: Buffer) => void

/** The client's socket, or TLS above it. */
interface Socket {
  pause(): void
  resume(): void
  destroy(): void
  listeners(event: 'data'): Listener[]
  on(event: 'data', listener: Listener): void
  off(event: 'data', listener: Listener): void
}

export interface FetchHooks {
  /** Hears that something came. */
  heard(): void
  /** Hears that nothing is asked for until the next page is taken. */
  resting(rests: boolean): void
  errorOf(error: unknown): unknown
}

/**
 * Up to `count` rows of the cursor as pages, the last of which may be left in `written`. Rows are taken out of what the socket brings,
 * before the client would make strings of them; everything else is left to the client. The socket is not read while pages
 * wait, so that neither many large rows nor one that is too large is ever in memory as a whole. Returns how many came.
 */
export async function* fetchPages(
  client: pg.Client,
  count: number,
  written: RowPages,
  hooks: FetchHooks,
): AsyncGenerator<FeedPage, number> {
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  const pages: FeedPage[] = []
  let [rows, over] = [0, false]
  let failure: { error: unknown } | undefined
  let wake: () => void = () => undefined
  const end = (error?: unknown) => {
    over = true
    if (error !== undefined) failure ??= { error: hooks.errorOf(error) }
    wake()
  }
  const taken = (page: FeedPage) => {
    pages.push(page)
    if (pages.length >= MOST_PAGES) {
      hooks.resting(true)
      stream.pause()
    }
    wake()
  }
  const clients = stream.listeners('data')
  const tap = new MessageTap(
    (bytes, at) => {
      rows += 1
      const page = written.add(bytes, at)
      if (page) taken(page)
    },
    (message) => {
      for (const hear of clients) hear(message)
    },
  )
  const heard = (chunk: Buffer) => {
    hooks.heard()
    try {
      tap.push(chunk)
    } catch (error) {
      failure ??= { error }
      stream.destroy()
      end()
    }
  }
  const query = new pg.Query({ text: `fetch forward ${count} from wharf` })
  query.on('end', () => end())
  query.on('error', (error: unknown) => end(error))
  stream.on('data', heard)
  for (const hear of clients) stream.off('data', hear)
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
        written.passed(page)
        continue
      }
      if (failure) throw failure.error
      if (over) return rows
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    // One who breaks off in the middle closes the session: what is still to come would begin within a message.
    if (over) for (const hear of clients) stream.on('data', hear)
    stream.off('data', heard)
  }
}
