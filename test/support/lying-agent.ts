// An agent that takes good pieces and gives bad ones: bytes that it has for a child are turned over, from memory and from disk.
import { AsyncLocalStorage } from 'node:async_hooks'
import { PartFile } from '../../src/carriers/swarm/agent/place/index.ts'
import type { LivePiece } from '../../src/carriers/swarm/pieces/index.ts'

const { live, read, recheck } = PartFile.prototype
/** To itself it does not lie. */
const honest = new AsyncLocalStorage<true>()

PartFile.prototype.live = function (this: PartFile, index: number): LivePiece | undefined {
  const piece = live.call(this, index)
  if (!piece) return undefined
  const { blockHashes, checked } = piece
  return { index, blockHashes, checked, bytes: turnedOver(Buffer.from(piece.bytes)) }
}

PartFile.prototype.read = async function (this: PartFile, index: number, into: Buffer): Promise<void> {
  await read.call(this, index, into)
  if (!honest.getStore()) turnedOver(into)
}

PartFile.prototype.recheck = function (this: PartFile): Promise<boolean> {
  return honest.run(true, () => recheck.call(this))
}

function turnedOver(bytes: Buffer): Buffer {
  for (let at = 0; at < bytes.length; at += 4096) bytes[at] = (bytes[at] ?? 0) ^ 0xff
  return bytes
}

await import('../../src/main.ts')
