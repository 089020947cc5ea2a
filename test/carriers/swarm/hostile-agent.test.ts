import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { openIdentity } from '../../../src/carriers/swarm/agent/index.ts'
import { SwarmAuthority } from '../../../src/carriers/swarm/identity/authority.ts'
import {
  AGENT_SOCKET_PATH,
  agentPeerId,
  checkWelcome,
  makePass,
} from '../../../src/carriers/swarm/wire/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { agentLine, enroll, stateFolder } from '../../support/agents.ts'
import { silentLog } from '../../support/backends.ts'
import { setupSwarm, targetsFor, untilConnected } from '../../support/swarm.ts'
import { until } from '../../support/until.ts'

const { signal } = new AbortController()

/** How the server answers whoever shows this at the door. */
async function knock(server: string, authorization?: string): Promise<number> {
  const socket = new WebSocket(`${server.replace(/^http/, 'ws')}${AGENT_SOCKET_PATH}`, {
    headers: authorization === undefined ? {} : { authorization: `Bearer ${authorization}` },
  })
  onTestFinished(() => socket.terminate())
  socket.on('error', () => undefined)
  const refused = once(socket, 'unexpected-response').then(([, response]) => response.statusCode as number)
  const opened = once(socket, 'open').then(() => 101)
  return Promise.any([refused, opened])
}

test.each([
  ['an object as result code', { code: {} }],
  ['the code of a source that failed', { code: 209 }],
  ['a message with NUL', { code: 206, message: 'a\u0000b' }],
])('%s from one agent ends its own line, and nothing for the others', async (_what, said) => {
  const swarm = await setupSwarm()
  const server = await swarm.server({ absentMs: 1 })
  const good = await swarm.agent(server, 'good')
  const hostile = { id: 'hostile', root: good.root }
  const identity = await swarm.identityOf(server, 'hostile')
  const line = await agentLine(server.url, { id: 'hostile', identity })
  await untilConnected(server.engine, 2)
  const file = swarm.file(100_000)
  const { engineTaskId } = await server.engine.start(
    {
      projectId: 'p1',
      localPath: file.path,
      fileName: 'file.bin',
      size: file.size,
      signature: file.signature,
      targets: targetsFor([good, hostile]),
      timeoutSeconds: 3600,
    },
    signal,
  )
  await until('it has its order', () => line.heard.some(({ type }) => type === 'job'))
  line.send({ type: 'done', task: engineTaskId, message: '', ...said })
  await line.closed
  const { targets, uploadError } = await until(
    'both have ended',
    () => server.engine.result(engineTaskId, signal),
    (result) => result.targets.every(({ errorCode }) => errorCode !== 115),
  )
  expect(uploadError).toBeNull()
  expect(targets.map(({ agentId, errorCode }) => [agentId, errorCode])).toEqual([
    ['good', 0],
    ['hostile', 117],
  ])
})

test('an agent that never comes is said to be away, revoked or unknown', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server({ absentMs: 1 })
  const names = ['away', 'ghost', 'revoked']
  await swarm.identityOf(server, 'away')
  await swarm.identityOf(server, 'revoked')
  const revoked = { agentId: 'revoked', containerId: '' }
  expect(await server.ledger.transaction((tx) => server.engine.revoke(tx, revoked))).toBe(true)
  const file = swarm.file(1_000)
  const { engineTaskId } = await server.engine.start(
    {
      ...{ projectId: 'p1', localPath: file.path, fileName: 'file.bin', size: file.size },
      ...{ signature: file.signature, timeoutSeconds: 3600 },
      targets: targetsFor(names.map((id) => ({ id, root: '/srv' }))),
    },
    signal,
  )
  const { targets } = await until(
    'all have ended',
    () => server.engine.result(engineTaskId, signal),
    (result) => result.targets.every(({ errorCode }) => errorCode !== 115),
  )
  expect(targets.map(({ agentId, errorCode, errorMessage }) => [agentId, errorCode, errorMessage])).toEqual([
    ['away', 117, 'the agent is not connected'],
    ['ghost', 117, 'no such agent is enrolled'],
    ['revoked', 117, 'the agent was revoked'],
  ])
})

test('nobody gets in without the key that was enrolled', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const identity = await swarm.identityOf(server, 'a')
  const own = createPrivateKey(identity.key)
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const name = { agentId: 'a', containerId: '' }
  expect(await knock(server.url)).toBe(401)
  expect(await knock(server.url, 'agent-token-for-tests')).toBe(401)
  expect(await knock(server.url, makePass(other, name))).toBe(401)
  expect(await knock(server.url, makePass(own, { agentId: 'b', containerId: '' }))).toBe(401)
  expect(await knock(server.url, `${makePass(own, name)}.x`)).toBe(401)
  expect(await knock(server.url, makePass(own, name))).toBe(101)
  // A pass that was overheard opens the door, and no more than that.
  const line = await agentLine(server.url, { id: 'a', identity }, { hello: { signature: 'AAAA' } })
  await line.closed
  expect(line.heard).toEqual([])
})

