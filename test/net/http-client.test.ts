import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { AppError, type Clock, ERRORS, type ErrorKind, systemClock } from '../../src/kernel/index.ts'
import {
  AddressGuard,
  type AllowList,
  expectOk,
  HttpClient,
  type HttpClientOptions,
  LOOPBACK_ONLY,
  NOTHING_PRIVATE,
  ownSamples,
  type Resolver,
  readAll,
} from '../../src/net/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { startLoopback } from './loopback-server.ts'

interface Setup extends HttpClientOptions {
  allow?: AllowList
  resolver?: Resolver
  clock?: Clock
}

function setup({ allow = LOOPBACK_ONLY, resolver, clock = systemClock, ...options }: Setup = {}) {
  const client = new HttpClient(
    { guard: new AddressGuard(allow), clock, ...(resolver ? { resolver } : {}) },
    options,
  )
  onTestFinished(() => client.close())
  return client
}

async function failure(promise: Promise<unknown>, kind: ErrorKind): Promise<AppError> {
  const error = await promise.then(
    () => new Error('nothing was thrown'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AppError)) throw error
  expect(error.code).toBe(kind.code)
  return error
}

const text = async (client: HttpClient, url: string) =>
  (await readAll((await client.request({ url })).body, 1_000)).toString()

test('a request carries method, headers and body, and brings back status, headers and body', async () => {
  const { origin } = await startLoopback(async (request, response) => {
    const body = await readAll(request, 1_000)
    response
      .writeHead(201, { 'x-seen': `${request.method} ${request.url} ${request.headers['x-a']}` })
      .end(body)
  })
  const response = await setup().request({
    url: `${origin}/a%20b?c=%2F&d=`,
    method: 'POST',
    headers: { 'X-A': '1' },
    body: 'grüße',
  })
  expect(response.status).toBe(201)
  expect(response.headers.get('x-seen')).toBe('POST /a%20b?c=%2F&d= 1')
  expect((await readAll(response.body, 100)).toString()).toBe('grüße')
})

test('requests one after the other share a connection', async () => {
  const server = await startLoopback((_request, response) => response.end('ok'))
  const client = setup()
  for (let round = 0; round < 5; round++) expect(await text(client, server.origin)).toBe('ok')
  expect(server.connections()).toBe(1)
})

test('no more connections are opened to one origin than allowed', async () => {
  const waiting: (() => void)[] = []
  const server = await startLoopback((_request, response) => {
    waiting.push(() => response.end('ok'))
    if (waiting.length >= 2) for (const answer of waiting.splice(0)) answer()
  })
  const client = setup({ connectionsPerOrigin: 2 })
  await Promise.all(Array.from({ length: 8 }, () => text(client, server.origin)))
  expect(server.connections()).toBe(2)
})

test.each(['ftp://example.com/', 'file:///etc/passwd', 'data:,x', '/relative', '', 'http://', 'http://a b/'])(
  'what is no http URL ("%s") is refused',
  async (url) => {
    const error = await failure(setup().request({ url }), ERRORS.URL_UNSUPPORTED)
    expect(error.retryable).toBe(false)
  },
)

test.each(['Host', 'connection', 'Transfer-Encoding', 'content-length', 'Proxy-Authorization'])(
  'a caller cannot set the header %s',
  async (name) => {
    await failure(
      setup().request({ url: 'http://127.0.0.1/', headers: { [name]: 'x' } }),
      ERRORS.REQUEST_INVALID,
    )
  },
)

test('a header that could split the request is refused without showing its value', async () => {
  const request = { url: 'http://127.0.0.1/', headers: { 'x-key': 'geheim\r\nhost: evil' } }
  const error = await failure(setup().request(request), ERRORS.REQUEST_INVALID)
  expect(JSON.stringify([error.message, String(error.cause)])).not.toContain('geheim')
})

test('credentials of the URL become an Authorization header', async () => {
  const { origin } = await startLoopback((request, response) => response.end(request.headers.authorization))
  const url = origin.replace('http://', 'http://us%40er:p%3Aw@')
  expect(await text(setup(), url)).toBe(`Basic ${btoa('us@er:p:w')}`)
})

// ---- the guard

test.each([
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '[::ffff:127.0.0.1]',
  '127.0.0.1.',
  '１２７.1',
  '%3127.0.0.1',
])('the address literal %s is not contacted when it is not allowed', async (literal) => {
  const server = await startLoopback((_request, response) => response.end('secret'))
  const client = setup({ allow: NOTHING_PRIVATE })
  const url = `http://${literal}:${server.port}/`
  const error = await failure(client.request({ url }), ERRORS.ADDRESS_REFUSED)
  expect(error.retryable).toBe(false)
  expect(error.message).toContain('WHARF_ALLOW_HOSTS')
  expect(() => client.check(url)).toThrow(/loopback/)
  expect(server.connections()).toBe(0)
})

