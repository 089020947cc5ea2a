import { describe, expect, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import type { SavedView } from '../../../src/exports/saved/saved-exports.ts'
import { availableBackends } from '../../support/backends.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../../support/http.ts'

async function setup(name: Parameters<typeof startExports>[0] = 'embedded') {
  const started = await startExports(name)
  const { key } = started.client.project
  const at = (path: string) => `/api/saved-exports/${path}`
  const put = (body: unknown, path = 'monthly') => started.ask('PUT', at(path), { key, body })
  const view = async (path = 'monthly') =>
    (await (await started.ask('GET', at(path), { key })).json()) as SavedView
  const run = (body?: unknown, path = 'monthly') =>
    started.ask('POST', at(`${path}/run`), { key, ...(body !== undefined && { body }) })
  return { ...started, key, at, put, view, run }
}

describe.each(availableBackends())('saved exports on %s', (name) => {
  test('a version that somebody else has changed is not overwritten or deleted', async () => {
    const { business, put, view, ask, key, at } = await setup(name)
    const source_url = business.source({ total: 1 }).url
    const send = (method: 'PUT' | 'DELETE', headers: Record<string, string>, title = '') =>
      ask(method, at('monthly'), {
        key,
        headers,
        ...(method === 'PUT' && { body: { source_url, title, type: 'excel' } }),
      })
    const created = await send('PUT', { 'if-none-match': '*' }, 'first')
    expect([created.status, created.headers.get('etag')]).toEqual([200, (await view()).etag])
    const first = (await view()).etag
    expect((await ask('GET', at('monthly'), { key })).headers.get('etag')).toBe(first)
    const refusal = { status: 412, code: 'SAVED_EXPORT_CHANGED' }
    const { updated_at } = await view()
    expect(await problemOf(send('PUT', { 'if-none-match': '*' }, 'mine'))).toMatchObject({
      ...refusal,
      updated_at,
    })
    const second = (await send('PUT', { 'if-match': first }, 'second')).headers.get('etag') ?? ''
    expect(second).not.toBe(first)
    for (const method of ['PUT', 'DELETE'] as const)
      expect(await problemOf(send(method, { 'if-match': first }, 'mine'))).toMatchObject(refusal)
    expect(await view()).toMatchObject({ request: { title: 'second' }, etag: second })
    expect((await send('PUT', { 'if-match': first }, 'second')).status).toBe(200)
    const weak = { 'if-match': `"other", W/${second}` }
    expect((await send('PUT', weak, 'third')).status).toBe(200)
    expect((await put({ source_url, parameters: { a: 1 } })).status).toBe(200)
    const { etag } = await view()
    expect((await put({ source_url, parameters: { a: 2 } })).headers.get('etag')).not.toBe(etag)
    expect((await send('DELETE', { 'if-match': '*' })).status).toBe(204)
    expect(await problemOf(send('PUT', { 'if-match': etag }, 'mine'))).toMatchObject({
      ...refusal,
      updated_at: null,
    })
  })

  test('of changes to one version at the same time, one is made', async () => {
    const { business, put, view, ask, key, at } = await setup(name)
    const source_url = business.source({ total: 1 }).url
    const all = (headers: Record<string, string>) =>
      Promise.all(
        Array.from({ length: 8 }, async (_, n) => {
          const body = { source_url, title: `of ${n}`, type: 'excel' }
          return (await ask('PUT', at('monthly'), { key, headers, body })).status
        }),
      )
    const once = [200, ...Array<number>(7).fill(412)]
    expect((await all({ 'if-none-match': '*' })).sort()).toEqual(once)
    await put({ source_url })
    expect((await all({ 'if-match': (await view()).etag })).sort()).toEqual(once)
  })

  test('a saved export runs with its defaults or with other parameters, and remembers its runs', async () => {
    const { client, business, put, view, run, ask, key, at } = await setup(name)
    const source = business.source({ total: 1 })
    const body = {
      source_url: `${source.url}?from={{from}}&region={{region}}`,
      title: 'Orders of {{region}}',
      file_name: 'orders {{from}}',
      type: 'excel',
      parameters: { from: '{{last_month.start}}', region: 'north & south' },
    }
    expect(await (await put(body)).json()).toEqual({ name: 'monthly', outcome: 'created' })
    expect(await (await put(body)).json()).toMatchObject({ outcome: 'unchanged' })
    expect(await (await put({ ...body, type: 'csv' })).json()).toMatchObject({ outcome: 'changed' })

    const first = await run()
    expect(first.status).toBe(202)
    const task = (await first.json()) as ExportView
    expect(first.headers.get('location')).toBe(`/api/exports/${task.task_id}`)
    await client.ended(task.task_id)
    const asked = new URL(source.pulls[0]?.target ?? '', business.origin)
    expect(asked.searchParams.get('region')).toBe('north & south')
    expect(asked.searchParams.get('from')).toMatch(/^\d{4}-\d\d-01$/)
    expect(task.file_name).toBe(`orders ${asked.searchParams.get('from')}`)

    const second = (await (await run({ parameters: { region: 'a/../b?c#d' } })).json()) as ExportView
    await client.ended(second.task_id)
    const other = new URL(source.pulls.at(-1)?.target ?? '', business.origin)
    expect([other.pathname, other.searchParams.get('region')]).toEqual([asked.pathname, 'a/../b?c#d'])

    const runs = (await (await ask('GET', at('monthly/runs'), { key })).json()) as { items: object[] }
    expect(runs.items).toMatchObject([
      { task_id: second.task_id, by: 'request', due_at: null, status: 'succeeded', error: null },
      { task_id: task.task_id, parameters: { region: 'north & south' } },
    ])
    const page = (await (await ask('GET', at('monthly/runs?limit=1'), { key })).json()) as {
      next_cursor: string
    }
    const next = await ask('GET', at(`monthly/runs?limit=1&cursor=${page.next_cursor}`), { key })
    expect(await next.json()).toMatchObject({ items: [{ task_id: task.task_id }], next_cursor: null })
    expect(await view()).toMatchObject({
      last_run: { task_id: second.task_id },
      failing: null,
      next_run_at: null,
    })
    const list = await ask('GET', '/api/saved-exports?limit=1', { key })
    expect(await list.json()).toMatchObject({ items: [{ name: 'monthly' }], next_cursor: null })

    expect((await ask('DELETE', at('monthly'), { key })).status).toBe(204)
    expect(await problemOf(run())).toMatchObject({ status: 404, code: 'SAVED_EXPORT_NOT_FOUND' })
    expect((await client.task(task.task_id)).status).toBe('succeeded')
  })

  test('secrets are sealed in the ledger and shown nowhere', async () => {
    const { business, put, view, ledger, run, client } = await setup(name)
    const source = business.source({ total: 1 })
    const url = source.url.replace('http://', 'http://anna:pass-word-1@')
    await put({ source_url: url, source_headers: { Authorization: 'secret-token-2' } })
    const shown = await view()
    expect(shown.sealed).toEqual(['source_headers.Authorization', 'source_url'])
    expect(shown.request).toEqual({ source_url: source.url.replace('http://', 'http://anna:***@') })
    const rows = await ledger.db.selectFrom('saved_exports').selectAll().execute()
    for (const secret of ['pass-word-1', 'secret-token-2'])
      expect([JSON.stringify(shown), JSON.stringify(rows)].filter((text) => text.includes(secret))).toEqual(
        [],
      )
    const { task_id } = (await (await run()).json()) as ExportView
    await client.ended(task_id)
    expect(source.pulls[0]?.headers.authorization).toBe('secret-token-2')
  })
})

test('a run with the same Idempotency-Key is one run', async () => {
  const { business, put, ask, key, at } = await setup()
  await put({ source_url: business.source({ total: 1 }).url })
  const once = { key, headers: { 'idempotency-key': 'one' } }
  const ids = []
  for (let n = 0; n < 2; n++)
    ids.push(((await (await ask('POST', at('monthly/run'), once)).json()) as ExportView).task_id)
  expect(new Set(ids).size).toBe(1)
  expect(await (await ask('GET', at('monthly/runs'), { key })).json()).toMatchObject({ items: [{}] })
})

test('what a saved export has wrong is refused when it is stored, with its place', async () => {
  const { business, put, ask, key, at, run, wharf } = await setup()
  const source_url = business.source({ total: 1 }).url
  const wrong: [body: object, detail: RegExp, status?: number][] = [
    [{}, /source_url is missing/],
    [{ source_url, template: [{ nome: 1 }] }, /template\[0\]/],
    [{ source_url, template: { use: 'nobody' } }, /no template 'nobody'/, 404],
    [{ source_url: `${source_url}?a={{b}}` }, /source_url names \{\{b\}\}/],
    [{ source_url: 'http://{{host}}/', parameters: { host: 'a' } }, /must name its host itself/],
    [{ source_url: `${source_url}/{{up}}/x`, parameters: { up: '..' } }, /step upwards/],
    [{ source_url, parameters: { today: 'x' } }, /parameters\.today is a word with a meaning/],
    [
      { source_url, parameters: { from: '{{last_moon}}' } },
      /parameters\.from names \{\{last_moon\}\}.*last_month/,
    ],
    [{ source_url, parameters: { 'a b': 1 } }, /is no name/],
    [{ source_url, title: '{{nobody}}' }, /title names/],
    [{ source_url, schedule: { cron: '* * * * * *', timezone: 'UTC' } }, /five fields/],
    [{ source_url, schedule: { cron: '0 25 * * *', timezone: 'UTC' } }, /hour: 25/],
    [{ source_url, schedule: { cron: '0 0 30 2 *', timezone: 'UTC' } }, /never comes/],
    [{ source_url, schedule: { cron: '0 0 * * *', timezone: 'Mars/Base' } }, /Mars\/Base/],
    [{ source_url, schedule: { cron: '2030-01-01T00:00:00', timezone: 'UTC' } }, /five fields/],
    [
      { source: { kind: 'sql', connection: 'c', query: 'select {{x}}' }, parameters: { x: 1 } },
      /source\.query must not have/,
    ],
  ]
  for (const [body, detail, status = 400] of wrong) {
    const problem = await problemOf(put(body))
    expect([problem.status, problem.detail]).toEqual([status, expect.stringMatching(detail)])
  }
  expect((await ask('GET', at('monthly'), { key })).status).toBe(404)
  await put({ source_url, parameters: { region: 'x' } })
  expect(await problemOf(run({ parameters: { reigon: 'y' } }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('parameters.reigon is not known; this saved export has region'),
  })
  expect((await ask('GET', at('monthly'), { key: ADMIN_TOKEN })).status).toBe(400)
  expect((await ask('GET', at('monthly'), { key: (await newProject(wharf)).key })).status).toBe(404)
})
