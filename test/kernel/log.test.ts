import { expect, test } from 'vitest'
import { AppError, createLog, ERRORS } from '../../src/kernel/index.ts'
import { forPeople } from '../../src/kernel/log.ts'

const SECRET = 'do-not-print-me'

function setup() {
  const lines: string[] = []
  const log = createLog({ level: 'debug', destination: { write: (line) => void lines.push(line) } })
  return {
    log,
    text: () => lines.join(''),
    last: () => JSON.parse(lines.at(-1) as string) as Record<string, unknown>,
  }
}

const KEYS = [
  'authorization',
  'Authorization',
  'cookie',
  'set-cookie',
  'api_key',
  'apiKey',
  'x-api-key',
  'webhook_secret',
  'webhookSecret',
  'admin_token',
  'adminToken',
  'token',
  'ticket',
  'password',
  'secret',
  'source_headers',
  'sourceHeaders',
]

test.each(KEYS)('the value of %s reaches no line, at whatever depth', (key) => {
  const { log, text } = setup()
  log.info({ [key]: SECRET }, 'top')
  log.info({ a: { [key]: SECRET } }, 'one below')
  log.info({ req: { headers: { [key]: SECRET } } }, 'in headers')
  log.info({ a: { b: { c: { d: [{ [key]: { deep: SECRET } }] } } } }, 'far below')
  log.child({ [key]: SECRET, a: { b: { [key]: SECRET } } }).info('of a child')
  expect(text()).not.toContain(SECRET)
  expect(text()).toContain('[redacted]')
})

test('secrets inside errors and their causes reach no line either', () => {
  const { log, text, last } = setup()
  const cause = Object.assign(new Error('below'), { request: { headers: { authorization: SECRET } } })
  const error = new AppError(ERRORS.FORBIDDEN, 'refused', { cause, details: { body: { password: SECRET } } })
  log.error({ err: error }, 'it failed')
  log.error(error)
  expect(text()).not.toContain(SECRET)
  expect(last()).toMatchObject({ err: { message: expect.stringContaining('refused') } })
  expect(text()).toContain('below')
})

test('everything else is written as it is', () => {
  const { log, last } = setup()
  const at = new Date(0)
  log.info(
    { jobId: 'j', list: [1, { two: null }], at, tokens: 3, missing: undefined, big: 7n.toString() },
    'words',
  )
  expect(last()).toMatchObject({
    jobId: 'j',
    list: [1, { two: null }],
    at: '1970-01-01T00:00:00.000Z',
    tokens: 3,
    big: '7',
    msg: 'words',
  })
})

test('what refers to itself is written all the same', () => {
  const { log, text } = setup()
  const loop: Record<string, unknown> = { name: 'loop', token: SECRET }
  loop.self = loop
  log.info({ loop }, 'words')
  expect(text()).toContain('words')
  expect(text()).not.toContain(SECRET)
})

test('the object that is logged stays as it was', () => {
  const { log } = setup()
  const value = { a: { token: SECRET } }
  log.info(value, 'words')
  expect(value).toEqual({ a: { token: SECRET } })
})

test('lines below the level are not written', () => {
  const lines: string[] = []
  const log = createLog({ level: 'warn', destination: { write: (line) => void lines.push(line) } })
  log.info('no')
  log.warn('yes')
  expect(lines).toHaveLength(1)
})

test('on a terminal a line is for people: time, level, message, details, stack', () => {
  const { log, last } = setup()
  log.warn({ err: new AppError(ERRORS.INTERNAL, 'it broke'), jobs: 3 }, 'something happened')
  const [first, second] = forPeople(JSON.stringify(last())).split('\n')
  expect(first).toMatch(/^\d\d:\d\d:\d\d WARN {2}something happened \{"jobs":3,/)
  expect(second).toBe('AppError: it broke')
})