test('a name that resolves to a refused address is not contacted', async () => {
  const server = await startLoopback((_request, response) => response.end('secret'))
  const resolver: Resolver = async () => [{ address: '127.0.0.1', family: 4 }]
  const client = setup({ allow: NOTHING_PRIVATE, resolver })
  await failure(client.request({ url: `http://shop.example:${server.port}/` }), ERRORS.ADDRESS_REFUSED)
  expect(server.connections()).toBe(0)
})

test('a name that resolves differently the second time gains nothing', async () => {
  const server = await startLoopback((request, response) =>
    response.writeHead(200, { connection: 'close' }).end(request.headers.host),
  )
  const asked: string[] = []
  const answers = ['127.0.0.1', '10.0.0.1', '169.254.169.254']
  const resolver: Resolver = async (host) => {
    asked.push(host)
    return [{ address: answers[asked.length - 1] ?? '10.0.0.1', family: 4 }]
  }
  const client = setup({ resolver })
  const url = `http://rebind.example:${server.port}/`
  // One question to DNS, and the connection goes to the answer that was judged; the name stays in Host.
  expect(await text(client, url)).toBe(`rebind.example:${server.port}`)
  expect(asked).toEqual(['rebind.example'])
  await failure(client.request({ url }), ERRORS.ADDRESS_REFUSED)
  await failure(client.request({ url }), ERRORS.ADDRESS_REFUSED)
  expect(server.connections()).toBe(1)
})

test('the connection goes to the judged address and to no other', async () => {
  const server = await startLoopback((_request, response) => response.end('ok'), '127.0.0.2')
  const resolver: Resolver = async () => [{ address: '127.0.0.2', family: 4 }]
  const client = setup({ resolver, allow: { hosts: [], cidrs: ['127.0.0.2/32'] } })
  expect(await text(client, `http://shop.example:${server.port}/`)).toBe('ok')
  await failure(client.request({ url: `http://127.0.0.1:${server.port}/` }), ERRORS.ADDRESS_REFUSED)
})

test('of several addresses only allowed ones are tried', async () => {
  const server = await startLoopback((_request, response) => response.end('ok'))
  const resolver: Resolver = async () => [
    { address: '10.0.0.1', family: 4 },
    { address: '169.254.169.254', family: 4 },
    { address: '127.0.0.1', family: 4 },
  ]
  expect(await text(setup({ resolver }), `http://many.example:${server.port}/`)).toBe('ok')
})

test('the next address is tried when the first does not answer', async () => {
  const server = await startLoopback((_request, response) => response.end('ok'))
  const resolver: Resolver = async () => [
    { address: '::1', family: 6 },
    { address: '127.0.0.1', family: 4 },
  ]
  expect(await text(setup({ resolver }), `http://dual.example:${server.port}/`)).toBe('ok')
})

test('a redirect to a refused address is not followed', async () => {
  const inner = await startLoopback((_request, response) => response.end('secret'))
  const outer = await startLoopback((_request, response) =>
    response.writeHead(302, { location: `http://127.0.0.2:${inner.port}/` }).end(),
  )
  const client = setup({ allow: { hosts: [], cidrs: ['127.0.0.1/32'] } })
  await failure(client.request({ url: outer.origin }), ERRORS.ADDRESS_REFUSED)
  expect(inner.connections()).toBe(0)
})

test("Wharf's own samples are reachable whatever the guard says, and nothing else of its own is", async () => {
  const server = await startLoopback((request, response) => {
    if (request.url === '/samples/away') response.writeHead(302, { location: '/api/projects' })
    response.end(`saw ${request.url}`)
  })
  const client = setup({ allow: NOTHING_PRIVATE, alwaysAllowed: ownSamples(server.origin) })
  expect(await text(client, `${server.origin}/samples/orders?rows=3`)).toBe('saw /samples/orders?rows=3')
  // The connection of the samples is open and idle by now: it must not carry these.
  for (const path of [
    '/',
    '/samples',
    '/samples/../api/projects',
    '/samples/%2e%2e/api',
    '/samples\\..\\api',
    '/samples/away',
  ])
    await failure(client.request({ url: server.origin + path }), ERRORS.ADDRESS_REFUSED)
})

// ---- redirects

test('redirects are followed, and the answer says where it came from', async () => {
  const { origin } = await startLoopback((request, response) => {
    if (request.url === '/a') response.writeHead(301, { location: 'b?x=1' }).end('moved')
    else if (request.url === '/b?x=1') response.writeHead(307, { location: '/c' }).end()
    else response.end('here')
  })
  const response = await setup().request({ url: `${origin}/a` })
  expect((await readAll(response.body, 100)).toString()).toBe('here')
  expect(response.url.pathname).toBe('/c')
})

