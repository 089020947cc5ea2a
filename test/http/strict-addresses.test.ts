import { request } from 'node:http'
import { expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { readApi } from '../support/api-document.ts'
import { availableBackends } from '../support/backends.ts'
import { problemOf } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { type OpenApi, sample } from './rude/requests.ts'

/** A source is asked for pages in the way that its export says, so the sample ignores what it does not know. */
const TAKES_ANY_QUERY = ['GET /samples/orders']

async function setup() {
  // PostgreSQL where there is one: it takes less than SQLite does.
  const wharf = await startHttp(availableBackends().at(-1))
  const { id, key } = await newProject(wharf)
  const { paths } = await readApi(wharf)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => {
      const method = name.toUpperCase()
      return { name: `${method} ${path}`, method, path, ...operation }
    }),
  )
  /** With whichever key the route is for. */
  const ask = async (method: string, at: string, body?: unknown) => {
    const tus = at.startsWith('/api/uploads') && { 'tus-resumable': '1.0.0' }
    const more = { headers: { ...tus }, ...(body !== undefined && { body }) }
    const first = await wharf.ask(method, at, { key: ADMIN_TOKEN, ...more })
    if (first.status !== 403) return first
    await first.body?.cancel()
    return wharf.ask(method, at, { key, ...more })
  }
  return { ...wharf, project: { id, key }, operations, ask }
}

const fill = (path: string, value = 'unknown') => path.replaceAll(/\{[^}]+\}/g, value)

type Operation = OpenApi['paths'][string][string]
const bodyOf = ({ requestBody }: Operation) => {
  const schema = requestBody && Object.values(requestBody.content)[0]?.schema
  return schema && sample(schema, () => undefined)
}
const queryOf = ({ parameters = [] }: Operation) =>
  parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)

test('every route refuses a query parameter that it does not know, and says which one may be meant', async () => {
  const { operations, ask, address } = await setup()
  expect(operations.length).toBeGreaterThan(80)
  const check = async (operation: (typeof operations)[number], known: string) => {
    const { name, method, path } = operation
    const answer = await ask(method, `${fill(path)}?${known ? `${known}x` : 'xq'}=1`, bodyOf(operation))
    expect(answer.status, name).toBe(400)
    // The answer to HEAD has no body.
    if (method === 'HEAD') return
    const { code, detail } = await problemOf(answer)
    expect([name, code], detail).toEqual([name, 'REQUEST_INVALID'])
    expect(detail, name).toContain(known ? `(${known}x; did you mean ${known}?)` : '(xq)')
  }
  for (const operation of operations.filter(({ name }) => !TAKES_ANY_QUERY.includes(name)))
    await Promise.all(['', ...queryOf(operation)].map((known) => check(operation, known)))
  const refused = await new Promise<string>((resolve) => {
    const socket = new WebSocket(`${address}/ws?taskid=a`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    })
    socket.once('unexpected-response', (_, answer) => answer.on('data', (bytes) => resolve(String(bytes))))
  })
  expect(refused).toContain('there is no parameter taskid here; did you mean task_id?')
})

const packed = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const BAD_CURSORS = ['', 'a%00b', '1.5', '1e999', 'zzzz', 'a'.repeat(10_000)].concat(
  [{}, [null, null], ['a', 1], [1.5, 'a'], [1, 'a\u0000'], ['-created', 1, 2]].map(packed),
)

test('every list refuses a cursor that it did not give, in the same words', async () => {
  const { operations, ask, project } = await setup()
  const [, started] = [
    await ask('PUT', '/api/accounts/unknown', { url: 'http://127.0.0.1:9/' }),
    await ask('POST', '/api/runs', { handle: 'unknown', kind: 'start' }),
    await ask('PUT', `/api/saved-exports/unknown?project_id=${project.id}`, {
      source_url: 'http://127.0.0.1:9/',
    }),
  ]
  const { run_id } = (await (started as Response).json()) as { run_id: string }
  const ids: Record<string, string> = { project_id: project.id, run_id }
  const tried: string[] = []
  for (const operation of operations) {
    const known = queryOf(operation)
    const at = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => ids[name] ?? 'unknown')
    const query = known.includes('project_id') ? `project_id=${project.id}&` : ''
    for (const name of ['cursor', 'after', 'before'].filter((one) => known.includes(one))) {
      const check = async (bad: string) => {
        const what = `${operation.name}?${query}${name}=${bad}`
        const answer = await ask(operation.method, `${at}?${query}${name}=${bad}`)
        expect(answer.status, what).toBe(400)
        const { code, detail } = await problemOf(answer)
        expect(code, what).toBe('REQUEST_INVALID')
        if (name === 'cursor')
          expect([what, detail]).toEqual([
            what,
            expect.stringMatching(/^cursor is not one that this list|^query has a NUL/),
          ])
      }
      await Promise.all(BAD_CURSORS.map(check))
      tried.push(operation.name)
    }
  }
  expect(tried.length).toBeGreaterThan(12)
})

