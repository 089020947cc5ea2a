import { describe, expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../../support/http.ts'

const FIRST = [{ name: 'name', title: 'Name' }]
const SECOND = { id: 'No.', name: 'Who' }

async function setup(name: Parameters<typeof startExports>[0] = 'embedded') {
  const started = await startExports(name)
  const { key } = started.client.project
  const put = (template: unknown, query = '', path = 'people') =>
    started.ask('PUT', `/api/templates/${path}${query}`, { key, body: { template } })
  const get = (path: string) => started.ask('GET', `/api/templates${path}`, { key })
  return { ...started, key, put, get }
}

describe.each(availableBackends())('templates by name on %s', (name) => {
  test('a request uses a template by name, and its task remembers the version that it used', async () => {
    const { client, business, put, get, ask, key } = await setup(name)
    const source_url = business.source({ total: 2, row: (n) => ({ id: n, name: `n${n}` }) }).url
    expect(await (await put(FIRST)).json()).toEqual({ name: 'people', outcome: 'created' })
    expect(await (await put(FIRST)).json()).toMatchObject({ outcome: 'unchanged' })
    const first = await client.run({ source_url, template: { use: 'people' } })
    expect(first.templates).toEqual([{ name: 'people', version: 1 }])
    expect(await client.lines(first.task_id)).toEqual(['"Name"', '"n0"', '"n1"'])

    expect(await (await put(SECOND, '?dry_run=true')).json()).toMatchObject({ outcome: 'changed' })
    expect(await (await get('/people')).json()).toMatchObject({ version: 1, template: FIRST })
    expect(await (await put(SECOND)).json()).toMatchObject({ outcome: 'changed' })
    const sheets = [{ name: 'one', source_url, template: { use: 'people' } }]
    const second = await client.run({ type: 'excel', sheets })
    expect(second.templates).toEqual([{ name: 'people', version: 2 }])
    expect((await client.sheets(second.task_id))[0]?.cells).toMatchObject({
      A1: { value: 'No.' },
      B1: { value: 'Who' },
    })
    expect((await client.task(first.task_id)).templates).toEqual([{ name: 'people', version: 1 }])

    expect((await ask('DELETE', '/api/templates/people', { key })).status).toBe(204)
    expect(await problemOf(get('/people'))).toMatchObject({ status: 404, code: 'TEMPLATE_NOT_FOUND' })
    expect(await (await get('/people?version=1')).json()).toMatchObject({ template: FIRST })
    expect(await (await put(FIRST)).json()).toMatchObject({ outcome: 'created' })
    expect(await (await get('/people')).json()).toMatchObject({ version: 3 })
    // What is retried is the request as it was accepted.
    expect((await client.task(second.task_id)).templates).toEqual([{ name: 'people', version: 2 }])
  })

  test('changes at the same time each get a version of their own', async () => {
    const { put, get } = await setup(name)
    const titles = Array.from({ length: 8 }, (_, n) => `Title ${n}`)
    await Promise.all(titles.map((title) => put({ id: title })))
    expect(await (await get('/people')).json()).toMatchObject({ version: 8 })
    const kept = await Promise.all(
      titles.map(
        async (_, n) => (await get(`/people?version=${n + 1}`)).json() as Promise<{ template: object }>,
      ),
    )
    expect(kept.map(({ template }) => Object.values(template)[0]).sort()).toEqual(titles)
  })

  test('templates are listed by name, a page at a time', async () => {
    const { put, get } = await setup(name)
    for (const path of ['c', 'a', 'b']) await put(FIRST, '', path)
    const page = (await (await get('?limit=2')).json()) as { items: { name: string }[]; next_cursor: string }
    expect(page.items.map((item) => item.name)).toEqual(['a', 'b'])
    expect(await (await get(`?cursor=${page.next_cursor}`)).json()).toMatchObject({
      items: [{ name: 'c', version: 1 }],
      next_cursor: null,
    })
  })
})

test('a name that the project does not have, a bad template and another key are refused in words', async () => {
  const { client, business, put, ask, wharf } = await setup()
  const source_url = business.source({ total: 1 }).url
  await put(FIRST)
  expect(await problemOf(client.post({ source_url, template: { use: 'nobody' } }))).toMatchObject({
    status: 404,
    code: 'TEMPLATE_NOT_FOUND',
    detail: "there is no template 'nobody' in this project",
  })
  for (const template of ['text', null, { use: 'people' }, [{ nome: 'a' }]])
    expect(await problemOf(put(template)), JSON.stringify(template)).toMatchObject({
      status: 400,
      code: 'TEMPLATE_INVALID',
    })
  const other = await newProject(wharf)
  const foreign = await ask('POST', '/api/exports', {
    key: other.key,
    body: { source_url, template: { use: 'people' } },
  })
  expect(await problemOf(foreign)).toMatchObject({ code: 'TEMPLATE_NOT_FOUND' })
  expect((await ask('GET', '/api/templates/people', { key: ADMIN_TOKEN })).status).toBe(400)
})

test('keys that look like numbers keep their place, when a template is used and when it is read', async () => {
  const { client, business, ask, key, get } = await setup()
  await ask('PUT', '/api/templates/years', { key, body: '{"template":{"name":"Name","2024":"This year"}}' })
  expect(await (await get('/years')).text()).toContain('"template":{"name":"Name","2024":"This year"}')
  const source_url = business.source({ total: 1, row: () => ({ name: 'n', 2024: 7 }) }).url
  const { task_id } = await client.run({ source_url, template: { use: 'years' } })
  expect(await client.lines(task_id)).toEqual(['"Name","This year"', '"n",7'])
})
