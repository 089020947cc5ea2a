import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** Feeds that answer only when the test says how: a run of theirs goes on until then. */
export class HeldFeeds {
  readonly handles: readonly string[]
  readonly #origin: string
  readonly #held = new Map<string, ServerResponse[]>()
  readonly #orders = new Map<string, 'finish' | 'fail'>()

  private constructor(handles: readonly string[], origin: string) {
    this.handles = handles
    this.#origin = origin
  }

  static async open(handles: readonly string[]): Promise<HeldFeeds> {
    const server = createServer((request, response) => feeds.#asked((request.url ?? '').slice(1), response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    const { port } = server.address() as AddressInfo
    const feeds = new HeldFeeds(handles, `http://127.0.0.1:${port}`)
    return feeds
  }

  url(handle: string): string {
    return `${this.#origin}/${handle}`
  }

  /** The run that asks, or is about to ask, reads an empty feed and is done. */
  finish(handle: string): void {
    this.#order(handle, 'finish')
  }

  /** The run that asks, or is about to ask, finds no feed and fails. */
  fail(handle: string): void {
    this.#order(handle, 'fail')
  }

  /** From now on the feed holds its answers again. */
  hold(handle: string): void {
    this.#orders.delete(handle)
    this.#held.delete(handle)
  }

  #order(handle: string, order: 'finish' | 'fail'): void {
    this.#orders.set(handle, order)
    for (const response of this.#held.get(handle) ?? []) answer(response, order)
    this.#held.delete(handle)
  }

  #asked(handle: string, response: ServerResponse): void {
    const order = this.#orders.get(handle)
    if (order) answer(response, order)
    else this.#held.set(handle, [...(this.#held.get(handle) ?? []), response])
  }
}

function answer(response: ServerResponse, order: 'finish' | 'fail'): void {
  if (order === 'fail') response.writeHead(404).end()
  else response.end(JSON.stringify({ items: [], next_cursor: null }))
}
