import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { readApi } from '../../support/api-document.ts'
import { availableBackends } from '../../support/backends.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'
import { firstBytes, openConnection } from '../../support/raw-connection.ts'
import { until } from '../../support/until.ts'
import { rudeAgents } from './agent-lines.ts'
import { ATTACKS, type RawRequest, send, Tricklers } from './attacks.ts'
import { furnish, uploadHeaders } from './furnish.ts'
import { linesOf, openLine, resetLine } from './lines.ts'
import { type Route, routesOf } from './requests.ts'
import { type Holdings, type RudeServer, startRudeServer } from './rude-server.ts'

const AT_ONCE = 8

/** The second round shows that nothing adds up. */
const ROUNDS = 2
/** Less than if one attack on every route left something; the connections to PostgreSQL come and go. */
const SLACK: Holdings = { descriptors: 32, sockets: 32, timers: 32, megabytes: 48 }

/** Not in the document, because they are for browsers. */
const PAGES = ['/', '/openapi.json', '/docs', '/docs/errors']

/** Routes that refuse even a polite client: there is no database for the connection to test. */
const REFUSED = ['POST /api/connections/{name}/test']

async function requestTo(server: RudeServer, route: Route, key: string): Promise<RawRequest> {
  return {
    address: server.address,
    method: route.method,
    path: await route.path(),
    headers: {
      ...route.headers(),
      ...extra(route),
      Origin: 'http://wharf.test',
      Authorization: `Bearer ${key}`,
    },
    body: await route.body(),
  }
}

/** The key with which the route does what it is for: the project's, or else the admin's. */
async function keyFor(server: RudeServer, route: Route): Promise<string | undefined> {
  for (const key of [server.client.project.key, ADMIN_TOKEN]) {
    const socket = await send(await requestTo(server, route, key))
    const answer = await firstBytes(socket)
    socket.destroy()
    if (Number(answer.split(' ')[1]) < 400) return key
  }
  return undefined
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
    tricklers.send(await openConnection(to), Buffer.concat(parts.map((part) => Buffer.from(part))))
    tricklers.oneByte()
  })
  held.push(...(await rudeAgents(server, tricklers)))
  tricklers.oneByte()
  // With all of them there, others are served.
  await server.isWell()
  for (const [index, socket] of [...held, ...tricklers.sockets].entries())
    if (index % 2 === 0) socket.resetAndDestroy()
    else socket.destroy()
}

test.each(availableBackends())('no rude client harms a server on %s', async (name) => {
  const server = await startRudeServer(name)
  const { fill, hold, release } = await furnish(server)
  const document = await readApi(server)
  for (const page of PAGES) document.paths[page] = { get: {} }
  hold()
  const routes: { route: Route; key: string }[] = []
  const refused: string[] = []
  await inTurns(routesOf(document, fill), async (route) => {
    const key = await keyFor(server, route)
    if (key === undefined) refused.push(route.name)
    routes.push({ route, key: key ?? ADMIN_TOKEN })
  })
  release()
  expect(routes.length).toBeGreaterThan(80)
  expect(refused, 'routes whose parameters furnish.ts must name').toEqual(REFUSED)
  const before = await server.holdings()
  const isBack = (now: Holdings) =>
    (Object.keys(SLACK) as (keyof Holdings)[]).every((what) => now[what] <= before[what] + SLACK[what])
  for (let round = 0; round < ROUNDS; round++) {
    hold()
    await rage(server, routes)
    release()
    await until(`as little is held as before: ${JSON.stringify(before)}`, server.holdings, isBack)
  }
  await server.isWell()
  const { task_id: id } = await server.client.run({ source_url: `${server.address}/samples/orders?rows=10` })
  expect(await server.client.lines(id)).toHaveLength(11)
  await server.stop()
})
