import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface ApiRequest {
  url: URL
  method: string
  headers: IncomingMessage['headers']
  /** The body, if it is JSON. */
  json: unknown
  /** The body as it came. */
  text: string
  /** A parameter of the query as a number. */
  number(name: string, otherwise?: number): number
}

export interface ApiAnswer {
  status?: number
  headers?: Record<string, string>
  /** A text or bytes as they are, anything else as JSON. */
  body?: unknown
}

/** An endpoint over real HTTP on loopback, with a record of what it was asked. */
export async function startApi(
  answer: (request: ApiRequest) => ApiAnswer | Promise<ApiAnswer>,
  host = '127.0.0.1',
) {
  const asked: ApiRequest[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`)
    const request: ApiRequest = {
      url,
      method: incoming.method ?? '',
      headers: incoming.headers,
      json: /json/.test(incoming.headers['content-type'] ?? '') ? JSON.parse(text) : undefined,
      text,
      number: (name, otherwise = Number.NaN) => Number(url.searchParams.get(name) ?? otherwise),
    }
    asked.push(request)
    const { status = 200, headers = {}, body } = await answer(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise<void>((resolve) => server.close(() => resolve()))
  })
  const origin = `http://${host}:${(server.address() as AddressInfo).port}`
  return { origin, asked, paths: () => asked.map(({ url }) => `${url.pathname}${url.search}`) }
}

/** Rows `from` up to, not including, `to`. */
export function rowsFrom(from: number, to: number): { id: number; name: string }[] {
  return Array.from({ length: Math.max(0, to - from) }, (_, n) => ({ id: from + n, name: `row ${from + n}` }))
}
