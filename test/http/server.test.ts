import { request } from 'node:http'
import { expect, test } from 'vitest'
import { ADMIN_TOKEN, startHttp } from '../support/http.ts'

test('every mistake in a request gets a problem document that says what is wrong', async () => {
  const { ask } = await startHttp()
  const cases: [ReturnType<typeof ask>, number, string, RegExp][] = [
    [ask('GET', '/api/projects'), 401, 'UNAUTHENTICATED', /Bearer/],
    [ask('GET', '/api/projects', { key: 'wrong' }), 401, 'UNAUTHENTICATED', /not known/],
    [
      ask('GET', '/api/projects', { headers: { authorization: 'Basic abc' } }),
      401,
      'UNAUTHENTICATED',
      /Bearer KEY/,
    ],
    [ask('GET', '/nowhere'), 404, 'NOT_FOUND', /GET \/nowhere/],
    [ask('PATCH', '/api/projects', { key: ADMIN_TOKEN, body: {} }), 405, 'METHOD_NOT_ALLOWED', /PATCH.*POST/],
    [ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: '{"name": ' }), 400, 'BODY_NOT_JSON', /JSON/],
    [ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: {} }), 400, 'REQUEST_INVALID', /name/],
    [
      ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: '' } }),
      400,
      'REQUEST_INVALID',
      /body\/name/,
    ],
    [
      ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'a', nmae: 1 } }),
      400,
      'REQUEST_INVALID',
      /nmae/,
    ],
    [
      ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: 'x'.repeat(1024 * 1024) } }),
      413,
      'BODY_TOO_LARGE',
      /large/,
    ],
    [
      ask('POST', '/api/projects', {
        key: ADMIN_TOKEN,
        headers: { 'content-type': 'text/csv' },
        body: 'a,b',
      }),
      415,
      'MEDIA_TYPE_UNSUPPORTED',
      /application\/json/,
    ],
    [
      ask('POST', '/api/projects', {
        key: ADMIN_TOKEN,
        headers: { 'content-type': 'text/plain' },
        body: '{"name": "a"}',
      }),
      415,
      'MEDIA_TYPE_UNSUPPORTED',
      /application\/json/,
    ],
    // Some clients name this type for every request: without a body there is nothing to complain of but that.
    [
      ask('POST', '/api/projects', {
        key: ADMIN_TOKEN,
        headers: { 'content-type': 'application/octet-stream' },
      }),
      400,
      'REQUEST_INVALID',
      /body must be object/,
    ],
    [
      ask('PUT', '/api/projects/none', { key: ADMIN_TOKEN, body: { quotas: { streams: 'many' } } }),
      400,
      'REQUEST_INVALID',
      /^body\/quotas\/streams must be integer or null$/,
    ],
    [
      ask('PUT', '/api/projects/none', { key: ADMIN_TOKEN, body: { quotas: { streams: -1 } } }),
      400,
      'REQUEST_INVALID',
      /^body\/quotas\/streams must be >= \d+$/,
    ],
    [
      ask('POST', '/api/projects', {
        key: ADMIN_TOKEN,
        body: { name: 'a' },
        headers: { 'idempotency-key': 'with blank' },
      }),
      400,
      'IDEMPOTENCY_KEY_INVALID',
      /visible ASCII/,
    ],
  ]
  for (const [asked, status, code, detail] of cases) {
    const answer = await asked
    const problem = (await answer.json()) as { code: string; detail: string }
    expect({ status: answer.status, code: problem.code }).toEqual({ status, code })
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/)
    expect(problem).toMatchObject({ status, title: expect.any(String), type: expect.any(String) })
    expect(problem.detail).toMatch(detail)
    if (code === 'REQUEST_INVALID')
      expect(problem).toMatchObject({ errors: [{ path: expect.any(String), message: expect.any(String) }] })
  }
  // For programs that say it in words of their own.
  const named = await ask('POST', '/api/projects', { key: ADMIN_TOKEN, body: { name: '', more: 1 } })
  expect(await named.json()).toMatchObject({
    errors: [
      { path: 'body', rule: 'additionalProperties', name: 'more' },
      { path: 'body/name', rule: 'minLength', limit: 1 },
    ],
  })
})

test('health, metrics, the reference and the start page need no key', async () => {
  const { ask } = await startHttp()
  expect(await (await ask('GET', '/livez')).json()).toEqual({ status: 'ok' })
  expect(await (await ask('GET', '/readyz')).json()).toEqual({ status: 'ready', ledger: 'ok', writes: true })
  expect(await (await ask('GET', '/metrics')).text()).toContain('process_resident_memory_bytes')
  expect(await (await ask('GET', '/')).text()).toContain('<title>Wharf</title>')
  expect((await ask('GET', '/docs')).status).toBe(200)
  const openapi = (await (await ask('GET', '/openapi.json')).json()) as { openapi: string; paths: object }
  expect(openapi.openapi).toBe('3.1.0')
  expect(Object.keys(openapi.paths)).toContain('/api/projects/{project_id}/rotate')
  for (const operation of Object.values(openapi.paths).flatMap((path) => Object.values(path)))
    expect(operation).toHaveProperty('responses.default.$ref', '#/components/responses/Problem')
})

test('a caller who asks too often is told when to come back, others are not held up', async () => {
  const { ask } = await startHttp('embedded', { env: { WHARF_RATE_LIMIT: '1/s,burst=3' } })
  const statuses: number[] = []
  for (let count = 0; count < 4; count++)
    statuses.push((await ask('GET', '/api/projects', { key: ADMIN_TOKEN })).status)
  expect(statuses).toEqual([200, 200, 200, 429])
  const limited = await ask('GET', '/api/projects', { key: ADMIN_TOKEN })
  expect(await limited.json()).toMatchObject({ code: 'RATE_LIMITED' })
  expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(limited.headers.get('ratelimit')).toMatch(/^"requests";r=0;t=\d+$/)
  expect(limited.headers.get('ratelimit-policy')).toBe('"requests";q=3;w=3')
  expect((await ask('GET', '/api/projects', { key: 'someone-else' })).status).toBe(401)
  expect((await ask('GET', '/livez')).status).toBe(200)
})

test('an id of several thousand percent-encoded characters reaches its route', async () => {
  const { address } = await startHttp()
  const id = encodeURIComponent(`AsyncDownloadTask:1:1:/${'数据'.repeat(700)}:x`)
  expect(id.length).toBeGreaterThan(8_000)
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const asked = request(`${address}/api/projects/${id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    asked.on('response', (answer) => resolve(answer.resume().statusCode)).on('error', reject)
    asked.end()
  })
  expect(status).toBe(404)
})