test('the sixth redirect is one too many', async () => {
  const seen: string[] = []
  const { origin } = await startLoopback((request, response) => {
    seen.push(request.url ?? '')
    response.writeHead(302, { location: `/${seen.length}` }).end()
  })
  const error = await failure(setup().request({ url: `${origin}/0` }), ERRORS.REDIRECT_LOOP)
  expect(error.retryable).toBe(false)
  expect(seen).toEqual(['/0', '/1', '/2', '/3', '/4', '/5'])
})

test.each([
  [301, 'POST', 'GET', ''],
  [302, 'POST', 'GET', ''],
  [303, 'POST', 'GET', ''],
  [303, 'PUT', 'GET', ''],
  [302, 'PUT', 'PUT', 'body'],
  [307, 'POST', 'POST', 'body'],
  [308, 'POST', 'POST', 'body'],
])('after a %i a %s becomes a %s', async (status, method, then, body) => {
  const { origin } = await startLoopback(async (request, response) => {
    const sent = (await readAll(request, 100)).toString()
    if (request.url === '/a') response.writeHead(status, { location: '/b' }).end()
    else response.end(`${request.method} ${sent} ${request.headers['content-type']}`)
  })
  const response = await setup().request({
    url: `${origin}/a`,
    method,
    body: 'body',
    headers: { 'content-type': 'text/plain' },
  })
  const type = then === 'GET' ? 'undefined' : 'text/plain'
  expect((await readAll(response.body, 100)).toString()).toBe(`${then} ${body} ${type}`)
})

test('another origin sees neither keys nor cookies nor signatures, not even on the way back', async () => {
  const seen: Record<string, unknown>[] = []
  const other = await startLoopback((request, response) => {
    seen.push(request.headers)
    response.writeHead(302, { location: `${first.origin}/back` }).end()
  })
  const first = await startLoopback((request, response) => {
    seen.push(request.headers)
    if (request.url === '/a') response.writeHead(302, { location: '/b' }).end()
    else if (request.url === '/b') response.writeHead(302, { location: `${other.origin}/c` }).end()
    else response.end('ok')
  })
  const response = await setup().request({
    url: `${first.origin}/a`,
    headers: { authorization: 'Bearer k', cookie: 'c=1', 'x-source-key': 'k', accept: 'application/json' },
    sign: (url) => ({ 'webhook-signature': url.pathname }),
  })
  response.body.resume()
  await once(response.body, 'end')
  const secrets = ({ authorization, cookie, ...rest }: Record<string, unknown>) => [
    ...[authorization, cookie, rest['x-source-key'], rest['webhook-signature'], rest.accept],
  ]
  expect(seen.map(secrets)).toEqual([
    ['Bearer k', 'c=1', 'k', '/a', 'application/json'],
    ['Bearer k', 'c=1', 'k', '/b', 'application/json'],
    [undefined, undefined, undefined, undefined, 'application/json'],
    [undefined, undefined, undefined, undefined, 'application/json'],
  ])
})

test('credentials in the target of a redirect are not sent', async () => {
  const { origin, port } = await startLoopback((request, response) => {
    if (request.url === '/a') response.writeHead(302, { location: `http://u:p@127.0.0.1:${port}/b` }).end()
    else response.end(String(request.headers.authorization))
  })
  expect(await text(setup(), `${origin}/a`)).toBe('undefined')
})

