import type { BlockCodes } from './block-codes.ts'
import { putBlockHeader } from './block-header.ts'
import { setCodes } from './huffman.ts'
import { XML } from './row-buffer.ts'
import {
  DISTANCE_SYMBOL,
  DISTANCE_SYMBOLS,
  DISTANCES,
  END_OF_BLOCK,
  LENGTH_EXTRA,
  LENGTH_REST,
  LENGTH_SYMBOL,
  LITERAL_SYMBOLS,
} from './symbols.ts'
import { LITERALS_ALONE, TOKENS } from './tokens.ts'

/** Header and end of a block, more than enough. */
const BLOCK_EXTRA = 1024

/** Where blocks are written. Codes made for another block might take 12 bits a literal. */
export const TARGET = new Uint8Array(XML.length + XML.length / 2 + BLOCK_EXTRA)

/** Distances that are looked up whole, with their extra bits. */
const NEAR = 1 << 11

const xml = XML
const words = TOKENS
const alone = LITERALS_ALONE
const view = new DataView(TARGET.buffer)
const distanceSymbol = DISTANCE_SYMBOL
const { base, extra } = DISTANCES
/** The block's codes, see `setCodes`; 0 where a symbol has none. */
const literals = new Int32Array(LITERAL_SYMBOLS)
const distances = new Int32Array(DISTANCE_SYMBOLS)
/** By length - 3, and by distance - 1: the code with its extra bits, shifted left by 5, and how many bits that is. */
const lengths = new Int32Array(256)
const near = new Int32Array(NEAR)

/** An empty stored block: it ends on a byte boundary wherever it begins. */
const STORED = 0
const EMPTY = 0xffff_0000

let position = 0
/** Bits that do not fill a byte yet, and how many: 0 to 7. */
let bits = 0
let held = 0

/** Writes the header for these codes, which all blocks have until other codes are set. Gives where it ends, in bits. */
export function setBlockCodes(codes: BlockCodes): number {
  setCodes(literals, codes.literals)
  setCodes(distances, codes.distances)
  for (let n = 0; n < 256; n += 1)
    lengths[n] = withExtra(literals[LENGTH_SYMBOL[n]!]!, LENGTH_REST[n]!, LENGTH_EXTRA[n]!)
  for (let n = 0, symbol = 0; n < NEAR; n += 1) {
    if (n === base[symbol + 1]) symbol += 1
    near[n] = withExtra(distances[symbol]!, n - base[symbol]!, extra[symbol]!)
  }
  position = 0
  bits = 0
  held = 0
  putBlockHeader(codes.literals, codes.distances, put)
  // The begun byte too, so that it can be taken up again.
  view.setInt32(position, bits, true)
  return position * 8 + held
}

function withExtra(code: number, rest: number, size: number): number {
  if (code === 0) return 0
  return (((code >>> 4) | (rest << (code & 15))) << 5) | ((code & 15) + size)
}

/**
 * Writes `count` tokens for `end` bytes after a header that ends at bit `start`, and then an empty block, which fills up
 * the last byte. Gives the bytes that were written, or -1 when the codes lack a symbol.
 */
export function writeBlock(start: number, end: number, count: number): number {
  position = start >>> 3
  held = start & 7
  bits = view.getUint8(position) & ((1 << held) - 1)
  if (writeTokens(end, count) < 0) return -1
  put(literals[END_OF_BLOCK]! >>> 4, literals[END_OF_BLOCK]! & 15)
  put(STORED, 3)
  put(0, -held & 7)
  view.setUint32(position, EMPTY, true)
  return position + 4
}

function put(value: number, size: number): void {
  bits |= value << held
  held += size
  view.setInt32(position, bits, true)
  position += held >>> 3
  bits >>>= held & 24
  held &= 7
}

/**
 * Nearly all of the time goes here and into finding the tokens. Whatever is put fits the word of 32 bits together with the
 * 7 that may be left in it. Gives a negative number when a symbol has no code.
 */
function writeTokens(end: number, count: number): number {
  let o = position
  let b = bits
  let h = held
  let at = 0
  let lacking = 0
  for (let n = 0; n <= count; n = (n + 1) | 0) {
    const word = words[n]!
    const run = word >>> 23
    const stop = n === count ? end : (at + run) | 0
    for (; at < stop; at = (at + 2) | 0) {
      // The second is left out, by making it no bits long, where the stretch ends between the two.
      const mask = ((at + 1 - stop) | 0) >> 31
      const first = literals[xml[at]!]!
      const second = literals[xml[(at + 1) | 0]!]!
      lacking |= (first - 1) | ((second - 1) & mask)
      b |= (first >>> 4) << h
      h = (h + (first & 15)) | 0
      b |= ((second & mask) >>> 4) << h
      h = (h + (second & mask & 15)) | 0
      view.setInt32(o, b, true)
      o = (o + (h >>> 3)) | 0
      b >>>= h & 24
      h &= 7
    }
    at = stop
    if (run === alone || n === count) continue
    const length = lengths[(word >>> 15) & 0xff]!
    const far = word & 0x7fff
    at = (at + ((word >>> 15) & 0xff) + 3) | 0
    if (far < NEAR) {
      const distance = near[far]!
      lacking |= (length - 1) | (distance - 1)
      const size = length & 31
      const both = (size + (distance & 31)) | 0
      if (both <= 24) {
        b |= ((length >>> 5) | ((distance >>> 5) << size)) << h
        h = (h + both) | 0
        view.setInt32(o, b, true)
        o = (o + (h >>> 3)) | 0
        b >>>= h & 24
        h &= 7
        continue
      }
    }
    b |= (length >>> 5) << h
    h = (h + (length & 31)) | 0
    view.setInt32(o, b, true)
    o = (o + (h >>> 3)) | 0
    b >>>= h & 24
    h &= 7
    const symbol = distanceSymbol[far < 256 ? far : 256 + (far >>> 7)]!
    const code = distances[symbol]!
    lacking |= (length - 1) | (code - 1)
    b |= ((code >>> 4) | ((far - base[symbol]!) << (code & 15))) << h
    h = (h + (code & 15) + extra[symbol]!) | 0
    view.setInt32(o, b, true)
    o = (o + (h >>> 3)) | 0
    b >>>= h & 24
    h &= 7
  }
  position = o
  bits = b
  held = h
  return lacking
}
