import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { manifestHash, openOrder, signOrder } from '../../../src/carriers/swarm/wire/index.ts'

const MANIFEST = JSON.stringify({ size: 0, sha256: '', piece_bytes: 4, block_bytes: 4, hashes: '' })
const AGENT = 'wharf://agent/a/'

function setup() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const order = {
    task: 't1',
    agent: AGENT,
    project: 'p1',
    fileName: 'a.bin',
    places: [{ user: '', directory: '/srv' }],
    manifest: manifestHash(MANIFEST),
    expiresAt: 1_000,
  }
  const signed = { ...signOrder(privateKey, order), manifest: MANIFEST }
  const open = (change: Partial<typeof signed> = {}, { agent = AGENT, now = 0 } = {}) =>
    openOrder(publicKey, { ...signed, ...change }, { agent, now })
  return { order, signed, open }
}

test('an order is opened by the agent that it was made for', () => {
  const { order, open } = setup()
  expect(open().order).toEqual(order)
})

test('task, file name, places, user, project and manifest are signed together', () => {
  const { signed, open } = setup()
  const change = (from: string, to: string) => ({ order: signed.order.replace(from, to) })
  for (const changed of [
    change('"t1"', '"t2"'),
    change('a.bin', 'b.bin'),
    change('/srv', '/etc'),
    change('"user":""', '"user":"root"'),
    change('"p1"', '"p2"'),
    change('1000', '9000'),
  ])
    expect(() => open(changed)).toThrow('signature is wrong')
  expect(() => open({ manifest: `${MANIFEST} ` })).toThrow('not the one of the order')
})

test('an order for another agent, or an old one, is refused', () => {
  const { open } = setup()
  expect(() => open({}, { agent: 'wharf://agent/b/' })).toThrow('for another agent')
  expect(() => open({}, { now: 1_000 })).toThrow('too old')
})
