import { expect, test } from 'vitest'
import { SCOPES } from '../../src/kernel/index.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'

type Wharf = Pick<Awaited<ReturnType<typeof startHttp>>, 'ask'>

interface Route {
  method: string
  /** With its parameters in braces. */
  path: string
  tag: string
}

/** Every route, as the server itself describes it. */
async function routesOf({ ask }: Wharf): Promise<Route[]> {
  const { paths } = (await (await ask('GET', '/openapi.json')).json()) as {
    paths: Record<string, Record<string, { tags?: string[] }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags }]) => ({
      method: method.toUpperCase(),
      path,
      tag: tags?.[0] ?? 'none',
    })),
  )
}

const fill = (path: string, ids: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(ids[name] ?? 'nothing'))

async function tried({ ask }: Wharf, { method, path }: Route, ids: Record<string, string>, key?: string) {
  const upload = path.startsWith('/api/uploads') && {
    'tus-resumable': '1.0.0',
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
  }
  const answer = await ask(method, fill(path, ids), {
    ...(key !== undefined && { key }),
    headers: { ...upload },
  })
  const isProblem =
    method !== 'HEAD' && answer.headers.get('content-type')?.startsWith('application/problem+json')
  const problem = isProblem ? ((await answer.json()) as { code: string; detail: string }) : undefined
  // Unless asked for Chinese; what the caller has sent may be repeated.
  expect(problem?.detail ?? '', `${method} ${path}`).not.toMatch(/\p{Script=Han}/u)
  if (!isProblem) await answer.body?.cancel()
  return { status: answer.status, code: problem?.code, detail: problem?.detail }
}

test('[no-key] without a key only these routes answer', async () => {
  const wharf = await startHttp()
  const open: string[] = []
  for (const route of await routesOf(wharf))
    if ((await tried(wharf, route, {})).status !== 401) open.push(`${route.method} ${route.path}`)
  expect(open.sort()).toEqual([
    'GET /.well-known/wharf-keys',
    'GET /api/sign-in',
    'GET /livez',
    'GET /metrics',
    'GET /readyz',
    'GET /samples/orders',
    'OPTIONS /api/uploads',
    'POST /api/session',
  ])
})

test('a method that an address does not take is answered with those that it takes', async () => {
  const wharf = await startHttp()
  const routes = await routesOf(wharf)
  const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
  for (const [path, here] of Map.groupBy(routes, (route) => route.path)) {
    const taken = here.map(({ method }) => method)
    // Another route may have a parameter where this one has a word.
    const form = (other: string) => new RegExp(`^${other.replace(/\{\w+\}/g, '[^/]+')}$`)
    const others = routes.filter((route) => form(route.path).test(fill(path, {})))
    for (const method of methods.filter((one) => !others.some((route) => route.method === one))) {
      const answer = await wharf.ask(method, fill(path, {}))
      const name = `${method} ${path}`
      expect(answer.status, name).toBe(405)
      const allowed = answer.headers.get('allow')?.split(', ') ?? []
      expect(allowed, name).toEqual(expect.arrayContaining(taken))
      expect(allowed, name).not.toContain(method)
      expect(await answer.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED', methods: allowed })
    }
  }
  for (const path of ['/nowhere', '/api/exports/a/b/c/d'])
    expect((await wharf.ask('DELETE', path)).status, path).toBe(404)
})

test('[scope] no key does on any route what its scopes do not say', async () => {
  const wharf = await startHttp()
  const { id, key } = await newProject(wharf)
  const keys: Record<string, string> = {}
  for (const scope of SCOPES) {
    const body = { name: scope, scopes: [scope] }
    const made = await wharf.ask('POST', `/api/projects/${id}/keys`, { key: ADMIN_TOKEN, body })
    keys[scope] = ((await made.json()) as { api_key: string }).api_key
  }
  const routes = await routesOf(wharf)
  expect(routes.length).toBeGreaterThan(40)
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    const statusFor = async (shown?: string) => {
      // What an admin may do to the project itself would end this test.
      const isFull = shown === ADMIN_TOKEN || shown === keys.admin
      return (await tried(wharf, route, isFull ? {} : { project_id: id }, shown)).status
    }
    const isOpen = (await statusFor()) !== 401
    const isAdmin = !isOpen && (await statusFor(key)) === 403
    const looks = ['GET', 'HEAD', 'OPTIONS'].includes(route.method) || route.path.endsWith('/ticket')
    const onlyProject = (await statusFor(ADMIN_TOKEN)) === 403
    const expected = (scope: string) => {
      if (isOpen) return true
      if (scope === 'admin') return !onlyProject
      if (route.path === '/api/session') return true
      const [domain, part = '*'] = scope.split(':')
      const inDomain = domain === route.tag && (part === '*' || part === (looks ? 'read' : 'write'))
      // Accounts are the installation's: only a scope that names runs opens them.
      if (isAdmin) return inDomain && domain === 'runs' && !route.path.startsWith('/api/settings')
      return scope === 'all' || inDomain || (scope === 'read' && looks)
    }
    for (const scope of SCOPES)
      expect([name, scope, (await statusFor(keys[scope])) !== 403]).toEqual([name, scope, expected(scope)])
    // Whatever works with a scope of its own must be one of the domains', or everybody's to watch.
    if (!isOpen && !isAdmin)
      expect(['exports', 'transfers', 'processing', 'events', 'projects', 'sessions'], name).toContain(
        route.tag,
      )
  }
})

