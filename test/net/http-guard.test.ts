import { expect, test } from 'vitest'
import { OwnAddress } from '../../src/app/ground/public-address.ts'
import { loadConfig } from '../../src/config.ts'
import { ERRORS } from '../../src/kernel/index.ts'
import type { Resolver } from '../../src/net/guard/index.ts'
import { NOTHING_PRIVATE } from '../../src/net/index.ts'
import { failure, setup, text } from './http-setup.ts'
import { startLoopback } from './loopback-server.ts'

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
  const address = new OwnAddress(loadConfig({}))
  address.current = server.origin
  const client = setup({ allow: NOTHING_PRIVATE, inPlaceOf: (url) => address.ownSample(url) })
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
