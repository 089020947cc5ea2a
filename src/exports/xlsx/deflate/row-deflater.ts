import { addChunk, type DeflatedBlock, deflateChunk } from '../zip/deflate-block.ts'
import { BlockCodes } from './block-codes.ts'
import { setBlockCodes, TARGET, writeBlock } from './block-writer.ts'
import { XML } from './row-buffer.ts'
import { matchRows } from './row-matcher.ts'

/** Less than this is left to zlib, which needs no warming up. */
const SMALL = 1 << 16
/** Bytes of the sample that is compressed by zlib too, now and then, to compare the sizes. */
const SAMPLE = 1 << 16
/** zlib does better on more bytes than it does on the sample, so what we make may be no larger than this times that. */
const MARGIN = 1.05
const BLOCKS_A_JUDGEMENT = 16
const BLOCKS_A_CODE = 16
/** Codes are made anew, and the judgement too, when a block comes out larger than expected by more than this. */
const DRIFT = 1.03

/**
 * Compresses the XML of one piece's rows, block by block. Rows are like one another, and what makes use of that is quicker
 * than zlib and no worse. In long texts it is worse, as only a search finds what repeats there: zlib gets those.
 */
export class RowDeflater {
  readonly #codes = new BlockCodes()
  /** How many blocks the codes, and the judgement, will still do for. */
  #codesLeft = 0
  #judgementLeft = 0
  #leftToZlib = false
  /** Bytes that a byte of XML took, when the codes were made. */
  #rate = 0
  #headerEnd = 0

  /** A piece comes out the same whatever the thread did before. */
  begin(): void {
    this.#codes.clear()
    this.#codesLeft = 0
    this.#judgementLeft = 0
    this.#leftToZlib = false
  }

  /** Adds the first `length` bytes of `XML`, with N words of `MARKS`. */
  deflateInto(block: DeflatedBlock, length: number, marked: number): void {
    if (length === 0) return
    const plain = XML.subarray(0, length)
    const waits = this.#leftToZlib && this.#judgementLeft > 0
    const bytes = length < SMALL || waits ? Number.POSITIVE_INFINITY : this.#write(length, marked)
    this.#judgementLeft -= 1
    if (this.#accepts(bytes, length)) addChunk(block, plain, TARGET.slice(0, bytes))
    else addChunk(block, plain, deflateChunk(plain))
  }

  #write(length: number, marked: number): number {
    const count = matchRows(length, marked)
    if (this.#codesLeft > 0) {
      this.#codesLeft -= 1
      const bytes = writeBlock(this.#headerEnd, length, count)
      if (bytes >= 0 && bytes <= length * this.#rate * DRIFT) return bytes
    }
    this.#codes.fit(length, count)
    this.#headerEnd = setBlockCodes(this.#codes)
    const bytes = writeBlock(this.#headerEnd, length, count)
    const rate = bytes / length
    if (rate > this.#rate * DRIFT) this.#judgementLeft = 0
    this.#rate = rate
    this.#codesLeft = BLOCKS_A_CODE - 1
    return bytes
  }

  #accepts(bytes: number, length: number): boolean {
    if (bytes === Number.POSITIVE_INFINITY) return false
    if (this.#judgementLeft <= 0) {
      const sample = XML.subarray(0, Math.min(length, SAMPLE))
      this.#leftToZlib = bytes / length > (deflateChunk(sample).length / sample.length) * MARGIN
      this.#judgementLeft = BLOCKS_A_JUDGEMENT
    }
    return !this.#leftToZlib
  }
}
