import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { CHROMIUM, launchChromium } from '../support/chromium.ts'
import { startExports } from '../support/export-client.ts'
import { startHttp } from '../support/http.ts'
import { LIMIT_MS } from '../support/until.ts'

async function browse(...flags: string[]) {
  const browser = await launchChromium(flags)
  onTestFinished(() => browser.close())
  const page = await browser.newPage()
  page.setDefaultTimeout(LIMIT_MS)
  return page
}

/** A page of somebody else's, at an origin of its own. */
async function foreignPage(): Promise<string> {
  const server = createServer((_request, response) =>
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>shop</title>'),
  ).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.runIf(CHROMIUM)('a page of a named origin reads, watches and downloads with a ticket', async () => {
  const shop = await foreignPage()
  const { client, business } = await startExports('embedded', { env: { WHARF_CORS_ORIGINS: shop } })
  const { task_id } = await client.run({ source_url: business.source({ total: 3 }).url })
  const issued = await client.ask('POST', `/api/exports/${task_id}/ticket`, { key: client.project.key })
  const { ticket } = (await issued.json()) as { ticket: string }
  const origin = new URL(issued.url).origin
  const page = await browse()
  await page.goto(shop)
  const seen = await page.evaluate(
    async ({ origin, task_id, ticket }) => {
      const view = await fetch(`${origin}/api/exports/${task_id}`, {
        headers: { Authorization: `Bearer ${ticket}` },
      })
      const { status } = (await view.json()) as { status: string }
      const event = await new Promise<string>((resolve) => {
        const source = new EventSource(`${origin}/api/events?after=0&task_id=${task_id}&token=${ticket}`)
        const take = (event: Event) => {
          source.close()
          resolve(String((event as MessageEvent).data))
        }
        source.onmessage = take
        for (const name of ['export.pending', 'export.succeeded']) source.addEventListener(name, take)
        source.onerror = () => resolve('refused')
      })
      const file = await fetch(`${origin}/api/exports/${task_id}/file?ticket=${ticket}`)
      const name = file.headers.get('content-disposition')
      const missing = await fetch(`${origin}/api/exports/none`, { headers: { Authorization: 'Bearer none' } })
      return { status, event, name, size: (await file.blob()).size, missing: missing.status }
    },
    { origin, task_id, ticket },
  )
  expect(seen).toMatchObject({ status: 'succeeded', event: expect.stringContaining(task_id), missing: 401 })
  expect(seen.name).toContain('attachment')
  expect(seen.size).toBeGreaterThan(10)
})

test('an origin that is not named learns nothing, and a browser is told what it may send', async () => {
  const { ask } = await startHttp('embedded', { env: { WHARF_CORS_ORIGINS: 'https://shop.example.com' } })
  const from = (origin: string, method = 'GET', headers: Record<string, string> = {}) =>
    ask(method, '/api/session', { headers: { origin, ...headers } })
  const stranger = await from('https://evil.example.com')
  expect(stranger.headers.get('access-control-allow-origin')).toBeNull()
  expect(stranger.headers.get('vary')).toBe('Origin')
  const known = await from('https://shop.example.com')
  expect(known.headers.get('access-control-allow-origin')).toBe('https://shop.example.com')
  expect(known.headers.get('access-control-allow-credentials')).toBeNull()
  const preflight = { 'access-control-request-method': 'POST' }
  const asked = await from('https://shop.example.com', 'OPTIONS', preflight)
  expect([asked.status, await asked.text()]).toEqual([204, ''])
  expect(asked.headers.get('access-control-allow-headers')).toContain('Authorization')
  expect((await from('https://evil.example.com', 'OPTIONS', preflight)).status).toBe(405)
  const closed = await (await startHttp()).ask('GET', '/livez', {
    headers: { origin: 'https://shop.example.com' },
  })
  expect(closed.headers.get('access-control-allow-origin')).toBeNull()
})

test.runIf(CHROMIUM)('/docs works over plain HTTP, by any host name', async () => {
  const { address } = await startHttp()
  const page = await browse('--host-resolver-rules=MAP wharf.test 127.0.0.1')
  await page.goto(address.replace('127.0.0.1', 'wharf.test').concat('/docs'))
  await page.getByText('Register a project').first().waitFor()
})
