import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agentPeerId } from '../../../src/carriers/index.ts'
import { PartFile, Roots } from '../../../src/carriers/swarm/agent/place/index.ts'
import { RECENT_PIECES } from '../../../src/carriers/swarm/agent/place/recent-pieces.ts'
import { SwarmAuthority } from '../../../src/carriers/swarm/identity/authority.ts'
import {
  ArrivingPiece,
  connectParent,
  type Holding,
  PieceServer,
  RateLimit,
  receiveBlock,
  receiveHead,
  receivePiece,
  requestLine,
} from '../../../src/carriers/swarm/pieces/index.ts'
import { hashBlocks, makeManifest } from '../../../src/carriers/swarm/wire/index.ts'
import { systemClock } from '../../../src/kernel/index.ts'
import { silentLog } from '../../support/backends.ts'

const { signal } = new AbortController()
const PARENT = agentPeerId('parent', '')
const CHILD = agentPeerId('child', '')

/** A parent whose file is still growing, and a child that has asked it for everything. */
async function setup() {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-blocks-'))
  const path = join(folder, 'file')
  const content = randomBytes(2_000_001)
  writeFileSync(path, content)
  const manifest = await makeManifest(path, signal)
  mkdirSync(join(folder, 'root'))
  const place = { user: '', directory: join(folder, 'root') }
  const part = await PartFile.open(new Roots([place.directory]), {
    task: 'task',
    fileName: 'f',
    place,
    manifest,
  })
  const authority = new SwarmAuthority(systemClock, SwarmAuthority.make(systemClock))
  const found = Promise.withResolvers<Holding>()
  const server = new PieceServer({
    credentials: authority.credentials(PARENT),
    find: () => found.promise,
    now: () => Date.now(),
    upload: new RateLimit(systemClock, null),
    log: silentLog,
  })
  const port = await server.listen('127.0.0.1', 0)
  const parent = { id: PARENT, host: '127.0.0.1', port }
  const { socket, input } = await connectParent(authority.credentials(CHILD), parent, signal)
  onTestFinished(async () => {
    socket.destroy()
    await server.close()
    await part.close({ remove: true })
    rmSync(folder, { recursive: true, force: true })
  })
  const names = { task: 'task', sha256: manifest.sha256, parent: PARENT, child: CHILD }
  socket.write(requestLine({ ticket: authority.ticket(names), from: 0, blocks: null }))
  /** The next piece as the parent would have it from its own parent, of which no block was checked yet. */
  async function arriving(): Promise<ArrivingPiece> {
    const piece = await part.expectNext()
    content.copy(piece.bytes, 0, piece.index * manifest.pieceBytes)
    hashBlocks(piece.bytes, manifest.blockBytes).copy(piece.blockHashes)
    piece.checkHashes()
    return piece
  }
  const wanted = (index: number) => {
    const piece = new ArrivingPiece(manifest)
    piece.expect(index)
    return piece
  }
  const open = () => found.resolve(part)
  return { part, input, manifest, content, arriving, wanted, open }
}

test('a block is passed on when it is checked, before its piece is whole or on disk', async () => {
  const { part, input, manifest, arriving, wanted, open } = await setup()
  open()
  const piece = await arriving()
  piece.checkBlock()
  part.grown()
  const got = wanted(0)
  await receiveHead(input, got)
  await receiveBlock(input, got)
  expect(got.checked).toBe(manifest.blockBytes)
  expect([piece.isWhole, part.have]).toEqual([false, 0])
})

test('a child that asks before its parent has opened the file is not sent away', async () => {
  const { part, input, arriving, wanted, open } = await setup()
  const piece = await arriving()
  while (!piece.isWhole) piece.checkBlock()
  await part.keep(piece)
  open()
  await receivePiece(input, wanted(0), () => undefined)
})

test('a child that falls behind gets from disk what has left the memory', async () => {
  const { part, input, manifest, content, arriving, wanted, open } = await setup()
  expect(manifest.pieces).toBeGreaterThan(RECENT_PIECES + 1)
  while (part.next < manifest.pieces) {
    const piece = await arriving()
    while (!piece.isWhole) piece.checkBlock()
    await part.keep(piece)
  }
  open()
  for (let index = 0; index < manifest.pieces; index++) {
    const piece = wanted(index)
    await receivePiece(input, piece, () => undefined)
    const from = index * manifest.pieceBytes
    expect(piece.bytes.equals(content.subarray(from, from + piece.bytes.length))).toBe(true)
  }
})

test('a block with one wrong byte does not count, nor does a list of hashes with one', async () => {
  const { part, input, arriving, wanted, open } = await setup()
  open()
  const piece = await arriving()
  piece.checkBlock()
  piece.bytes[5]! ^= 1
  part.grown()
  const got = wanted(0)
  await receiveHead(input, got)
  await expect(receiveBlock(input, got)).rejects.toMatchObject({ name: 'BadPiece' })
  expect(got.checked).toBe(0)
  got.blockHashes[0]! ^= 1
  expect(() => got.checkHashes()).toThrow('is not what it should be')
})
