import { createHash, randomBytes, X509Certificate } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agentPeerId } from '../../../src/carriers/index.ts'
import { SourceFile } from '../../../src/carriers/swarm/coordinator/source-file.ts'
import { SwarmAuthority } from '../../../src/carriers/swarm/identity/authority.ts'
import {
  ArrivingPiece,
  ackFrame,
  connectParent,
  PieceServer,
  RateLimit,
  receivePiece,
  requestLine,
} from '../../../src/carriers/swarm/pieces/index.ts'
import { keyIdOf, makeManifest } from '../../../src/carriers/swarm/wire/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { silentLog } from '../../support/backends.ts'
import { until } from '../../support/until.ts'

const { signal } = new AbortController()
const PARENT = agentPeerId('parent', '')
const CHILD = agentPeerId('child', '')

async function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-pieces-'))
  const path = join(folder, 'file')
  const content = randomBytes(3_000_001)
  writeFileSync(path, content)
  const authority = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  const manifest = await makeManifest(path, signal)
  const source = await SourceFile.open('task', manifest, path)
  const server = new PieceServer({
    credentials: authority.credentials(PARENT),
    find: async (task) => (task === 'task' ? source : undefined),
    now: () => Date.now(),
    upload: new RateLimit(systemClock, null),
    log: silentLog,
  })
  const port = await server.listen('127.0.0.1', 0)
  onTestFinished(async () => {
    await server.close()
    await source.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const ticket = (change: Partial<Parameters<SwarmAuthority['ticket']>[0]> = {}) =>
    authority.ticket({ task: 'task', sha256: manifest.sha256, parent: PARENT, child: CHILD, ...change })
  /** All bytes from piece `from` on, or whatever was thrown. */
  async function take(text: string, { as = CHILD, from = 0, expected = PARENT, by = authority } = {}) {
    const line = await connectParent(by.credentials(as), { id: expected, host: '127.0.0.1', port }, signal)
    const piece = new ArrivingPiece(manifest)
    const whole = createHash('sha256')
    line.socket.write(requestLine({ ticket: text, from, blocks: null }))
    try {
      for (let index = from; index < manifest.pieces; index++) {
        piece.expect(index)
        await receivePiece(line.input, piece, () => undefined)
        whole.update(piece.bytes)
        line.socket.write(ackFrame(index + 1))
      }
      return whole.digest('hex')
    } finally {
      line.socket.destroy()
    }
  }
  return { manifest, content, ticket, take, authority, server, port }
}

test('a child with a ticket gets the file from the piece it asks for', async () => {
  const { manifest, content, ticket, take } = await setup()
  expect(await take(ticket())).toBe(manifest.sha256)
  const rest = createHash('sha256')
    .update(content.subarray(2 * manifest.pieceBytes))
    .digest('hex')
  expect(await take(ticket(), { from: 2 })).toBe(rest)
})

test("knowing an address and a hash lets nobody in: another's ticket, parent, task or file is refused", async () => {
  const { ticket, take } = await setup()
  await expect(take('no.ticket')).rejects.toThrow('not good')
  await expect(take(ticket(), { as: agentPeerId('thief', '') })).rejects.toThrow('another child')
  await expect(take(ticket({ parent: CHILD }))).rejects.toThrow('another parent')
  await expect(take(ticket({ task: 'other' }))).rejects.toThrow('not here')
  await expect(take(ticket({ sha256: '0'.repeat(64) }))).rejects.toThrow('another file')
})

test('a peer whose certificate is of another authority, or names another, is not talked to', async () => {
  const { ticket, take } = await setup()
  const stranger = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  await expect(take(ticket(), { by: stranger })).rejects.toThrow()
  await expect(take(ticket(), { expected: agentPeerId('somebody', '') })).rejects.toThrow('is not')
})

test('[agent-revoked] a revoked key loses its line and opens no other, whatever certificate it has', async () => {
  const { ticket, authority, server, port } = await setup()
  const credentials = authority.credentials(CHILD)
  const parent = { id: PARENT, host: '127.0.0.1', port }
  const line = await connectParent(credentials, parent, signal)
  line.socket.write(requestLine({ ticket: ticket(), from: 0, blocks: null }))
  await until('it is served', () => server.feedsOf('task').length === 1)
  const revoked = keyIdOf(new X509Certificate(credentials.certificate).publicKey)
  server.revoke([revoked])
  await until('its line is cut', () => server.feedsOf('task').length === 0)
  const again = connectParent(credentials, parent, signal).then(({ input }) => input.fill(Buffer.alloc(1)))
  await expect(again).rejects.toThrow()
  // Another key of the same agent, enrolled since, is good.
  const renewed = await connectParent(authority.credentials(CHILD), parent, signal)
  renewed.socket.write(requestLine({ ticket: ticket(), from: 0, blocks: null }))
  await until('it is served', () => server.feedsOf('task').length === 1)
  renewed.socket.destroy()
})
