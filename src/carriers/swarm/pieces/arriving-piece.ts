import { hash } from 'node:crypto'
import { HASH_BYTES, type Manifest } from '../wire/index.ts'
import type { LivePiece } from './holding.ts'

/** What a peer sent is not what the manifest says. */
export class BadPiece extends Error {
  override readonly name = 'BadPiece'
}

/** Room for one piece on its way in. The same memory is used for one piece after another. */
export class ArrivingPiece implements LivePiece {
  readonly #manifest: Manifest
  readonly #memory: Buffer
  readonly #hashMemory: Buffer
  index = -1
  checked = 0
  bytes: Buffer
  blockHashes: Buffer

  constructor(manifest: Manifest) {
    this.#manifest = manifest
    this.#memory = Buffer.allocUnsafe(Math.min(manifest.pieceBytes, manifest.size))
    this.#hashMemory = Buffer.allocUnsafe(manifest.pieces > 0 ? manifest.blocksOf(0) * HASH_BYTES : 0)
    this.bytes = this.#memory
    this.blockHashes = this.#hashMemory
  }

  /** Makes room for this piece; nothing of it is here yet. */
  expect(index: number): void {
    this.index = index
    this.checked = 0
    this.bytes = this.#memory.subarray(0, this.#manifest.lengthOf(index))
    this.blockHashes = this.#hashMemory.subarray(0, this.#manifest.blocksOf(index) * HASH_BYTES)
  }

  get isWhole(): boolean {
    return this.checked === this.bytes.length
  }

  /** Where the next block belongs. */
  get nextBlock(): Buffer {
    return this.bytes.subarray(this.checked, this.checked + this.#manifest.blockBytes)
  }

  checkHashes(): void {
    if (!this.#manifest.proves(this.index, this.blockHashes)) throw this.#bad()
  }

  checkBlock(): void {
    const block = this.nextBlock
    const at = (this.checked / this.#manifest.blockBytes) * HASH_BYTES
    const wanted = this.blockHashes.subarray(at, at + HASH_BYTES)
    if (!hash('sha256', block, 'buffer').equals(wanted)) throw this.#bad()
    this.checked += block.length
  }

  #bad(): BadPiece {
    return new BadPiece(`piece ${this.index} is not what it should be`)
  }
}
