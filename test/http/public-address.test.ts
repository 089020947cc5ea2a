import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from 'vitest'
import { OwnAddress, warnOfUnknownAddress } from '../../src/app/ground/public-address.ts'
import { loadConfig } from '../../src/config.ts'
import type { ExportView } from '../../src/exports/index.ts'
import { TrustedProxies } from '../../src/http/auth/index.ts'
import { createLog } from '../../src/kernel/index.ts'
import { openSocket } from '../support/event-readers.ts'
import { startExports } from '../support/export-client.ts'
import { until } from '../support/until.ts'

function asked(remoteAddress: string, headers: Record<string, string>): IncomingMessage {
  return { headers, socket: { remoteAddress } } as unknown as IncomingMessage
}

describe('X-Forwarded-* headers', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'loopback'])

  test('count from trusted proxies only, and the caller is the last address that is none of theirs', () => {
    const chain = { 'x-forwarded-for': '6.6.6.6, 203.0.113.9, 10.1.1.1' }
    expect(proxies.addressOf(asked('10.0.0.1', chain))).toBe('203.0.113.9')
    expect(proxies.addressOf(asked('::ffff:10.0.0.1', chain))).toBe('203.0.113.9')
    expect(proxies.addressOf(asked('203.0.113.1', chain))).toBe('203.0.113.1')
    expect(proxies.addressOf(asked('127.0.0.1', { 'x-forwarded-for': 'nobody' }))).toBe('127.0.0.1')
    expect(proxies.addressOf(asked('2001:db8::5', { 'x-forwarded-for': '2001:db9::1' }))).toBe('2001:db9::1')
  })

  test('name the address that the caller used', () => {
    const forwarded = { 'x-forwarded-host': 'w.example.com', 'x-forwarded-proto': 'https', host: 'inner:80' }
    expect(proxies.originOf(asked('192.0.2.7', forwarded))).toBe('https://w.example.com')
    expect(proxies.originOf(asked('192.0.2.8', forwarded))).toBe('http://inner')
    for (const host of ['a/b', 'a b', 'x@y', '', 'a:99999']) {
      expect(proxies.originOf(asked('192.0.2.8', { host })), host).toBeUndefined()
    }
    expect(
      proxies.originOf(asked('10.0.0.1', { ...forwarded, 'x-forwarded-proto': 'javascript' })),
    ).toBeUndefined()
  })
})

test.each([
  [{ WHARF_PUBLIC_URL: 'https://w.example.com/' }, 'http://seen', 'https://w.example.com'],
  [{ WHARF_HOST: '0.0.0.0' }, 'http://seen', 'http://seen'],
  [{ WHARF_HOST: '0.0.0.0' }, undefined, null],
  [{ WHARF_HOST: '::' }, undefined, null],
  [{ WHARF_HOST: '10.0.0.5' }, undefined, 'http://listening'],
])('with %o, asked under %s, links lead to %s', (env, origin, base) => {
  const address = new OwnAddress(loadConfig(env))
  address.current = 'http://listening'
  expect(address.linkBase(origin)).toBe(base)
})

test('before a server listens, links lead to where it will', () => {
  const address = new OwnAddress(loadConfig({ WHARF_HOST: '10.0.0.5', WHARF_PORT: '8123' }))
  expect(address.linkBase()).toBe('http://10.0.0.5:8123')
})

test('a start on a foreign address without a public one warns in one line', () => {
  const warned = (env: Record<string, string>) => {
    const lines: string[] = []
    const log = createLog({ level: 'warn', destination: { write: (line) => lines.push(line) } })
    warnOfUnknownAddress(loadConfig(env), log)
    return lines
  }
  expect(warned({ WHARF_HOST: '0.0.0.0' })).toEqual([expect.stringContaining('WHARF_PUBLIC_URL')])
  expect(warned({})).toEqual([])
  expect(warned({ WHARF_HOST: '0.0.0.0', WHARF_PUBLIC_URL: 'https://w.example.com' })).toEqual([])
  expect(warned({ WHARF_HOST: '0.0.0.0', WHARF_TRUST_PROXY: 'private' })).toEqual([])
})

test('the samples have every name of the server, no other, and are asked where it listens', () => {
  const asked = (env: Record<string, string>, listening: string | undefined, url: string) => {
    const address = new OwnAddress(loadConfig(env))
    address.current = listening
    return address.ownSample(new URL(url))?.href
  }
  const own = 'http://127.0.0.1:81/samples/orders?rows=3'
  for (const name of ['127.0.0.1', 'localhost'])
    expect(asked({}, 'http://127.0.0.1:81', `http://${name}:81/samples/orders?rows=3`)).toBe(own)
  const everywhere = { WHARF_HOST: '0.0.0.0', WHARF_PUBLIC_URL: 'https://w.example.com/x/' }
  for (const base of ['http://127.0.0.1:81', 'http://localhost:81', 'https://w.example.com/x'])
    expect(asked(everywhere, 'http://0.0.0.0:81', `${base}/samples/orders?rows=3`)).toBe(own)
  expect(asked({ WHARF_HOST: '0.0.0.0', WHARF_PORT: '81' }, undefined, own)).toBe(own)
  for (const other of [
    'https://w.example.com/samples/orders',
    'https://w.example.com/x/api/exports',
    'https://w.example.com/x/samples/../api/exports',
    'https://w.example.com.evil.example/x/samples/orders',
    'http://w.example.com/x/samples/orders',
    'http://127.0.0.1:82/samples/orders',
    'http://127.0.0.1:81/api/exports',
  ])
    expect([other, asked(everywhere, 'http://0.0.0.0:81', other)]).toEqual([other, undefined])
})

test('an export of the samples under a public name that leads nowhere from here succeeds', async () => {
  const { client } = await startExports('embedded', {
    env: { WHARF_PUBLIC_URL: 'https://wharf.invalid/files', WHARF_ALLOW_HOSTS: '' },
  })
  await client.run({ source_url: 'https://wharf.invalid/files/samples/orders?rows=3' })
})

test('links follow the address that the caller used, and a callback has none where nobody knows it', async () => {
  const { wharf, client, business } = await startExports('embedded', {
    env: { WHARF_HOST: '0.0.0.0', WHARF_TRUST_PROXY: 'loopback', WHARF_ALLOW_HOSTS: '127.0.0.1' },
  })
  const { port } = new URL(wharf.address)
  const receiver = business.receiver()
  const view = await client.run({
    source_url: `http://localhost:${port}/samples/orders?rows=3`,
    callback: receiver.url,
  })
  const headers = { 'X-Forwarded-Host': 'w.example.com', 'X-Forwarded-Proto': 'https' }
  const ask = async (origin: string, more: Record<string, string> = {}) => {
    const answer = await client.ask('GET', `${origin}/api/exports/${view.task_id}`, {
      key: client.project.key,
      headers: more,
    })
    return ((await answer.json()) as ExportView).download_url
  }
  expect(await ask(`http://localhost:${port}`)).toMatch(new RegExp(`^http://localhost:${port}/api/exports/`))
  expect(await ask(`http://127.0.0.1:${port}`, headers)).toMatch(/^https:\/\/w\.example\.com\/api\/exports\//)
  const socket = await openSocket(`http://127.0.0.1:${port}/ws?task_id=${view.task_id}`, {
    ...headers,
    authorization: `Bearer ${client.project.key}`,
  })
  const state = await until('the state is there', () => socket.messages[0])
  expect(state.download_url).toMatch(/^https:\/\/w\.example\.com\//)
  const told = await receiver.call()
  expect(told.body).toMatchObject({ data: { status: 'succeeded', download_url: null } })
})