test('a token enrols the agent that it is for, once, and only with a key that peers can use', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const token = await swarm.invite('a')
  await expect(enroll(server.url, { id: 'b', token })).rejects.toThrow('the token is not for this agent')
  await enroll(server.url, { id: 'a', token })
  await expect(enroll(server.url, { id: 'a', token })).rejects.toThrow('the token was used')
  const forged = `${(await swarm.invite('c')).split('.')[0]}.${'x'.repeat(43)}`
  await expect(enroll(server.url, { id: 'c', token: forged })).rejects.toThrow(
    'not by the server that made the token',
  )

  const socket = new WebSocket(`${server.url.replace(/^http/, 'ws')}${AGENT_SOCKET_PATH}`, {
    headers: { authorization: `Bearer ${await swarm.invite('d')}` },
  })
  onTestFinished(() => socket.terminate())
  await once(socket, 'message')
  const bad = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' })
  socket.send(
    JSON.stringify({ type: 'enroll', agent_id: 'd', container_id: '', public_key: bad, signature: '' }),
  )
  const [answer] = await once(socket, 'message')
  expect(JSON.parse(String(answer))).toMatchObject({
    type: 'refused',
    message: expect.stringContaining('P-256'),
  })
})

test('a mistyped token uses up neither the right one nor the identity that the agent has', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const state = stateFolder()
  const start = (token?: string) =>
    openIdentity(
      { clock: systemClock, log: silentLog },
      { server: server.url, agentId: 'a', containerId: '', state, token },
      new AbortController().signal,
    )
  const mistyped = (token: string, at: number) =>
    `${token.slice(0, at)}${token[at] === 'x' ? 'y' : 'x'}${token.slice(at + 1)}`
  const token = await swarm.invite('a')
  // In the secret, and in the part that names the server: the server cannot tell the second from the right one.
  for (const at of [10, token.length - 5]) await expect(start(mistyped(token, at))).rejects.toThrow('token')
  const identity = await start(token)
  expect(await start(token)).toEqual(identity)
  const another = await swarm.invite('a')
  for (const at of [10, another.length - 5])
    await expect(start(mistyped(another, at))).rejects.toThrow('token')
  expect(await start()).toEqual(identity)
  expect((await start(another)).key).not.toBe(identity.key)
})

test('a revoked agent is let go at once, stays out, and no peer takes its certificate', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const identity = await swarm.identityOf(server, 'gone')
  const [line, witness] = [
    await agentLine(server.url, { id: 'gone', identity }),
    await agentLine(server.url, { id: 'witness', identity: await swarm.identityOf(server, 'witness') }),
  ]
  await untilConnected(server.engine, 2)
  const name = { agentId: 'gone', containerId: '' }
  expect(await server.ledger.transaction((tx) => server.engine.revoke(tx, name))).toBe(true)
  expect(await line.closed).toEqual({ code: 1008, reason: 'this agent was revoked' })
  await until('the others are told', () => witness.heard.some(({ type }) => type === 'revoked'))
  expect(await knock(server.url, makePass(createPrivateKey(identity.key), name))).toBe(401)
  expect(await server.ledger.transaction((tx) => server.engine.revoke(tx, name))).toBe(false)
  await enroll(server.url, { id: 'gone', token: await swarm.invite('gone') })
})

test('an agent believes a welcome only from its own server, for its own name and key, on this line', async () => {
  const authority = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  const stranger = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  const id = agentPeerId('a', '')
  const own = {
    id,
    publicKey: createPublicKey(privateKey),
    authority: authority.certificate,
    verifyKey: authority.verifyKey,
  }
  const check =
    (welcome: Parameters<typeof checkWelcome>[0], nonce = 'n') =>
    () =>
      checkWelcome(welcome, nonce, own)
  const good = authority.welcome({ id, publicKey, nonce: 'n' }, [])
  expect(check(good)).not.toThrow()
  expect(check(good, 'another line')).toThrow('enrolled with')
  expect(check({ ...good, now: 0 })).toThrow('enrolled with')
  expect(check({ ...good, revoked: ['x'] })).toThrow('enrolled with')
  expect(check(stranger.welcome({ id, publicKey, nonce: 'n' }, []))).toThrow('enrolled with')
  expect(check(authority.welcome({ id: agentPeerId('b', ''), publicKey, nonce: 'n' }, []))).toThrow(
    'another agent',
  )
  expect(check(authority.welcome({ id, publicKey: other, nonce: 'n' }, []))).toThrow('another key')
})

test('a welcome does not travel over the bus', async () => {
  const swarm = await setupSwarm()
  const server = await swarm.server()
  const line = await agentLine(server.url, { id: 'a', identity: await swarm.identityOf(server, 'a') })
  await until('it is welcome', () => line.heard.length === 1)
  const to = (message: object) => ({
    from: 'another',
    about: 'agents',
    message: { kind: 'to', key: agentPeerId('a', ''), message },
  })
  server.bus.publish('swarm', to({ type: 'welcome', certificate: '', now: 0, revoked: [], signature: '' }))
  server.bus.publish('swarm', to({ type: 'revoked', keys: ['x'] }))
  server.bus.publish('swarm', to({ type: 'end', task: 't' }))
  await until('the last one has arrived', () => line.heard.length > 1)
  expect(line.heard.map(({ type }) => type)).toEqual(['welcome', 'end'])
})
