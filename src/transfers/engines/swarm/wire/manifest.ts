import { createHash, hash, type KeyObject } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { isSigned } from './signed.ts'

export const PIECE_BYTES = 256 * 1024
const HASH_BYTES = 32

/** What a file consists of: every piece can be checked by itself, and nobody but the server can say otherwise. */
export class Manifest {
  /** What is signed and sent. */
  readonly text: string
  readonly size: number
  readonly sha256: string
  readonly pieceBytes: number
  readonly #hashes: Buffer

  constructor(text: string) {
    const { size, sha256, piece_bytes, hashes } = JSON.parse(text) as {
      size: number
      sha256: string
      piece_bytes: number
      hashes: string
    }
    this.text = text
    this.size = size
    this.sha256 = sha256
    this.pieceBytes = piece_bytes
    this.#hashes = Buffer.from(hashes, 'base64')
    if (this.#hashes.length !== Math.ceil(size / piece_bytes) * HASH_BYTES)
      throw new Error('the manifest has not one hash a piece')
  }

  /** A manifest that the server signed; throws on any other. */
  static open(text: string, signature: string, key: KeyObject): Manifest {
    if (!isSigned(key, 'manifest', text, signature)) throw new Error("the manifest's signature is wrong")
    return new Manifest(text)
  }

  get pieces(): number {
    return this.#hashes.length / HASH_BYTES
  }

  lengthOf(index: number): number {
    return Math.min(this.pieceBytes, this.size - index * this.pieceBytes)
  }

  matches(index: number, piece: Buffer): boolean {
    if (piece.length !== this.lengthOf(index)) return false
    const wanted = this.#hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)
    return hash('sha256', piece, 'buffer').equals(wanted)
  }
}

/** Reads the file once and hashes it twice: by piece, and as a whole. */
export async function makeManifest(
  path: string,
  signal: AbortSignal,
  pieceBytes: number = PIECE_BYTES,
): Promise<Manifest> {
  const file = await open(path, 'r')
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
    hashes.push(hash('sha256', bytes, 'buffer'))
  }
  const sha256 = whole.digest('hex')
  const text = { size, sha256, piece_bytes: pieceBytes, hashes: Buffer.concat(hashes).toString('base64') }
  return new Manifest(JSON.stringify(text))
}
