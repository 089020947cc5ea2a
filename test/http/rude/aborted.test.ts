import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { BusinessSystem } from '../../support/business-system.ts'
import { startPostgres } from '../../support/postgres-server.ts'
import {
  firstBytes,
  nextTurn,
  openConnection,
  requestHead,
  upgradeHead,
} from '../../support/raw-connection.ts'
import { startSource } from '../../support/source-server.ts'
import { until } from '../../support/until.ts'
import { type RudeServer, startRudeServer } from './rude-server.ts'

/** A file that is larger than what is under way, and clients that begin to fetch it. */
async function makeFile({ address, client }: Pick<RudeServer, 'address' | 'client'>) {
  const business = await BusinessSystem.start()
  const { url } = business.source({ total: 1_000, row: (n) => ({ id: n, text: 'x'.repeat(24_000) }) })
  const { task_id: id } = await client.run({ source_url: url, type: 'csv', page_size: 100 })
  const head = requestHead({
    method: 'GET',
    path: `/api/exports/${id}/file`,
    headers: { Authorization: `Bearer ${client.project.key}` },
  })
  const fetchSome = async () => {
    const socket = await openConnection(address)
    socket.write(head)
    expect(await firstBytes(socket)).toMatch(/^HTTP\/1.1 200/)
    return socket
  }
  return { id, fetchSome }
}

test('a download that is broken off ends neither the server nor its record', async () => {
  const server = await startRudeServer('embedded')
  const { client, isWell } = server
  const { id, fetchSome } = await makeFile(server)
  for (let round = 0; round < 20; round++) {
    const socket = await fetchSome()
    if (round % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
    await isWell()
  }
  const downloads = await until('all of them are recorded', async () => {
    const items = await client.items<{ address: string; complete: boolean }>(id, 'downloads')
    return items.length === 20 && items
  })
  expect(new Set(downloads.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
  expect(downloads.filter(({ complete }) => complete)).toEqual([])
})

test('a download that is broken off while the ledger is away ends nothing either', async ({ skip }) => {
  const postgres = await startPostgres({ fsync: false })
  if (!postgres) return skip('needs the program postgres')
  onTestFinished(() => postgres.remove())
  const server = await startRudeServer('embedded', { DATABASE_URL: postgres.url })
  const { fetchSome } = await makeFile(server)
  const socket = await fetchSome()
  await postgres.stop()
  socket.resetAndDestroy()
  await until('its record could not be written', () => server.said('recording a download: '))
  await postgres.start()
  await until('it is ready again', async () => (await fetch(`${server.address}/readyz`)).ok)
  await server.isWell()
})

test('a WebSocket that is reset while it is let in ends nothing', async () => {
  const { address, isWell } = await startRudeServer('embedded')
  for (const path of ['/ws?task_id=x', '/ws/agent', '/nothing']) {
    for (let round = 0; round < 20; round++) {
      const socket = await openConnection(address)
      socket.write(upgradeHead(path))
      for (let turn = 0; turn < round % 5; turn++) await nextTurn()
      socket.resetAndDestroy()
      await isWell()
    }
  }
})

test('callers that hang up in the middle are no error in the log', async () => {
  const { address, client, isWell, errors } = await startRudeServer('embedded')
  const asked: ServerResponse[] = []
  // A source that takes its time: whoever waits for it can hang up.
  const slow = await startSource(({ response }) => void asked.push(response))
  const authorization = { Authorization: `Bearer ${client.project.key}` }
  const body = JSON.stringify({ source_url: slow })
  const json = { ...authorization, 'Content-Type': 'application/json', 'Content-Length': body.length }
  const post = (path: string) => requestHead({ method: 'POST', path, headers: json }) + body
  const upload = { ...authorization, 'Content-Length': 1_000_000 }
  const requests: [string, () => unknown][] = [
    [post('/api/exports/preview'), () => asked.length > 0],
    [post('/api/exports?mode=sync'), () => asked.length > 0],
    [`${requestHead({ method: 'PUT', path: '/api/repository/a', headers: upload })}half`, () => true],
    [
      `${requestHead({ method: 'POST', path: '/api/exports', headers: { ...json, ...upload } })}{`,
      () => true,
    ],
  ]
  for (const [bytes, isUnderWay] of requests) {
    for (const end of ['destroy', 'resetAndDestroy'] as const) {
      asked.length = 0
      const before = (await (await fetch(`${address}/metrics`)).text()).match(GONE)?.[1] ?? '0'
      const socket = await openConnection(address)
      socket.write(bytes)
      await until('the request is under way', isUnderWay)
      socket[end]()
      await until('the server has noticed', async () => {
        const seen = (await (await fetch(`${address}/metrics`)).text()).match(GONE)?.[1] ?? '0'
        return Number(seen) > Number(before)
      })
    }
  }
  await isWell()
  expect(errors()).toEqual([])
})

const GONE = /^wharf_problems_total\{code="CALLER_GONE"\} (\d+)$/m
