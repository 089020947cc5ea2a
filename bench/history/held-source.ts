import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const PAGE = JSON.stringify({ total: 1, data: [{ id: 1, name: 'one' }] })

/** A source of one row that answers nobody while it is held. */
export class HeldSource {
  readonly #waiting: ServerResponse[] = []
  readonly #server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json')
    if (this.#held) this.#waiting.push(response)
    else response.end(PAGE)
  })
  #held = false

  static async start(): Promise<HeldSource> {
    const source = new HeldSource()
    await new Promise<void>((resolve) => source.#server.listen(0, '127.0.0.1', resolve))
    return source
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/orders`
  }

  hold(): void {
    this.#held = true
  }

  release(): void {
    this.#held = false
    for (const response of this.#waiting.splice(0)) response.end(PAGE)
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
