import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SourcePage {
  page: number
  pageSize: number
  request: IncomingMessage
  response: ServerResponse
}

/** A source over real HTTP on loopback. `answer` returns a page's JSON value, or has answered by itself. */
export async function startSource(answer: (page: SourcePage) => unknown): Promise<string> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const [page, pageSize] = ['page', 'page_size'].map((name) => Number(url.searchParams.get(name)))
    const body = await answer({ page: page!, pageSize: pageSize!, request, response })
    if (response.headersSent || response.destroyed || body === undefined) return
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Pages of `total` rows, each made by `row`. */
export function pagesOf(total: number, row: (n: number) => Record<string, unknown>, more: object = {}) {
  return ({ page, pageSize }: Pick<SourcePage, 'page' | 'pageSize'>) => {
    const first = page * pageSize
    const count = Math.max(0, Math.min(pageSize, total - first))
    return { total, data: Array.from({ length: count }, (_, index) => row(first + index)), ...more }
  }
}