test('[foreign-id] to another project, what is not its own does not exist', async () => {
  const { wharf, business, client } = await startExports()
  const mine = client.project
  const other = await newProject(wharf)
  const exported = await client.run({ source_url: business.source({ total: 1 }).url })
  const put = await wharf.ask('PUT', '/api/repository/a.txt', { key: mine.key, body: 'a' })
  const { signature } = (await put.json()) as { signature: string }
  const sent = await wharf.ask('POST', '/api/transfers', {
    key: mine.key,
    body: {
      ...{ biz_id: 1, app_id: 1, file_path: '/', file_name: 'a.txt', file_signature: signature },
      ...{ target_agent_id: 'a', target_file_dir: '/opt' },
    },
  })
  const transfer = (await sent.json()) as { task_id: string; job_id: string }
  const begin = async (length: string) => {
    const headers = { 'tus-resumable': '1.0.0', 'upload-length': length }
    const made = await wharf.ask('POST', '/api/uploads', { key: mine.key, headers })
    return made.headers.get('location')?.split('/').at(-1) as string
  }
  const template = { key: mine.key, body: { template: { id: 'Id' } } }
  await wharf.ask('PUT', '/api/templates/people', template)
  const saved = { key: mine.key, body: { source_url: business.source({ total: 1 }).url } }
  await wharf.ask('PUT', '/api/saved-exports/monthly', saved)
  const [processed, upload] = [await begin('0'), await begin('9')]
  const own: [path: string, id: string][] = [
    ['/api/exports/{task_id}', exported.task_id],
    ['/api/transfers/{task_id}', transfer.task_id],
    ['/api/transfer-jobs/{job_id}', transfer.job_id],
    ['/api/tasks/{task_id}', processed],
    ['/api/uploads/{upload_id}', upload],
    ['/api/projects/{project_id}', mine.id],
    ['/api/templates/{name}', 'people'],
    ['/api/saved-exports/{name}', 'monthly'],
  ]
  // A name or path that another project has is free in one's own.
  const takesAnyName = ({ method, path }: Route) => method === 'PUT' && /\/\{(?:name|path)\}$/.test(path)
  const routes = (await routesOf(wharf)).filter((route) => /\{\w+\}/.test(route.path) && !takesAnyName(route))
  for (const route of routes) {
    const name = `${route.method} ${route.path}`
    const asAdmin = async (id: string) => (await tried(wharf, route, allIds(id), other.key)).status
    if ((await asAdmin('none')) === 403) continue
    const id = own.find(([path]) => route.path.startsWith(path))?.[1]
    expect(id, `${name}: this test needs an id for it`).toBeDefined()
    const foreign = await tried(wharf, route, allIds(id as string), other.key)
    const missing = await tried(wharf, route, allIds('none'), other.key)
    const known = (text = '') => text.replaceAll(id as string, 'ID').replaceAll('none', 'ID')
    expect([name, foreign.status, foreign.code, known(foreign.detail)]).toEqual([
      name,
      404,
      missing.code,
      known(missing.detail),
    ])
  }
  const used = await wharf.ask('POST', '/api/transfers', {
    key: other.key,
    body: {
      biz_id: 2,
      app_id: 1,
      export_task_id: exported.task_id,
      target_agent_id: 'a',
      target_file_dir: '/o',
    },
  })
  expect(used.status).toBe(404)
})

const allIds = (id: string) => ({ task_id: id, job_id: id, upload_id: id, project_id: id, name: id })
