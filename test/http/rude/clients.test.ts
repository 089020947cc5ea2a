import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { availableBackends } from '../../support/backends.ts'
import { ADMIN_TOKEN, type Ask, newProject } from '../../support/http.ts'
import { firstBytes } from '../../support/raw-connection.ts'
import { until } from '../../support/until.ts'
import { ATTACKS, type RawRequest, send, Tricklers } from './attacks.ts'
import { linesOf, openLine, resetLine } from './lines.ts'
import { type OpenApi, type Route, routesOf } from './requests.ts'
import { type Holdings, type RudeServer, startRudeServer } from './rude-server.ts'

const FILE_ROWS = 60_000
const AT_ONCE = 8
const UPLOAD_BYTES = 256 * 1024

/** The second round shows that nothing adds up. */
const ROUNDS = 2
/** Less than if one attack on every route left something; the connections to PostgreSQL come and go. */
const SLACK: Holdings = { descriptors: 32, sockets: 32, timers: 32, megabytes: 48 }

/** Something of everything that a route can name. */
async function furnish(server: RudeServer) {
  const { address, client } = server
  const { key, id: project } = client.project
  const ask = async <T>(method: string, path: string, more: Ask = { key }) => {
    const answer = await server.ask(method, path, more)
    if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
    return { answer, ...((await answer.json().catch(() => ({}))) as T) }
  }
  const upload = async () => {
    const { answer } = await ask('POST', '/api/uploads', { key, headers: uploadHeaders('POST') })
    return answer.headers.get('location')?.split('/').at(-1) ?? ''
  }
  const { task_id: exported } = await client.run({
    source_url: `${address}/samples/orders?rows=${FILE_ROWS}`,
  })
  const uploaded = await upload()
  await fetch(`${address}/api/uploads/${uploaded}`, {
    method: 'PATCH',
    headers: { ...uploadHeaders('PATCH'), authorization: `Bearer ${key}` },
    body: Buffer.alloc(UPLOAD_BYTES),
  })
  const feed = `${address}/samples/orders`
  await ask('PUT', '/api/accounts/steady', { body: { url: feed } })
  const { run_id } = await ask<{ run_id: string }>('POST', '/api/runs', {
    body: { handle: 'steady', kind: 'start' },
  })
  const file = await ask<{ signature: string }>('PUT', '/api/repository/steady/file', { key, body: 'bytes' })
  const transfer = {
    biz_id: 7,
    app_id: 1,
    file_path: '/steady',
    file_name: 'file',
    file_signature: file.signature,
    target_agent_id: 'rude',
    target_file_dir: '/rude',
  }
  const carried = await ask<{ task_id: string; job_id: string }>('POST', '/api/transfers', {
    key,
    body: transfer,
  })
  const tasks: Record<string, string> = { exports: exported, tasks: uploaded, transfers: carried.task_id }
  const known: Record<string, unknown> = {
    ...transfer,
    project_id: project,
    source_url: `${address}/samples/orders?rows=10`,
    url: feed,
    handle: 'rude',
    run_id,
    job_id: carried.job_id,
    '*': 'rude/file',
  }
  return (name: string, { method, path }: { method: string; path: string }) => {
    if (name === 'upload_id') return upload()
    // What ends a project or its keys is given one of its own.
    if (name === 'project_id' && ['POST', 'DELETE'].includes(method) && path.startsWith('/api/projects/'))
      return newProject(server).then(({ id }) => id)
    return name === 'task_id' ? tasks[path.split('/')[2] ?? ''] : known[name]
  }
}

function uploadHeaders(method: string): Record<string, string> {
  const more = method === 'PATCH' ? { 'Upload-Offset': '0' } : { 'Upload-Length': String(UPLOAD_BYTES) }
  const type = method === 'PATCH' ? { 'Content-Type': 'application/offset+octet-stream' } : {}
  return { 'Tus-Resumable': '1.0.0', ...more, ...type }
}

async function requestTo(server: RudeServer, route: Route, key: string): Promise<RawRequest> {
  return {
    address: server.address,
    method: route.method,
    path: await route.path(),
    headers: { ...route.headers(), ...extra(route), Authorization: `Bearer ${key}` },
    body: route.body(),
  }
}

/** The key that is let in: the project's, or else the admin's. */
async function keyFor(server: RudeServer, route: Route): Promise<string> {
  for (const key of [server.client.project.key, ADMIN_TOKEN]) {
    const socket = await send(await requestTo(server, route, key))
    const status = Number((await firstBytes(socket)).split(' ')[1])
    socket.destroy()
    if (status !== 401 && status !== 403) return key
  }
  throw new Error(`no key is let in to ${route.name}`)
}

function extra({ name, method }: Route): Record<string, string> {
  return name.includes('/api/uploads') ? uploadHeaders(method) : {}
}

async function inTurns<T>(items: T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const one = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

/** All clients at once; resolves when all of them are gone. */
async function rage(server: RudeServer, routes: { route: Route; key: string }[]): Promise<void> {
  const held: Socket[] = []
  const tricklers = new Tricklers()
  await inTurns(routes, async ({ route, key }) => {
    const request = () => requestTo(server, route, key)
    await tricklers.add(await request())
    for (const attack of Object.values(ATTACKS)) {
      const socket = await attack(await request())
      if (socket) held.push(socket)
      tricklers.oneByte()
    }
  })
  await inTurns(Object.values(linesOf(server)), async ({ to, parts }) => {
    for (let sent = 1; sent <= parts.length; sent++)
      for (const answered of [true, false]) await resetLine(to, parts.slice(0, sent), { answered })
    held.push(await openLine(to, parts))
    const halfOpen = await openLine(to, parts)
    halfOpen.end()
    held.push(halfOpen)
    tricklers.oneByte()
  })
  // With all of them there, others are served.
  await server.isWell()
  for (const [index, socket] of [...held, ...tricklers.sockets].entries())
    if (index % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
}

test.each(availableBackends())('no rude client harms a server on %s', async (name) => {
  const server = await startRudeServer(name)
  const fill = await furnish(server)
  const document = (await (await server.ask('GET', '/openapi.json')).json()) as OpenApi
  const routes: { route: Route; key: string }[] = []
  await inTurns(routesOf(document, fill), async (route) => {
    routes.push({ route, key: await keyFor(server, route) })
  })
  expect(routes.length).toBeGreaterThan(40)
  const before = await server.holdings()
  const isBack = (now: Holdings) =>
    (Object.keys(SLACK) as (keyof Holdings)[]).every((what) => now[what] <= before[what] + SLACK[what])
  for (let round = 0; round < ROUNDS; round++) {
    await rage(server, routes)
    await until(`as little is held as before: ${JSON.stringify(before)}`, server.holdings, isBack)
  }
  await server.isWell()
  const { task_id: id } = await server.client.run({ source_url: `${server.address}/samples/orders?rows=10` })
  expect(await server.client.lines(id)).toHaveLength(11)
  await server.stop()
})
