import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ExportClient } from '../../support/export-client.ts'
import { ADMIN_TOKEN, type Ask, newProject } from '../../support/http.ts'
import { firstBytes, openConnection, requestHead, upgradeHead } from '../../support/raw-connection.ts'
import { until } from '../../support/until.ts'
import { serveWharf } from '../../support/wharf-process.ts'

const ROWS = 200_000

async function setup() {
  const { address, exited } = await serveWharf({
    WHARF_ADMIN_TOKEN: ADMIN_TOKEN,
    WHARF_RATE_LIMIT: '10000/s',
  })
  const ask = (method: string, path: string, { key = ADMIN_TOKEN, body }: Ask = {}) =>
    fetch(`${address}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const client = new ExportClient(ask, await newProject({ ask }))
  const alive = async () => {
    const answer = await Promise.race([fetch(`${address}/metrics`), exited])
    if (!(answer instanceof Response)) throw new Error(`the server has ended: ${JSON.stringify(answer)}`)
    expect(await answer.text()).toMatch(/^wharf_unforeseen_errors_total 0$/m)
  }
  return { address, ask, client, alive }
}

test('a download that is broken off ends neither the server nor its record', async () => {
  const { address, client, alive } = await setup()
  const { task_id: id } = await client.run({ source_url: `${address}/samples/orders?rows=${ROWS}` })
  const head = requestHead({
    method: 'GET',
    path: `/api/exports/${id}/file`,
    headers: { Authorization: `Bearer ${client.project.key}` },
  })
  for (let round = 0; round < 20; round++) {
    const socket = await openConnection(address)
    socket.write(head)
    expect(await firstBytes(socket)).toMatch(/^HTTP\/1.1 200/)
    if (round % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
    await alive()
  }
  const downloads = await until('all of them are recorded', async () => {
    const items = await client.items<{ address: string; complete: boolean }>(id, 'downloads')
    return items.length === 20 && items
  })
  expect(new Set(downloads.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
  expect(downloads.filter(({ complete }) => complete)).toEqual([])
})

test('a WebSocket that is reset while it is let in ends nothing', async () => {
  const { address, alive } = await setup()
  for (const path of ['/ws?task_id=x', '/ws/agent', '/nothing']) {
    for (let round = 0; round < 20; round++) {
      const socket = await openConnection(address)
      socket.write(upgradeHead(path))
      for (let turn = 0; turn < round % 5; turn++) await nextTurn()
      socket.resetAndDestroy()
      await alive()
    }
  }
})
