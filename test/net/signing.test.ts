import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import {
  goodSecrets,
  newWebhookSecret,
  ROTATION_OVERLAP_MS,
  rotateSecret,
  signCallback,
  signPull,
} from '../../src/net/index.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

test('a callback is signed as the specification shows', () => {
  const headers = signCallback([SECRET], {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    now: 1_614_265_330_999,
    body: '{"test": 2432232314}',
  })
  expect(headers).toEqual({
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  })
})

test('a receiver with any of the good secrets accepts a callback', () => {
  const secrets = [newWebhookSecret(), newWebhookSecret()]
  const body = '{"type":"export.succeeded","data":{"file":"报表.xlsx"}}'
  const headers = signCallback(secrets, { id: 'msg_1', now: Date.now(), body })
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow()
  expect(() => new Webhook(secrets[0] ?? '').verify(body.replace('succeeded', 'failed'), headers)).toThrow()
})

test('a pull is signed over id, time and the full URL as it is sent', () => {
  const url = new URL('http://user:pw@shop.example/orders?q=%E4%B8%AD&page=0&page_size=1#top')
  const headers = signPull([SECRET], { url, now: 1_700_000_000_000, id: 'pull_1' })
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const content = 'pull_1.1700000000.http://shop.example/orders?q=%E4%B8%AD&page=0&page_size=1'
  expect(headers['webhook-signature']).toBe(
    `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
  )
})

test('each pull gets an id of its own', () => {
  const url = new URL('http://shop.example/')
  const ids = Array.from({ length: 3 }, () => signPull([SECRET], { url, now: 0 })['webhook-id'])
  expect(new Set(ids).size).toBe(3)
})

test('an id that would blur id, time and content is refused', () => {
  expect(() => signCallback([SECRET], { id: 'a.1', now: 0, body: '' })).toThrow(/webhook-id/)
  expect(() => signCallback([], { id: 'a', now: 0, body: '' })).toThrow(/no webhook secret/)
})

test('after a rotation the old secret stays good for a day, and no longer', () => {
  const first = [{ secret: SECRET, goodUntil: null }]
  const rotated = rotateSecret(first, 1_000)
  expect(goodSecrets(rotated, 1_000)).toHaveLength(2)
  expect(goodSecrets(rotated, 1_000)).toContain(SECRET)
  expect(goodSecrets(rotated, 1_000 + ROTATION_OVERLAP_MS)).toEqual([rotated[0]?.secret])
  // A second rotation does not lengthen the life of the first secret.
  const again = rotateSecret(rotated, 2_000)
  expect(goodSecrets(again, 2_000)).toHaveLength(3)
  expect(goodSecrets(again, 1_000 + ROTATION_OVERLAP_MS)).not.toContain(SECRET)
  expect(rotateSecret(again, 1_000 + 2 * ROTATION_OVERLAP_MS)).toHaveLength(2)
})

test('a new secret has the form that receivers expect', () => {
  expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/)
})
