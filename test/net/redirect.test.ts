import { expect, test } from 'vitest'
import { type Hop, nextHop } from '../../src/net/redirect.ts'

const hop = (url: string, more: Partial<Hop> = {}): Hop => ({
  url: new URL(url),
  method: 'GET',
  headers: new Headers({ authorization: 'Bearer k', accept: '*/*' }),
  body: undefined,
  strayed: false,
  ...more,
})

test.each([
  ['http://a.example/x', '/y', false],
  ['http://a.example/x', 'http://a.example:80/y', false],
  ['http://a.example/x', 'http://A.EXAMPLE/y', false],
  ['http://a.example/x', '//b.example/y', true],
  ['http://a.example/x', 'http://a.example:81/y', true],
  ['http://a.example/x', 'https://a.example/y', true],
  ['http://a.example/x', 'http://a.example.evil.example/', true],
  ['http://a.example/x', 'http://a.example@evil.example/', true],
  ['http://a.example/x', '\\\\evil.example\\', true],
])('from %s to %s keys are left behind: %s', (from, to, strayed) => {
  const next = nextHop(hop(from), 302, to)
  expect(next?.strayed).toBe(strayed)
  expect(next?.headers.get('authorization')).toBe(strayed ? null : 'Bearer k')
  expect(next?.headers.get('accept')).toBe('*/*')
})

test('who has strayed stays a stranger', () => {
  const away = nextHop(hop('http://a.example/'), 302, 'http://b.example/')
  const back = away && nextHop(away, 302, 'http://a.example/')
  const further = back && nextHop(back, 302, '/again')
  expect([away?.strayed, back?.strayed, further?.strayed]).toEqual([true, true, true])
})

test('nobody is led from https to http', () => {
  expect(() => nextHop(hop('https://a.example/'), 302, 'http://a.example/')).toThrow(/from https to http/)
  expect(nextHop(hop('https://a.example/'), 302, '/y')?.url.href).toBe('https://a.example/y')
})

test.each(['file:///etc/passwd', 'ftp://a.example/', 'javascript:alert(1)', 'http://', 'http://[::1'])(
  'nobody is led to %s',
  (to) => {
    expect(() => nextHop(hop('http://a.example/'), 302, to)).toThrow(/no http or https URL/)
  },
)

test('an unescaped path in a redirect is read as UTF-8', () => {
  const location = Buffer.from('/下载?x=中').toString('latin1')
  const next = nextHop(hop('http://a.example/'), 302, location)
  expect(next?.url.href).toBe('http://a.example/%E4%B8%8B%E8%BD%BD?x=%E4%B8%AD')
  expect(nextHop(hop('http://a.example/'), 302, '/caf\u00e9')?.url.pathname).toBe('/caf%C3%A9')
})

test.each([200, 300, 304, 305, 404])('a %i leads nowhere', (status) => {
  expect(nextHop(hop('http://a.example/'), status, '/y')).toBeUndefined()
})

test('a HEAD stays a HEAD', () => {
  expect(nextHop(hop('http://a.example/', { method: 'HEAD' }), 303, '/y')?.method).toBe('HEAD')
})
