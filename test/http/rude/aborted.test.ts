import { expect, test } from 'vitest'
import {
  firstBytes,
  nextTurn,
  openConnection,
  requestHead,
  upgradeHead,
} from '../../support/raw-connection.ts'
import { until } from '../../support/until.ts'
import { startRudeServer } from './rude-server.ts'

const ROWS = 200_000

test('a download that is broken off ends neither the server nor its record', async () => {
  const { address, client, isWell } = await startRudeServer('embedded')
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
    await isWell()
  }
  const downloads = await until('all of them are recorded', async () => {
    const items = await client.items<{ address: string; complete: boolean }>(id, 'downloads')
    return items.length === 20 && items
  })
  expect(new Set(downloads.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
  expect(downloads.filter(({ complete }) => complete)).toEqual([])
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
