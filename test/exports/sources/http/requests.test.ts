import { expect, test } from 'vitest'
import { problemOf, startExports } from '../../../support/export-client.ts'
import { rowsFrom, startApi } from './api-server.ts'

async function ordersApi() {
  return startApi((request) => {
    const [page, size] = [request.number('p', 1) - 1, request.number('n', 50)]
    return { body: { list: rowsFrom(page * size, Math.min(120, (page + 1) * size)), count: 120 } }
  })
}

const shape = {
  rows: 'list',
  total: 'count',
  paging: { page_param: 'p', size_param: 'n', first: 1, size: 50 },
}

test('an export, a file at once and a preview take a source of another shape', async () => {
  const { client, ask } = await startExports()
  const api = await ordersApi()
  const source = { kind: 'http', url: `${api.origin}/orders`, ...shape }
  const view = await client.run({ source, file_name: 'orders' })
  expect(view).toMatchObject({
    file: { rows: 120, name: 'orders.csv' },
    progress: { fetched: 120, total: 120 },
  })
  expect(await client.lines(view.task_id)).toHaveLength(121)
  const sync = await ask('POST', '/api/exports?mode=sync', {
    key: client.project.key,
    body: { source, csv: { bom: false } },
  })
  expect((await sync.text()).split('\r\n')).toHaveLength(122)
  const preview = await ask('POST', '/api/exports/preview', { key: client.project.key, body: { source } })
  const { tables } = (await preview.json()) as { tables: { total: number; rows: unknown[][] }[] }
  expect(tables).toMatchObject([{ total: 120, columns: [{ name: 'id' }, { name: 'name' }] }])
  expect(tables[0]?.rows).toHaveLength(20)
  expect(api.asked.at(-1)?.url.search).toBe('?n=20&p=1')
})

test('headers, credentials and body are on no page of the ledger, and in no answer', async () => {
  const { client, ask, wharf } = await startExports()
  const { origin } = await startApi(() => ({ status: 403, body: {} }))
  const url = `${origin}/x?token=url-secret`
  const sources = [
    { kind: 'http', url, rows: 'list', headers: { 'X-Key': 'header-secret' }, body: { key: 'body-secret' } },
    { kind: 'http', url, rows: 'list', auth: { kind: 'basic', username: 'u', password: 'basic-secret' } },
  ]
  for (const source of sources) {
    const view = await client.ended((await client.start({ source })).task_id)
    expect(view).toMatchObject({ status: 'failed', error: { code: 'SOURCE_STATUS' } })
    expect(JSON.stringify(view)).not.toContain('secret')
  }
  const rows = await wharf.ledger.db.selectFrom('jobs').selectAll().execute()
  expect(rows.length).toBeGreaterThan(1)
  expect(JSON.stringify(rows)).not.toContain('secret')
  const events = await ask('GET', '/api/audit', { key: 'admin-token-for-tests' })
  expect(await events.text()).not.toContain('secret')
})

test('what is wrong with a source is said with its place, and nothing is stored', async () => {
  const { client } = await startExports()
  const url = 'http://127.0.0.1:9/x'
  const wrong: [object, RegExp][] = [
    [{ kind: 'http' }, /source.*url/],
    [{ kind: 'http', url, paginate: {} }, /source.*paginate|additional/],
    [{ kind: 'ftp', url }, /source/],
    [{ kind: 'http', url, paging: { size: 10_001 } }, /source.*size|10000/],
    [{ kind: 'http', url, paging: { style: 'pages' } }, /source.*style|allowed/],
    [{ kind: 'http', url, method: 'GET', body: {} }, /source.body needs the method POST/],
    [{ kind: 'http', url, body: { a: '{{cursor}}' } }, /needs the paging style cursor/],
    [{ kind: 'http', url, rows: 'a..b' }, /source.rows is 'a..b'/],
    [{ kind: 'http', url: 'ftp://x/' }, /source.url.*no http/],
    [{ kind: 'http', url: 'http://10.0.0.1/' }, /source.url/],
    [{ kind: 'http', url, headers: { 'webhook-id': 'x' } }, /source.headers must not have webhook-id/],
    [{ kind: 'http', url, headers: { Host: 'x' } }, /source.headers are invalid/],
    [
      {
        kind: 'http',
        url,
        headers: { Authorization: 'x' },
        auth: { kind: 'basic', username: '', password: '' },
      },
      /exclude/,
    ],
    [
      {
        kind: 'http',
        url,
        auth: { kind: 'oauth2', token_url: 'http://10.0.0.1/t', client_id: 'a', client_secret: 'b' },
      },
      /source.auth.token_url/,
    ],
    [{ kind: 'http', url, preset: 'elasticsearch', body: { query: {} } }, /source.body needs a sort/],
    [{ kind: 'http', url, preset: 'csv', paging: { style: 'page' } }, /comes in one piece/],
  ]
  for (const [source, reason] of wrong) {
    const problem = await problemOf(client.post({ source }))
    expect(problem.status, JSON.stringify(problem)).toBeLessThan(500)
    expect(`${problem.detail} ${JSON.stringify(problem.errors)}`, JSON.stringify(source)).toMatch(reason)
  }
  const both = await problemOf(client.post({ source: { kind: 'http', url }, source_headers: { a: 'b' } }))
  expect(both.detail).toMatch(/source_headers are for a source_url/)
})

test("a project's masks hold for values inside of objects, and for objects around them", async () => {
  const { client, ask } = await startExports()
  const api = await startApi(() => ({
    body: { data: [{ id: 1, customer: { phone: '13812345678', address: { city: 'x' } } }] },
  }))
  const masks = { 'customer.phone': 'phone', 'customer.address': 'fixed' }
  await ask('PUT', `/api/projects/${client.project.id}`, { key: 'admin-token-for-tests', body: { masks } })
  const source = { kind: 'http', url: api.origin, paging: { style: 'none' } }
  const names = ['customer.phone', 'customer.address.city', 'customer']
  const view = await client.run({ source, template: names.map((name) => ({ name })) })
  expect((await client.lines(view.task_id))[1]).toBe('"138****5678","***","***"')
  const all = await client.run({ source })
  expect((await client.lines(all.task_id))[1]).toBe('1,"***"')
})
