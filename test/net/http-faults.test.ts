import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { ERRORS } from '../../src/kernel/index.ts'
import { expectOk, readAll } from '../../src/net/index.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { failure, setup } from './http-setup.ts'
import { startLoopback } from './loopback-server.ts'

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
