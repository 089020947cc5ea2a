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
    this.#timer ??= setTimeout(() => this.#flush(), PAUSE_MS)
  }

  #flush(): void {
    this.#timer = undefined
    const keys = [...this.#wanted.values()]
    this.#wanted.clear()
    // What is under way may have read the state before the event: it is asked again, not joined.
    for (const queryKey of keys) void this.#client.invalidateQueries({ queryKey })
  }
}
