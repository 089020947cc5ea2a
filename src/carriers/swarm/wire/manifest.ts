import { createHash, hash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { openFile } from '../../../kernel/index.ts'

const PIECE_BYTES = 256 * 1024
export const BLOCK_BYTES = 64 * 1024
export const HASH_BYTES = 32

/**
 * What a file consists of: every piece can be checked by itself, and nobody but the server can say otherwise. A piece's
 * hash is the hash of its blocks' hashes. They travel in front of the piece, so that a block can be checked, and passed
 * on, as soon as it is there, and the manifest stays small. Sizes are signed too: no block can pass for a list of hashes.
 */
export class Manifest {
  /** What is signed and sent. */
  readonly text: string
  readonly size: number
  readonly sha256: string
  readonly pieceBytes: number
  readonly blockBytes: number
  readonly #hashes: Buffer

  constructor(text: string) {
    const { size, sha256, piece_bytes, block_bytes, hashes } = JSON.parse(text) as {
      size: number
      sha256: string
      piece_bytes: number
      block_bytes: number
      hashes: string
    }
    this.text = text
    this.size = size
    this.sha256 = sha256
    this.pieceBytes = piece_bytes
    this.blockBytes = block_bytes
    if (!(block_bytes > 0 && block_bytes <= piece_bytes)) throw new Error('the manifest names no blocks')
    this.#hashes = Buffer.from(hashes, 'base64')
    if (this.#hashes.length !== Math.ceil(size / piece_bytes) * HASH_BYTES)
      throw new Error('the manifest has not one hash a piece')
  }

  get pieces(): number {
    return this.#hashes.length / HASH_BYTES
  }

  lengthOf(index: number): number {
    return Math.min(this.pieceBytes, this.size - index * this.pieceBytes)
  }

  blocksOf(index: number): number {
    return Math.ceil(this.lengthOf(index) / this.blockBytes)
  }

  /** Whether these are the hashes of the piece's blocks. */
  proves(index: number, blockHashes: Buffer): boolean {
    const wanted = this.#hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
    return hash('sha256', blockHashes, 'buffer').equals(wanted)
  }

  matches(index: number, piece: Buffer): boolean {
    return piece.length === this.lengthOf(index) && this.proves(index, hashBlocks(piece, this.blockBytes))
  }
}

/** The hashes of a piece's blocks, one after the other. */
export function hashBlocks(piece: Buffer, blockBytes: number): Buffer {
  const hashes = Buffer.allocUnsafe(Math.ceil(piece.length / blockBytes) * HASH_BYTES)
  for (let block = 0; block * blockBytes < piece.length; block++) {
    const bytes = piece.subarray(block * blockBytes, (block + 1) * blockBytes)
    hash('sha256', bytes, 'buffer').copy(hashes, block * HASH_BYTES)
  }
  return hashes
}

/** Reads the file once and hashes it twice: by piece, and as a whole. */
export async function makeManifest(
  path: string,
  signal: AbortSignal,
  pieceBytes: number = PIECE_BYTES,
): Promise<Manifest> {
  const file = await openFile(path)
  try {
    return await hashFile(file, path, pieceBytes, signal)
  } finally {
    await file.close()
  }
}

async function hashFile(
  file: FileHandle,
  path: string,
  pieceBytes: number,
  signal: AbortSignal,
): Promise<Manifest> {
  const { size } = await file.stat()
  const whole = createHash('sha256')
  const hashes: Buffer[] = []
  const piece = Buffer.allocUnsafe(pieceBytes)
  for (let offset = 0; offset < size; offset += pieceBytes) {
    signal.throwIfAborted()
    const length = Math.min(pieceBytes, size - offset)
    const bytes = piece.subarray(0, length)
    const { bytesRead } = await file.read(bytes, 0, length, offset)
    if (bytesRead !== length) throw new Error(`${path} changed while it was read`)
    whole.update(bytes)
    hashes.push(hash('sha256', hashBlocks(bytes, BLOCK_BYTES), 'buffer'))
  }
  const text = {
    size,
    sha256: whole.digest('hex'),
    piece_bytes: pieceBytes,
    block_bytes: BLOCK_BYTES,
    hashes: Buffer.concat(hashes).toString('base64'),
  }
  return new Manifest(JSON.stringify(text))
}
