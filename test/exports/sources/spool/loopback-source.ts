import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { onTestFinished } from 'vitest'
import type { PageSource } from '../../../../src/exports/sources/pages/index.ts'
import { httpSource } from './http-source.ts'

export interface Asked {
  page: number
  pageSize: number
  /** How often this page was asked for before. */
  again: number
  request: IncomingMessage
  response: ServerResponse
}

/** A real server on loopback, and a plain client for it. */
export async function loopbackSource(answer: (asked: Asked) => void): Promise<PageSource & { url: string }> {
  const counts = new Map<string, number>()
  const server = createServer((req, response) => {
    const query = new URL(req.url ?? '', 'http://localhost').searchParams
    const key = query.toString()
    const again = counts.get(key) ?? 0
    counts.set(key, again + 1)
    const [page, pageSize] = [Number(query.get('page')), Number(query.get('page_size'))]
    answer({ page, pageSize, again, request: req, response })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const agent = new Agent()
  onTestFinished(async () => {
    await agent.destroy()
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rows`
  return { url, ...httpSource(url, agent) }
}
