import type { QueryClient, QueryKey } from '@tanstack/react-query'

const PAUSE_MS = 400

/** Reads queries again after events, each at most once a pause: a thousand events a second make no thousand questions. */
export class Refresher {
  readonly #client: QueryClient
  readonly #wanted = new Map<string, QueryKey>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(client: QueryClient) {
    this.#client = client
  }

  /** All queries whose key begins with this one. */
  refresh(key: QueryKey): void {
    this.#wanted.set(JSON.stringify(key), key)
    this.#timer ??= setTimeout(() => void this.#flush(), PAUSE_MS)
  }

  async #flush(): Promise<void> {
    const keys = [...this.#wanted.values()]
    this.#wanted.clear()
    // What others have under way may be older than the event: it is asked again, not joined. What was asked for here is
    // waited for: events that keep coming must not break it off for ever.
    await Promise.allSettled(keys.map((queryKey) => this.#client.invalidateQueries({ queryKey })))
    this.#timer = undefined
    if (this.#wanted.size > 0) this.#timer = setTimeout(() => void this.#flush(), PAUSE_MS)
  }
}
