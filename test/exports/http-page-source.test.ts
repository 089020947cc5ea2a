import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { HttpPageSource } from '../../src/exports/index.ts'
import { systemClock } from '../../src/kernel/index.ts'
import type { HttpRequest } from '../../src/net/http-client.ts'
import type { HttpClient } from '../../src/net/index.ts'

function setup(url: string) {
  const requests: HttpRequest[] = []
  const http = {
    async request(request: HttpRequest) {
      requests.push(request)
      return { status: 200, headers: new Headers(), body: Readable.from([]), url: new URL(url) }
    },
  }
  const deps = { http: http as unknown as HttpClient, clock: systemClock }
  return { source: new HttpPageSource(deps, { url, headers: {}, secrets: [] }), requests }
}

test.each([
  ['http://erp.example/orders', 'http://erp.example/orders?page=3&page_size=500'],
  ['http://erp.example/orders?month=1', 'http://erp.example/orders?month=1&page=3&page_size=500'],
  ['http://erp.example/orders?', 'http://erp.example/orders?page=3&page_size=500'],
  ['http://erp.example/orders?a=%20b&#top', 'http://erp.example/orders?a=%20b&page=3&page_size=500'],
])('%s is paged without touching its own parameters', async (url, asked) => {
  const { source, requests } = setup(url)
  await source.get(3, 500, new AbortController().signal)
  expect(requests[0]?.url).toBe(asked)
})

test('a source may take as long for its first byte as a page may take in all', async () => {
  const { source, requests } = setup('http://erp.example/')
  await source.get(0, 500, new AbortController().signal)
  const PAGE_MAY_TAKE = 120_000
  expect(requests[0]?.timeouts?.headersMs).toBeGreaterThanOrEqual(PAGE_MAY_TAKE)
  expect(requests[0]?.timeouts?.bodyMs).toBeGreaterThanOrEqual(PAGE_MAY_TAKE)
})
