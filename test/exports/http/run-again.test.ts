import { describe, expect, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../../support/http.ts'

interface Shown {
  request: Record<string, unknown>
  written: Record<string, unknown> | null
  sealed: string[]
}

async function setup(name: Parameters<typeof startExports>[0] = 'embedded') {
  const started = await startExports(name)
  const { key } = started.client.project
  const ask = (method: string, path: string, body?: unknown, as = key) =>
    started.ask(method, path, { key: as, ...(body !== undefined && { body }) })
  const asked = async (taskId: string) =>
    (await (await ask('GET', `/api/exports/${taskId}/request`)).json()) as Shown
  const again = async (taskId: string, query = '') =>
    (await (await ask('POST', `/api/exports/${taskId}/run-again${query}`)).json()) as ExportView
  return { ...started, ask, key, asked, again }
}

describe.each(availableBackends())('asking again on %s', (name) => {
  test('an export can be looked at and run again with its secrets, which are shown nowhere', async () => {
    const { client, business, ledger, asked, again } = await setup(name)
    const source = business.source({ total: 2 })
    const url = source.url.replace('http://', 'http://anna:pass-word-1@')
    const body = {
      source_url: `${url}?month={{last_month}}`,
      source_headers: { Authorization: 'secret-token-2', Accept: 'application/json' },
      type: 'csv',
      operator_id: 'lin',
      // Years as columns: their order is that of the request.
      template: { b: 'B', 2024: 'Last', 1: 'First' },
      parameters: {},
    }
    const first = await client.run(body)
    const shown = await asked(first.task_id)
    expect(shown.sealed).toEqual(['source_headers.Authorization', 'source_headers.Accept', 'source_url'])
    expect(shown.request).toMatchObject({ type: 'csv', operator_id: 'lin' })
    expect(shown.request.source_url).toMatch(/^http:\/\/anna:\*\*\*@.*month=\d{4}-\d\d$/)
    const second = await client.ended((await again(first.task_id)).task_id)
    expect([second.status, second.operator_id]).toEqual(['succeeded', 'lin'])
    expect(second.task_id).not.toBe(first.task_id)
    const pulls = source.pulls.map(({ headers, target }) => `${headers.authorization} ${target}`)
    expect(pulls.slice(pulls.length / 2)).toEqual(pulls.slice(0, pulls.length / 2))
    expect(pulls[0]).toContain('secret-token-2')
    const rows = [
      ...(await ledger.db.selectFrom('tasks').selectAll().execute()),
      ...(await ledger.db.selectFrom('jobs').selectAll().execute()),
    ]
    for (const secret of ['pass-word-1', 'secret-token-2'])
      expect(
        [JSON.stringify(shown), JSON.stringify(rows)].filter((text) => text.includes(secret)),
        secret,
      ).toEqual([])
  })

  test('words for dates are kept beside what they stood for, and are filled in anew where that is asked for', async () => {
    const { client, business, ask, asked, again } = await setup(name)
    const source = business.source({ total: 1 })
    const words = {
      source_url: `${source.url}?at={{now}}&region={{region}}`,
      source_headers: { 'X-Token': 'secret-token-4' },
    }
    const first = await client.run({ ...words, parameters: { region: 'north' } })
    const targets = () => new Set(source.pulls.map(({ target }) => target.split('&region')[0]))
    const shown = await asked(first.task_id)
    expect(shown.request).not.toHaveProperty('parameters')
    expect(shown.request.source_url).toMatch(/at=20[^&]*Z&region=north$/)
    expect(shown.written).toMatchObject({ source_url: words.source_url, parameters: { region: 'north' } })
    expect(JSON.stringify(shown)).not.toContain('secret-token-4')

    const same = await client.ended((await again(first.task_id)).task_id)
    expect([same.status, targets().size]).toEqual(['succeeded', 1])
    expect(await asked(same.task_id)).toEqual(shown)
    const today = await client.ended((await again(same.task_id, '?dates=today')).task_id)
    expect([today.status, targets().size]).toEqual(['succeeded', 2])
    expect((await asked(today.task_id)).written).toEqual(shown.written)
    expect((await ask('POST', `/api/exports/${first.task_id}/run-again?dates=then`)).status).toBe(400)

    // Under a name it keeps its words.
    const source_headers = { 'X-Token': 'sealed:source_headers.X-Token' }
    const saved = { ...shown.written, source_headers, sealed_from: { task_id: today.task_id } }
    expect((await ask('PUT', '/api/saved-exports/monthly', saved)).status).toBe(200)
    const body = { parameters: { region: 'south' } }
    const run = (await (await ask('POST', '/api/saved-exports/monthly/run', body)).json()) as ExportView
    await client.ended(run.task_id)
    expect(source.pulls.at(-1)?.target).toContain('region=south')
    expect(source.pulls.at(-1)?.headers).toMatchObject({ 'x-token': 'secret-token-4' })
    expect((await asked(run.task_id)).written).toEqual({ ...shown.written, ...body })

    const plain = await client.run({ source_url: source.url, parameters: {} })
    expect((await asked(plain.task_id)).written).toBeNull()
  })

  test('a changed request keeps secrets by name, and only for the place that they were given for', async () => {
    const { client, business, ask } = await setup(name)
    const source = business.source({ total: 1 })
    const other = business.source({ total: 1 })
    const first = await client.run({
      source_url: source.url,
      source_headers: { 'X-Token': 'secret-token-3' },
    })
    expect(await problemOf(ask('POST', `/api/exports/${first.task_id}/retry`))).toMatchObject({
      status: 409,
      code: 'TASK_FINISHED',
    })
    const sealed_from = { task_id: first.task_id }
    const source_headers = { 'X-Token': 'sealed:source_headers.X-Token' }
    const body = { source_url: `${source.url}?month=2026-02`, source_headers, sealed_from }
    await client.run(body)
    expect(source.pulls.at(-1)).toMatchObject({ headers: { 'x-token': 'secret-token-3' } })

    const saved = '/api/saved-exports/monthly'
    expect((await ask('PUT', saved, body)).status).toBe(200)
    const kept = { ...body, sealed_from: { saved_export: 'monthly' }, title: 'Changed' }
    expect(await (await ask('PUT', saved, kept)).json()).toMatchObject({ outcome: 'changed' })
    await ask('POST', `${saved}/run`)
    await expect.poll(() => source.pulls.at(-1)?.target).toContain('month=2026-02')
    expect(source.pulls.at(-1)).toMatchObject({ headers: { 'x-token': 'secret-token-3' } })

    for (const path of ['/api/exports', '/api/exports/preview', '/api/saved-exports/elsewhere']) {
      const method = path.includes('saved') ? 'PUT' : 'POST'
      expect(await problemOf(ask(method, path, { ...body, source_url: other.url }))).toMatchObject({
        status: 400,
        detail: expect.stringContaining('is kept for the address that it was given for'),
        errors: [{ path: 'source_headers.X-Token' }],
      })
      const { sealed_from: _, ...alone } = body
      const masked = source.url.replace('://', '://reader:***@')
      const wrong: [string, object][] = [
        ['source_headers.X-Token', alone],
        ['body/sealed_from', { ...body, sealed_from: {} }],
        ['source_url', { source_url: masked }],
        ['callback', { ...body, callback: masked }],
        ['source.headers.X-Token', { source: { kind: 'http', url: source.url, headers: source_headers } }],
        ['source.url', { source: { kind: 'http', url: masked } }],
      ]
      for (const [place, request] of wrong)
        expect(await problemOf(ask(method, path, request)), place).toMatchObject({
          status: 400,
          detail: expect.stringMatching(/sealed_from/),
          errors: [{ path: place }],
        })
      expect(JSON.stringify(source.pulls)).not.toMatch(/sealed:|reader/)
    }
    expect(
      await problemOf(ask('POST', '/api/exports', { ...body, source_headers: { a: 'sealed:nobody' } })),
    ).toMatchObject({ status: 400, errors: [{ path: 'source_headers.a' }] })
    expect(other.pulls).toEqual([])
  })
})

test('credentials, addresses of chats and passwords in addresses are kept where they stood', async () => {
  const { keepSecrets } = await import('../../../src/exports/saved/keep-secrets.ts')
  const before = {
    source: {
      kind: 'http',
      url: 'https://anna:p@shop.example/rows?a=1',
      headers: { X: 'h' },
      auth: { kind: 'oauth2', token_url: 'https://login.example/t', client_id: 'c', client_secret: 's' },
    },
    callback: 'https://me:q@hook.example/x',
    notify: {
      chat: [
        { kind: 'slack', url: 'https://hooks.example/1' },
        { kind: 'wecom', url: 'https://hooks.example/2' },
      ],
    },
  }
  const wish = {
    source: {
      kind: 'http',
      url: 'https://anna:***@shop.example/rows?a=2',
      headers: { X: 'sealed:source.headers.X' },
      auth: { ...before.source.auth, client_secret: 'sealed:source.auth.client_secret' },
    },
    callback: 'https://me:***@hook.example/y',
    notify: { chat: [{ kind: 'wecom', url: 'sealed:notify.chat[1].url' }] },
  }
  expect(keepSecrets(wish, before)).toEqual({
    source: { ...before.source, url: 'https://anna:p@shop.example/rows?a=2' },
    callback: 'https://me:q@hook.example/y',
    notify: { chat: [{ kind: 'wecom', url: 'https://hooks.example/2' }] },
  })
  const moved = (source: object) => () =>
    keepSecrets({ ...wish, source: { ...wish.source, ...source } }, before)
  expect(moved({ url: 'https://shop.example/admin' })).toThrow('given for')
  expect(moved({ auth: { ...wish.source.auth, token_url: 'https://evil.example/t' } })).toThrow('given for')
  // The secret of a token server is none of the source's business.
  const stray = 'sealed:source.auth.client_secret'
  for (const [place, source] of Object.entries({
    password: { auth: { kind: 'basic', username: 'x', password: stray } },
    header: { headers: { X: stray } },
  }))
    expect(moved(source), place).toThrow('another part of the request')
})

test('[foreign-id] a request, its secrets and connections are those of the project alone', async () => {
  const { client, business, ask, wharf } = await setup()
  const other = await newProject(wharf)
  const source = business.source({ total: 1 })
  const { task_id } = await client.run({ source_url: source.url, source_headers: { a: 'b' } })
  await ask('PUT', '/api/saved-exports/mine', { source_url: source.url, source_headers: { a: 'b' } })
  for (const [method, path] of [
    ['GET', 'request'],
    ['POST', 'run-again'],
  ] as const)
    expect(
      await problemOf(ask(method, `/api/exports/${task_id}/${path}`, undefined, other.key)),
    ).toMatchObject({
      status: 404,
    })
  const stolen = { source_url: source.url, source_headers: { a: 'sealed:source_headers.a' } }
  for (const sealed_from of [{ task_id }, { saved_export: 'mine' }])
    expect(await problemOf(ask('POST', '/api/exports', { ...stolen, sealed_from }, other.key))).toMatchObject(
      { status: 404 },
    )

  const connection = { driver: 'sqlite', url: '/tmp/nowhere.db', projects: [client.project.id] }
  await ask('PUT', '/api/connections/erp', connection, ADMIN_TOKEN)
  await ask('PUT', '/api/connections/other', { ...connection, projects: [other.id] }, ADMIN_TOKEN)
  const own = `/api/projects/${client.project.id}/connections`
  expect(await (await ask('GET', own)).json()).toEqual({ items: [{ name: 'erp', driver: 'sqlite' }] })
  expect(await problemOf(ask('GET', own, undefined, other.key))).toMatchObject({ status: 404 })
})

test('an export of kept rows has no request of its own, and says so', async () => {
  const { client, business, ask } = await setup()
  const { task_id } = await client.run({ source_url: business.source({ total: 1 }).url, keep_rows_hours: 1 })
  const made = (await (await ask('POST', `/api/exports/${task_id}/render`, {})).json()) as ExportView
  for (const [method, path] of [
    ['GET', 'request'],
    ['POST', 'run-again'],
  ] as const)
    expect(await problemOf(ask(method, `/api/exports/${made.task_id}/${path}`))).toMatchObject({
      status: 409,
      code: 'REQUEST_NOT_KEPT',
    })
})

test('with the admin token saved exports and templates are those of the project that is named', async () => {
  const { client, business, ask } = await setup()
  const of = `?project_id=${client.project.id}`
  const body = { source_url: business.source({ total: 1 }).url }
  expect((await ask('PUT', `/api/saved-exports/a${of}`, body, ADMIN_TOKEN)).status).toBe(200)
  expect((await ask('PUT', `/api/templates/t${of}`, { template: { id: 'Id' } }, ADMIN_TOKEN)).status).toBe(
    200,
  )
  expect(await (await ask('GET', '/api/saved-exports')).json()).toMatchObject({ items: [{ name: 'a' }] })
  expect(await (await ask('GET', `/api/templates${of}`, undefined, ADMIN_TOKEN)).json()).toMatchObject({
    items: [{ name: 't' }],
  })
  expect(await problemOf(ask('GET', '/api/saved-exports', undefined, ADMIN_TOKEN))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('project_id'),
  })
  expect(
    await problemOf(ask('GET', '/api/templates?project_id=nobody', undefined, ADMIN_TOKEN)),
  ).toMatchObject({ status: 404, code: 'PROJECT_NOT_FOUND' })
})

