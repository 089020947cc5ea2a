import { expect, test } from 'vitest'
import { ERRORS } from '../../src/kernel/index.ts'
import { readAll } from '../../src/net/index.ts'
import { failure, setup, text } from './http-setup.ts'
import { startLoopback } from './loopback-server.ts'

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
