import type { QueryClient, QueryKey } from '@tanstack/react-query'
import { settled } from './settled.ts'

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
    // What is under way may be older than the event: it is let finish, and then asked again. So events that keep coming
    // cannot break it off for ever.
    await Promise.allSettled(keys.map((queryKey) => this.#again(queryKey)))
    this.#timer = undefined
    if (this.#wanted.size > 0) this.#timer = setTimeout(() => void this.#flush(), PAUSE_MS)
  }

  async #again(queryKey: QueryKey): Promise<void> {
    await settled(this.#client, queryKey)
    await this.#client.invalidateQueries({ queryKey })
  }
}
