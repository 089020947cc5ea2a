import type { AddressInfo } from 'node:net'
import jsonServer from 'json-server'
import { expect, onTestFinished, test } from 'vitest'
import { diagnoseSource } from '../../../../src/app/export.ts'
import { rowsFrom } from './api-server.ts'
import { columnOf, exportSource } from './export-source.ts'

/** A real json-server: pages by `_page` and `_limit`, with `Link` and `X-Total-Count`. */
async function startJsonServer(): Promise<string> {
  const app = jsonServer.create().use(jsonServer.router({ orders: rowsFrom(0, 230) }))
  const { promise: listens, resolve } = Promise.withResolvers<void>()
  const server = app.listen(0, '127.0.0.1', resolve)
  await listens
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('json-server is read to the end by its links, and by the source that the doctor prints', async () => {
  const origin = await startJsonServer()
  const ids = rowsFrom(0, 230).map(({ id }) => String(id))
  const totals = new Set<number | null>()
  const linked = await exportSource(
    {
      preset: 'links',
      url: `${origin}/orders?_page=1&_sort=id`,
      paging: { size_param: '_limit', size: 50 },
    },
    {},
    { onProgress: ({ total }) => totals.add(total) },
  )
  expect(columnOf(linked.lines, 'id')).toEqual(ids)
  expect(linked.warnings).toEqual([])
  expect(totals).toContain(230)
  const signal = new AbortController().signal
  const { source, findings } = await diagnoseSource({ url: `${origin}/orders`, headers: {} }, signal)
  expect(findings.filter(({ level }) => level === 'fail')).toEqual([])
  expect(source).toMatchObject({ rows: '', paging: { style: 'page', page_param: '_page', first: 1 } })
  const { kind: _, ...guessed } = source!
  expect(columnOf((await exportSource(guessed)).lines, 'id')).toEqual(ids)
})