test('sealed names the addresses that have a password, which is not shown', async () => {
  const { hideSecrets } = await import('../../../src/exports/saved/hide-secrets.ts')
  const { keepSecrets } = await import('../../../src/exports/saved/keep-secrets.ts')
  const auth = { kind: 'oauth2', token_url: 'https://u:pw@login.example/t', client_id: 'c' }
  const request = {
    source_url: 'http://u:pw@shop.example/rows',
    callback: 'https://hook.example/x',
    sheets: [{ source_url: 'http://shop.example/a' }, { source_url: 'http://u:pw@shop.example/b' }],
    source: { kind: 'http', url: 'https://u:pw@shop.example/c', auth },
  }
  const { shown, sealed } = hideSecrets(request)
  expect(sealed).toEqual(['source_url', 'source.url', 'source.auth.token_url', 'sheets[1].source_url'])
  expect(JSON.stringify(shown)).not.toContain('pw')
  expect(keepSecrets(shown, request)).toEqual(request)
})

test('a name that nobody can see, or of several lines, is refused; an older one can be read and deleted', async () => {
  const { wharf, business, ask } = await setup()
  const body = { source_url: business.source({ total: 1 }).url }
  for (const name of [' ', '\u3000\u200b', 'a\nb', 'a\u0000', '\u2028b', 'a\u001b[1m', '\u0085'])
    for (const [kind, content] of [
      ['saved-exports', body],
      ['templates', { template: { id: 'Id' } }],
    ] as const) {
      const refused = await problemOf(ask('PUT', `/api/${kind}/${encodeURIComponent(name)}`, content))
      expect(refused, JSON.stringify(name)).toMatchObject({ status: 400, code: 'REQUEST_INVALID' })
    }
  for (const name of ['月报', ' a b ']) {
    expect((await ask('PUT', `/api/saved-exports/${encodeURIComponent(name)}`, body)).status).toBe(200)
  }
  await wharf.ledger.db
    .updateTable('saved_exports')
    .set({ name: 'a\nb' })
    .where('name', '=', '月报')
    .execute()
  expect((await ask('GET', '/api/saved-exports/a%0Ab')).status).toBe(200)
  expect((await ask('DELETE', '/api/saved-exports/a%0Ab')).status).toBe(204)
})
