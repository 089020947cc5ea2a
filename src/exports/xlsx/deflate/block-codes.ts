import { setCodeLengths } from './huffman.ts'
import { XML } from './row-buffer.ts'
import { DISTANCE_SYMBOL, DISTANCE_SYMBOLS, END_OF_BLOCK, LENGTH_SYMBOL, LITERAL_SYMBOLS } from './symbols.ts'
import { LITERALS_ALONE, TOKENS } from './tokens.ts'

/**
 * Codes are kept shorter than the 15 bits that deflate allows, so that two literals, or a distance with its extra bits,
 * always fit a word that holds up to 7 bits already. Only symbols that hardly occur are long enough to notice.
 */
const LONGEST_LITERAL = 12
const LONGEST_DISTANCE = 11

const xml = XML
const words = TOKENS
const alone = LITERALS_ALONE
const distanceSymbol = DISTANCE_SYMBOL
const literals = new Int32Array(LITERAL_SYMBOLS)
const distances = new Int32Array(DISTANCE_SYMBOLS)
const lengths = new Int32Array(256)

/** Lengths of a block's two codes. */
export class BlockCodes {
  readonly literals = new Uint8Array(LITERAL_SYMBOLS)
  readonly distances = new Uint8Array(DISTANCE_SYMBOLS)

  /** Makes them fit `count` tokens that stand for `end` bytes. Symbols that have a code keep one. */
  fit(end: number, count: number): void {
    for (let n = 0; n < LITERAL_SYMBOLS; n += 1) literals[n] = Math.min(1, this.literals[n]!)
    for (let n = 0; n < DISTANCE_SYMBOLS; n += 1) distances[n] = Math.min(1, this.distances[n]!)
    lengths.fill(0)
    countSymbols(end, count)
    for (let n = 0; n < 256; n += 1) literals[LENGTH_SYMBOL[n]!]! += lengths[n]!
    literals[END_OF_BLOCK] = 1
    setCodeLengths(this.literals, literals, LONGEST_LITERAL)
    setCodeLengths(this.distances, distances, LONGEST_DISTANCE)
  }

  clear(): void {
    this.literals.fill(0)
    this.distances.fill(0)
  }
}

/**
 * Nothing may follow the loop here, nor in the other loops over tokens: compiled while it runs for the first time, it would
 * be thrown away at its end, where the compiler has not been yet.
 */
function countSymbols(end: number, count: number): void {
  let at = 0
  for (let n = 0; n <= count; n = (n + 1) | 0) {
    const word = words[n]!
    const run = word >>> 23
    const stop = n === count ? end : (at + run) | 0
    for (; at < stop; at = (at + 1) | 0) {
      const byte = xml[at]!
      literals[byte] = (literals[byte]! + 1) | 0
    }
    if (run === alone || n === count) continue
    const length = (word >>> 15) & 0xff
    const distance = word & 0x7fff
    const symbol = distanceSymbol[distance < 256 ? distance : 256 + (distance >>> 7)]!
    lengths[length] = (lengths[length]! + 1) | 0
    distances[symbol] = (distances[symbol]! + 1) | 0
    at = (at + length + 3) | 0
  }
}
