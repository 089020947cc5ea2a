import { once } from 'node:events'
import { expect, test } from 'vitest'
import { ERRORS } from '../../src/kernel/index.ts'
import { readAll } from '../../src/net/index.ts'
import { failure, setup, text } from './http-setup.ts'
import { startLoopback } from './loopback-server.ts'

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
