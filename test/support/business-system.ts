import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { until } from './until.ts'

export type Row = Record<string, unknown>

/** One request for a page, as it arrived. */
export interface Pull {
  page: number
  pageSize: number
  /** How often this very page was asked for before, with this page size. */
  again: number
  /** As it stood in the request line. */
  target: string
  headers: IncomingHttpHeaders
}

export interface SourceOptions {
  total?: number
  row?: (n: number) => Row
  /** More members of every answer: template, header, footer. */
  more?: Row
  /** Answers in place of the honest page; returns true when it has. */
  instead?: (pull: Pull, response: ServerResponse, honest: () => Row) => boolean
}

export interface Call {
  headers: IncomingHttpHeaders
  text: string
  body: { type: string; timestamp: string; data: Row }
}

type Handler = (request: IncomingMessage, response: ServerResponse, url: URL) => void

/** A business system on loopback: sources that page their rows, honest or not, and receivers of callbacks. */
export class BusinessSystem {
  readonly #handlers = new Map<string, Handler>()
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const handler = this.#handlers.get(url.pathname)
    if (handler) handler(request, response, url)
    else response.writeHead(404).end('no such path')
  })

  static async start(): Promise<BusinessSystem> {
    const system = new BusinessSystem()
    await new Promise<void>((resolve) => system.#server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      system.#server.closeAllConnections()
      system.#server.close()
    })
    return system
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  source(options: SourceOptions = {}): Source {
    const source = new Source(`${this.origin}/source-${this.#handlers.size}`, options)
    this.#handlers.set(new URL(source.url).pathname, (request, response, url) =>
      source.answer(request, response, url),
    )
    return source
  }

  /** Answers callbacks with these statuses in turn, then with the last one for ever. */
  receiver(...statuses: number[]): Receiver {
    const receiver = new Receiver(`${this.origin}/told-${this.#handlers.size}`, statuses)
    this.#handlers.set(new URL(receiver.url).pathname, (request, response) =>
      receiver.answer(request, response),
    )
    return receiver
  }

  /** A path of its own for whatever else a test needs. */
  at(path: string, handler: Handler): string {
    this.#handlers.set(path, handler)
    return `${this.origin}${path}`
  }
}

export class Source {
  readonly url: string
  readonly pulls: Pull[] = []
  total: number
  readonly #options: SourceOptions
  readonly #counts = new Map<string, number>()
  #heldFrom = Number.POSITIVE_INFINITY
  #held: (() => void)[] = []

  constructor(url: string, options: SourceOptions) {
    this.url = url
    this.#options = options
    this.total = options.total ?? 250
  }

  /** Pages that were asked for, the probe aside. */
  get pages(): number[] {
    return this.pulls.filter(({ pageSize }) => pageSize > 1).map(({ page }) => page)
  }

  get probes(): number {
    return this.pulls.filter(({ pageSize }) => pageSize === 1).length
  }

  /** Lets requests for this page and later ones wait; the probe is answered. */
  holdFrom(page: number): void {
    this.#heldFrom = page
  }

  /** Answers what was held, and everything from now on. */
  release(): void {
    this.#heldFrom = Number.POSITIVE_INFINITY
    for (const go of this.#held.splice(0)) go()
  }

  /** Answers the request that has been held the longest, if there is one. */
  releaseOne(): void {
    this.#held.shift()?.()
  }

  /** Resolves once a request is being held. */
  async untilHeld(): Promise<void> {
    await until('a page is held', () => this.#held.length > 0)
  }

  answer(request: IncomingMessage, response: ServerResponse, url: URL): void {
    const [page, pageSize] = [
      Number(url.searchParams.getAll('page').at(-1)),
      Number(url.searchParams.getAll('page_size').at(-1)),
    ]
    const key = `${page}/${pageSize}`
    const again = this.#counts.get(key) ?? 0
    this.#counts.set(key, again + 1)
    const pull = { page, pageSize, again, target: request.url ?? '', headers: request.headers }
    this.pulls.push(pull)
    const go = () => this.#send(pull, response)
    if (pageSize > 1 && page >= this.#heldFrom) this.#held.push(go)
    else go()
  }

  #send(pull: Pull, response: ServerResponse): void {
    const honest = () => this.#page(pull)
    if (this.#options.instead?.(pull, response, honest)) return
    sendJson(response, honest())
  }

  #page({ page, pageSize }: Pull): Row {
    const { row = (n) => ({ id: n, name: `row ${n}` }), more = {} } = this.#options
    const first = page * pageSize
    const count = Math.max(0, Math.min(pageSize, this.total - first))
    return {
      total: this.total,
      data: Array.from({ length: count }, (_, index) => row(first + index)),
      ...more,
    }
  }
}

export class Receiver {
  readonly url: string
  readonly calls: Call[] = []
  readonly #statuses: number[]

  constructor(url: string, statuses: number[]) {
    this.url = url
    this.#statuses = statuses.length > 0 ? [...statuses] : [204]
  }

  /** The call with this number, counted from 0, as soon as it is there. */
  async call(index = 0): Promise<Call> {
    return until(`callback ${index} has arrived`, () => this.calls[index])
  }

  answer(request: IncomingMessage, response: ServerResponse): void {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString()
      this.calls.push({ headers: request.headers, text, body: JSON.parse(text) })
      const status = this.#statuses.length > 1 ? this.#statuses.shift() : this.#statuses[0]
      response.writeHead(status ?? 204).end()
    })
  }
}

export function sendJson(
  response: ServerResponse,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}
