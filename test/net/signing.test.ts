import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signCallback, signPull } from '../../src/net/index.ts'

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const OTHER_SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD'
const THIRD_SECRET = 'whsec_DaAcw8nHuWqD2QYsmqVYyYkKvJYpoXqo'

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
  const secrets = [SECRET, OTHER_SECRET]
  const body = '{"type":"export.succeeded","data":{"file":"报表.xlsx"}}'
  const headers = signCallback(secrets, { id: 'msg_1', now: Date.now(), body })
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  expect(() => new Webhook(THIRD_SECRET).verify(body, headers)).toThrow()
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
  for (const secret of ['', 'whsec_', 'whsec_?', 'whsec_a b'])
    expect(() => signCallback([secret], { id: 'a', now: 0, body: '' })).toThrow(/must be base64/)
})
