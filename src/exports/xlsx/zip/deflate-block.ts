import { constants, crc32, deflateRawSync } from 'node:zlib'

/** A stretch of one zip entry, deflated on its own and ending on a byte boundary, so that stretches can be joined. */
export interface DeflatedBlock {
  chunks: Uint8Array[]
  /** Sum of the chunks. */
  bytes: number
  /** Of the plain bytes. */
  crc: number
  plainBytes: number
}

/** A final, empty deflate block: it ends the stream that the joined blocks form. */
export const DEFLATE_END = Uint8Array.of(3, 0)

export function emptyBlock(): DeflatedBlock {
  return { chunks: [], bytes: 0, crc: 0, plainBytes: 0 }
}

const SHARED = 1 << 16

/** Adds plain bytes to a block. They are compressed before this returns, so their buffer may be used again. */
export function deflateInto(block: DeflatedBlock, plain: Uint8Array): void {
  if (plain.length > 0) addChunk(block, plain, deflateChunk(plain))
}

/** Plain bytes by zlib, ending on a byte boundary. */
export function deflateChunk(plain: Uint8Array): Uint8Array {
  const chunk = deflateRawSync(plain, {
    level: 1,
    memLevel: 9,
    // Rows shrink to less than this, as a rule; what does not is put together from several chunks.
    chunkSize: Math.max(1 << 12, plain.length >> 2),
    finishFlush: constants.Z_SYNC_FLUSH,
  })
  // Chunks travel to another thread with the memory under them. Small ones may lie in memory that Node shares out among
  // many buffers, so they get their own.
  return chunk.length < SHARED ? new Uint8Array(chunk) : chunk
}

/** Adds what became of some plain bytes. */
export function addChunk(block: DeflatedBlock, plain: Uint8Array, chunk: Uint8Array): void {
  block.chunks.push(chunk)
  block.bytes += chunk.length
  block.crc = crc32(plain, block.crc)
  block.plainBytes += plain.length
}