test('a redirect to something else than http is refused', async () => {
  const { origin } = await startLoopback((_request, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  )
  await failure(setup().request({ url: origin }), ERRORS.REDIRECT_REFUSED)
})

test('a redirect status without a target is an answer like any other', async () => {
  const { origin } = await startLoopback((_request, response) => response.writeHead(304).end())
  expect((await setup().request({ url: origin })).status).toBe(304)
})

// ---- broken and slow servers

test('a host that refuses the connection is named', async () => {
  const server = await startLoopback(() => undefined)
  await new Promise((resolve) => server.server.close(resolve))
  const error = await failure(setup().request({ url: server.origin }), ERRORS.CONNECT_FAILED)
  expect(error.message).toContain(`127.0.0.1:${server.port}`)
  expect(error.retryable).toBe(true)
})

test('a host name without an address is unresolved', async () => {
  const client = setup({ resolver: async () => [] })
  await failure(client.request({ url: 'http://nowhere.example/' }), ERRORS.HOST_UNRESOLVED)
})

test('a resolver that never answers ends with the time to connect', async () => {
  const client = setup({ resolver: () => new Promise(() => undefined), connectMs: 20 })
  await failure(client.request({ url: 'http://slow-dns.example/' }), ERRORS.CONNECT_FAILED)
})

test('a server that never answers runs into the timeout for headers', async () => {
  const { origin } = await startLoopback(() => undefined)
  await failure(setup().request({ url: origin, timeouts: { headersMs: 20 } }), ERRORS.HTTP_TIMEOUT)
})

test('a body that stops halfway runs into the timeout for bodies', async () => {
  const { origin } = await startLoopback((_request, response) => response.write('half'))
  const response = await setup().request({ url: origin, timeouts: { bodyMs: 20 } })
  await failure(readAll(response.body, 100), ERRORS.HTTP_TIMEOUT)
})

test('a server that drips forever is cut off at the deadline', async () => {
  const clock = new ManualClock()
  const { origin } = await startLoopback((_request, response) => {
    const drip = setInterval(() => response.write('.'), 5)
    response.on('close', () => clearInterval(drip))
  })
  const response = await setup({ clock }).request({ url: origin, timeouts: { totalMs: 60_000 } })
  const reading = failure(readAll(response.body, 1_000_000), ERRORS.HTTP_TIMEOUT)
  clock.advance(60_000)
  expect((await reading).message).toContain('60000 ms')
})

test('no deadline is left running once a body is read, destroyed or could not be had', async () => {
  const clock = new ManualClock()
  const { origin } = await startLoopback((request, response) => {
    if (request.url === '/cut') request.socket.destroy()
    else response.end('x'.repeat(100_000))
  })
  const client = setup({ clock })
  const whole = await client.request({ url: origin })
  expect(clock.sleeping).toBe(1)
  await readAll(whole.body, 100_000)
  const unread = await client.request({ url: origin })
  unread.body.destroy()
  await once(unread.body, 'close')
  await failure(client.request({ url: `${origin}/cut` }), ERRORS.CONNECTION_LOST)
  expect(clock.sleeping).toBe(0)
})

test('a body that nobody reads gives its connection back when it is destroyed', async () => {
  const server = await startLoopback((_request, response) => {
    response.write(Buffer.alloc(1_000_000))
  })
  const client = setup({ connectionsPerOrigin: 1 })
  for (let round = 0; round < 3; round++) {
    const { status, body } = await client.request({ url: server.origin })
    expect(status).toBe(200)
    body.destroy()
  }
})

test('an aborted request ends with the reason of its signal, before and while the body comes', async () => {
  const { origin } = await startLoopback((request, response) => {
    if (request.url === '/body') response.write('half')
    else request.socket.emit('asked')
  })
  const client = setup()
  const early = new AbortController()
  const pending = client.request({ url: origin, signal: early.signal })
  early.abort(new Error('enough'))
  await expect(pending).rejects.toThrow('enough')

  const later = new AbortController()
  const response = await client.request({ url: `${origin}/body`, signal: later.signal })
  const reading = readAll(response.body, 100)
  later.abort(new Error('really enough'))
  await expect(reading).rejects.toThrow('really enough')
})

test('a connection cut in the middle of a body is not mistaken for its end', async () => {
  const { origin } = await startLoopback((request, response) => {
    if (request.url === '/length') response.writeHead(200, { 'content-length': '100' })
    response.write('half', () => request.socket.destroy())
  })
  for (const path of ['/length', '/chunked']) {
    const read = async () => readAll((await setup().request({ url: origin + path })).body, 100)
    await failure(read(), ERRORS.CONNECTION_LOST)
  }
})

test('a server that does not speak HTTP is told apart from a broken one', async () => {
  const server = createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  await failure(setup().request({ url: `http://127.0.0.1:${port}/` }), ERRORS.HTTP_MALFORMED)
})

test('a closed client refuses further requests', async () => {
  const client = setup()
  await client.close()
  await failure(client.request({ url: 'http://127.0.0.1/' }), ERRORS.SHUTTING_DOWN)
})

test('an error status says whether and when to come back', async () => {
  const now = Date.UTC(2030, 0, 1)
  const answer = (status: number, headers: Record<string, string> = {}) => ({
    status,
    headers: new Headers(headers),
    url: new URL('http://shop.example/'),
  })
  expect(() => expectOk(answer(204), now)).not.toThrow()
  const busy = await failure(
    (async () => expectOk(answer(429, { 'retry-after': '7' }), now))(),
    ERRORS.HTTP_STATUS,
  )
  expect([busy.retryable, busy.retryAfter, busy.details]).toEqual([true, 7, { status: 429 }])
  const gone = await failure((async () => expectOk(answer(404), now))(), ERRORS.HTTP_STATUS)
  expect([gone.retryable, gone.retryAfter]).toEqual([false, undefined])
})
