import { once } from 'node:events'
import { expect, test } from 'vitest'
import { toAppError } from '../../src/http/answers/index.ts'
import { problemOf } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject, startHttp } from '../support/http.ts'
import { openConnection, upgradeHead } from '../support/raw-connection.ts'

/** Sends bytes as they are, and reads until the server closes. */
async function answerTo(
  address: string,
  bytes: string,
): Promise<{ status: number; head: string; body: string }> {
  const socket = await openConnection(address)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(bytes)
  await Promise.race([once(socket, 'end'), once(socket, 'close')])
  socket.destroy()
  const [head = '', body = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body }
}

const request = (line: string, ...headers: string[]) =>
  `${[line, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400, 'REQUEST_INVALID'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'REQUEST_INVALID'],
  ['a header that is none', 'GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n', 400, 'REQUEST_INVALID'],
  [
    'two lengths',
    request('POST /api/runs HTTP/1.1', 'Host: x', 'Content-Length: 1', 'Content-Length: 2'),
    400,
    'REQUEST_INVALID',
  ],
  [
    'headers without end',
    request('GET / HTTP/1.1', 'Host: x', `X: ${'y'.repeat(200_000)}`),
    431,
    'HEADERS_TOO_LARGE',
  ],
  ['a path that cannot be decoded', request('GET /api/%zz HTTP/1.1', 'Host: x'), 400, 'REQUEST_INVALID'],
  [
    'an id that is too long',
    request(`GET /api/exports/${'x'.repeat(40_000)} HTTP/1.1`, 'Host: x'),
    400,
    'REQUEST_INVALID',
  ],
  ['no host', request('GET /api/nothing HTTP/1.1'), 400, 'REQUEST_INVALID'],
  [
    'an odd expectation',
    request('GET /api/projects HTTP/1.1', 'Host: x', 'Expect: wonders'),
    401,
    'UNAUTHENTICATED',
  ],
  [
    'an unknown method',
    request('PROPFIND /api/projects HTTP/1.1', 'Host: x', `Authorization: Bearer ${ADMIN_TOKEN}`),
    405,
    'METHOD_NOT_ALLOWED',
  ],
  ['an upgrade to a WebSocket that is none', upgradeHead('/api/projects'), 404, 'NOT_FOUND'],
  ['an agent without a pass', upgradeHead('/ws/agent'), 401, 'UNAUTHENTICATED'],
  [
    'an upgrade without its key',
    `GET /ws HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer ${ADMIN_TOKEN}\r\n\r\n`,
    400,
    'REQUEST_INVALID',
  ],
] as const)('%s is answered with a problem document', async (_, bytes, status, code) => {
  const { address } = await startHttp()
  const answer = await answerTo(address, bytes)
  expect(answer.head).toMatch(/content-type: application\/problem\+json/i)
  expect(answer.status, answer.body).toBe(status)
  expect(JSON.parse(answer.body)).toMatchObject({
    status,
    code,
    type: expect.any(String),
    detail: expect.any(String),
  })
})

test('an offer of another protocol is passed over, and the request answered', async () => {
  const { address } = await startHttp()
  const answer = await answerTo(
    address,
    'GET /livez HTTP/1.1\r\nHost: x\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n',
  )
  expect(answer.status).toBe(200)
})

test('a type of a body that is not there is passed over', async () => {
  const wharf = await startHttp()
  const { id } = await newProject(wharf)
  for (const type of ['application/json', 'text/plain']) {
    const headers = { 'content-type': type }
    const missing = wharf.ask('DELETE', '/api/exports/unknown', { key: ADMIN_TOKEN, headers })
    expect(await problemOf(missing)).toMatchObject({ status: 404, code: 'TASK_NOT_FOUND' })
  }
  const headers = { 'content-type': 'application/json' }
  const deleted = await wharf.ask('DELETE', `/api/projects/${id}`, { key: ADMIN_TOKEN, headers })
  expect(deleted.status).toBe(204)
})

test('a SyntaxError of a body is the caller’s, one of our own code is ours', async () => {
  const body = Object.assign(new SyntaxError('Unexpected token'), { statusCode: 400 })
  expect(toAppError(body)).toMatchObject({ code: 'BODY_NOT_JSON' })
  expect(toAppError(new SyntaxError('Invalid regular expression'))).toMatchObject({ code: 'INTERNAL' })
  const wharf = await startHttp()
  const { key } = await newProject(wharf)
  for (const path of ['/api/exports', '/api/transfers'])
    expect(
      await problemOf(
        fetch(`${wharf.address}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: '{"a":',
        }),
      ),
    ).toMatchObject({ code: 'BODY_NOT_JSON', detail: expect.stringMatching(/not valid JSON/) })
})

const wrong = (
  instancePath: string,
  schemaPath: string,
  keyword: string,
  params: object,
  message: string,
) => ({
  instancePath,
  schemaPath,
  keyword,
  params,
  message,
})

test.each([
  [
    'the variant that it is nearly of',
    [
      wrong(
        '/wish/name',
        '#/properties/wish/anyOf/0/properties/name/minLength',
        'minLength',
        {},
        'is too short',
      ),
      wrong('/wish', '#/properties/wish/anyOf/1/type', 'type', { type: 'null' }, 'must be null'),
      wrong('/wish', '#/properties/wish/anyOf', 'anyOf', {}, 'must match a schema in anyOf'),
    ],
    'body/wish/name is too short',
  ],
  [
    'the types that it may have',
    [
      wrong('/p/0', '#/properties/p/items/anyOf/0/type', 'type', { type: 'string' }, 'must be string'),
      wrong('/p/0', '#/properties/p/items/anyOf/1/type', 'type', { type: 'null' }, 'must be null'),
      wrong('/p/0', '#/properties/p/items/anyOf', 'anyOf', {}, 'must match a schema in anyOf'),
    ],
    'body/p/0 must be string or null',
  ],
  [
    'the values that it may have',
    [
      wrong('/kind', '#/properties/kind/anyOf/0/const', 'const', { allowedValue: 'a' }, 'must be equal'),
      wrong('/kind', '#/properties/kind/anyOf/1/const', 'const', { allowedValue: 'b' }, 'must be equal'),
      wrong('/kind', '#/properties/kind/anyOf', 'anyOf', {}, 'must match a schema in anyOf'),
    ],
    'body/kind must be "a" or "b"',
  ],
])('a value that fits no variant of a union has one error: %s', (_, validation, detail) => {
  const error = Object.assign(new Error('body'), { validation, validationContext: 'body' })
  expect(toAppError(error).message).toBe(detail)
})
