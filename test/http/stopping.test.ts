import { existsSync, readdirSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { bearer, openEvents, openSocket } from '../support/event-readers.ts'
import { startExports } from '../support/export-client.ts'
import { until } from '../support/until.ts'

test('a server that stops answers what it has begun, and does not wait for connections that are kept alive', async () => {
  const { address, business, client, stop } = await startExports('embedded', {
    env: { WHARF_DRAIN_SECONDS: '60' },
  })
  const source = business.source({ total: 1 })
  source.holdFrom(0)
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  const status = new Promise<number | undefined>((resolve, reject) => {
    const asked = request(`${address}/api/exports/preview`, {
      agent,
      method: 'POST',
      headers: { authorization: `Bearer ${client.project.key}`, 'content-type': 'application/json' },
    })
    asked.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject)
    asked.end(JSON.stringify({ source_url: source.url }))
  })
  await source.untilHeld()
  let stopped = false
  const stopping = stop().then(() => {
    stopped = true
  })
  source.release()
  expect(await status).toBe(200)
  await until('it has stopped, though the client holds its connection', () => stopped)
  await stopping
})

test('a server that stops ends sockets and streams of events', async () => {
  const { address, client, stop } = await startExports()
  const { socket } = await openSocket(`${address}/ws`, bearer(client.project.key))
  await openEvents(`${address}/api/events`, { authorization: `Bearer ${client.project.key}` })
  let code = 0
  socket.on('close', (reason) => {
    code = reason
  })
  await stop()
  await until('the socket is told', () => code === 1001)
})

test('a caller who goes away during a sync export leaves nothing behind', async () => {
  const { address, business, client, config } = await startExports()
  const source = business.source({ total: 250 })
  source.holdFrom(1)
  const gone = new AbortController()
  const asked = fetch(`${address}/api/exports?mode=sync`, {
    method: 'POST',
    headers: { authorization: `Bearer ${client.project.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ source_url: source.url, page_size: 100 }),
    signal: gone.signal,
  }).catch((error: Error) => error.name)
  await source.untilHeld()
  const folder = join(config.WHARF_DATA_DIR, 'sync')
  expect(readdirSync(folder)).toHaveLength(1)
  gone.abort()
  expect(await asked).toBe('AbortError')
  await until('its spool is removed', () => !existsSync(folder) || readdirSync(folder).length === 0)
  expect(source.pages).not.toContain(2)
})