/** Sends the address as it is: `fetch` would take dots and doubled slashes out of it. */
function askRaw(address: string, method: string, path: string, key: string, body: unknown) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
    ...(path.startsWith('/api/uploads') && { 'tus-resumable': '1.0.0' }),
  }
  return new Promise<{ status: number; type: string; text: string }>((resolve, reject) => {
    const asked = request(`${address}/`, { method, path, headers }, async (answer) => {
      const chunks = await answer.toArray()
      const type = answer.headers['content-type'] ?? ''
      resolve({ status: answer.statusCode ?? 0, type, text: Buffer.concat(chunks).toString() })
    })
    asked.once('error', reject).end(text)
  })
}

/** As they stand in a path; `%zz` and `%ff` are no characters. */
const BAD_IDS = [
  '',
  '.',
  '..',
  '%2e%2E',
  '%2F',
  '..%2f..%2fetc',
  'a%00b',
  '%zz',
  '%ff',
  '%ED%A0%80',
  'a'.repeat(10_000),
  'a'.repeat(50_000),
]
/** Names that may be any text: a slash in them is sent as %2F. */
const IS_NAME = /^\w+ \/api\/(templates|saved-exports|connections)\//

test('no id in a path is answered with anything but a problem, and no name is taken that could not be asked for', async () => {
  const { operations, address, project } = await setup()
  const bodies: Record<string, unknown> = {
    'PUT /api/templates/{name}': { template: { id: 'Id' } },
    'PUT /api/saved-exports/{name}': { source_url: 'http://127.0.0.1:9/' },
    'PUT /api/accounts/{handle}': { url: 'http://127.0.0.1:9/' },
    'PUT /api/connections/{name}': { driver: 'postgres', url: 'postgres://a@127.0.0.1:1/b', projects: [] },
  }
  let tried = 0
  const wrong: string[] = []
  const check = async (operation: (typeof operations)[number], bad: string, at: number) => {
    const { name, method, path } = operation
    let index = 0
    const filled = path.replaceAll(/\{[^}]+\}/g, () => (index++ === at ? bad : 'unknown'))
    const key = (shown: string) => askRaw(address, method, filled, shown, bodies[name] ?? bodyOf(operation))
    const asAdmin = await key(ADMIN_TOKEN)
    const isProjects = asAdmin.status === 403 || asAdmin.text.includes('project_id with the admin token')
    const { status, type, text } = isProjects ? await key(project.key) : asAdmin
    const what = `${method} ${filled.slice(0, 100)} (${path}): ${status} ${text.slice(0, 300)}`
    tried += 1
    if (IS_NAME.test(name) && bad.toUpperCase().includes('%2F') && status < 300) return
    const isProblem = method === 'HEAD' || type.startsWith('application/problem+json')
    const isSaid = !/^(\.|%2e)+$/i.test(bad) || /REQUEST_INVALID|HANDLE_INVALID|PATH_INVALID/.test(text)
    if (status < 400 || status >= 500 || !isProblem || (method !== 'HEAD' && !isSaid)) wrong.push(what)
  }
  for (const operation of operations) {
    const places = operation.path.match(/\{[^}]+\}/g) ?? []
    for (const at of places.keys()) await Promise.all(BAD_IDS.map((bad) => check(operation, bad, at)))
  }
  expect(wrong).toEqual([])
  expect(tried).toBeGreaterThan(500)
  for (const agent of ['.', '..'])
    for (const body of [{ agent_id: agent }, { agent_id: 'a', container_id: agent }]) {
      const { status } = await askRaw(address, 'POST', '/api/agents/enrollments', ADMIN_TOKEN, body)
      expect(status, JSON.stringify(body)).toBe(400)
    }
})

test('a route that takes no body refuses one, and takes an empty object', async () => {
  const { operations, ask } = await setup()
  const bodiless = operations.filter(
    ({ method, path, requestBody }) =>
      ['POST', 'PUT', 'PATCH', 'DELETE'].includes(method) && !requestBody && !/uploads|repository/.test(path),
  )
  expect(bodiless.length).toBeGreaterThan(15)
  for (const { name, method, path } of bodiless) {
    const answer = await ask(method, fill(path), { fresh: true })
    expect(answer.status, name).toBe(400)
    expect((await problemOf(answer)).detail, name).toMatch(/^body .*\(fresh\)/)
    for (const body of [[], 5, 'text']) {
      const other = await ask(method, fill(path), JSON.stringify(body))
      expect([name, other.status, (await problemOf(other)).code]).toEqual([name, 400, 'REQUEST_INVALID'])
    }
    const empty = await ask(method, fill(path), {})
    // What is missing may be another thing.
    expect([name, await empty.text()]).toEqual([name, expect.not.stringContaining('body')])
  }
})
