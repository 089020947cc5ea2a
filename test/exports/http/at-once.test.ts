import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problemOf, startExports } from '../../support/export-client.ts'
import { until } from '../../support/until.ts'

test('small data comes at once in sync mode, more than that is refused with the reason', async () => {
  const { business, client, config } = await startExports('embedded', { env: { WHARF_SYNC_MAX_ROWS: '200' } })
  const ask = (body: unknown) =>
    client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body })
  const source = business.source({ total: 150 })
  const answer = await ask({ source_url: source.url, file_name: '今天', page_size: 100 })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="__.csv"; filename*=UTF-8''${encodeURIComponent('今天')}.csv`,
  )
  expect((await answer.text()).split('\r\n')).toHaveLength(152)
  const big = business.source({ total: 201 })
  const problem = await problemOf(ask({ source_url: big.url }))
  expect(problem).toMatchObject({ status: 413, code: 'SOURCE_TOO_LARGE' })
  expect(problem.detail).toMatch(/201 rows.*200.*without mode=sync/)
  const broken = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
  expect(await problemOf(ask({ source_url: broken.url }))).toMatchObject({
    status: 502,
    code: 'SOURCE_STATUS',
  })
  expect(await problemOf(ask({ source_url: 'http://10.0.0.1/' }))).toMatchObject({ code: 'ADDRESS_REFUSED' })
  await until('nothing is left behind', () => readdirSync(join(config.WHARF_DATA_DIR, 'sync')).length === 0)
  const list = await client.ask('GET', `/api/projects/${client.project.id}/exports`, {
    key: client.project.key,
  })
  expect(await list.json()).toMatchObject({ items: [] })
})

test('sync mode refuses what only a task can do', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 1 })
  const ask = (body: object) =>
    client.ask('POST', '/api/exports?mode=sync', {
      key: client.project.key,
      body: { source_url: source.url, ...body },
    })
  for (const body of [
    { callback: 'https://a.example/told' },
    { notify: { email: ['a@a.example'] } },
    { keep_hours: 1 },
    { keep_rows_hours: 1 },
    { link_hours: 1 },
    { link_uses: 1 },
  ]) {
    const [path] = Object.keys(body)
    expect(await problemOf(ask(body))).toMatchObject({
      code: 'REQUEST_INVALID',
      errors: [{ path, message: expect.stringContaining('without mode=sync') }],
    })
  }
})

test('query parameters that do not exist are refused', async () => {
  const { business, client } = await startExports()
  const body = { source_url: business.source().url }
  for (const path of ['/api/exports?mod=sync', '/api/exports/preview?mode=sync'])
    expect(await problemOf(client.ask('POST', path, { key: client.project.key, body }))).toMatchObject({
      code: 'REQUEST_INVALID',
      detail: expect.stringMatching(/querystring .*mod/),
    })
  const list = `/api/projects/${client.project.id}/exports?state=failed`
  expect(await problemOf(client.ask('GET', list, { key: client.project.key }))).toMatchObject({
    code: 'REQUEST_INVALID',
  })
})

test('a preview shows the first rows and the laid-out header, and stores nothing', async () => {
  const { address, client } = await startExports()
  const answer = await client.ask('POST', '/api/exports/preview', {
    key: client.project.key,
    body: { source_url: `${address}/samples/orders?rows=1000`, type: 'excel', title: 'T' },
  })
  expect(answer.status).toBe(200)
  const { tables } = (await answer.json()) as {
    tables: { total: number; columns: object[]; rows: unknown[][]; top: object }[]
  }
  expect(tables).toHaveLength(1)
  expect(tables[0]).toMatchObject({ total: 1000, rows: { length: 20 }, columns: { length: 10 } })
  expect(tables[0]?.rows[0]?.[0]).toBe('W0000000001')
  expect(JSON.stringify(tables[0]?.top)).toContain('收入 Income')
  const list = await client.ask('GET', `/api/projects/${client.project.id}/exports`, {
    key: client.project.key,
  })
  expect(await list.json()).toMatchObject({ items: [] })
})
