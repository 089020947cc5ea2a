import { setCodeLengths, setCodes } from './huffman.ts'

/** Order in which deflate sends the lengths of the code that sends the lengths (RFC 1951, 3.2.7). */
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
const REPEAT = 16
const ZEROS = 17
const MANY_ZEROS = 18
const EXTRA_BITS = [2, 3, 7]

/** What comes before a block with codes of its own: its kind, not the last one, and the lengths of both codes. */
export function putBlockHeader(
  literalLengths: Uint8Array,
  distanceLengths: Uint8Array,
  put: (value: number, bits: number) => void,
): void {
  const literals = trimmed(literalLengths, 257)
  const distances = trimmed(distanceLengths, 1)
  const runs = runLengths([...literals, ...distances])
  const counts = new Int32Array(ORDER.length)
  for (const [symbol] of runs) counts[symbol]! += 1
  const lengths = new Uint8Array(ORDER.length)
  setCodeLengths(lengths, counts, 7)
  const codes = new Int32Array(ORDER.length)
  setCodes(codes, lengths)
  let sent = ORDER.length
  while (sent > 4 && lengths[ORDER[sent - 1]!] === 0) sent -= 1
  put(0, 1)
  put(2, 2)
  put(literals.length - 257, 5)
  put(distances.length - 1, 5)
  put(sent - 4, 4)
  for (const symbol of ORDER.slice(0, sent)) put(lengths[symbol]!, 3)
  for (const [symbol, rest] of runs) {
    put(codes[symbol]! >>> 4, codes[symbol]! & 15)
    if (symbol >= REPEAT) put(rest, EXTRA_BITS[symbol - REPEAT]!)
  }
}

function trimmed(lengths: Uint8Array, least: number): Uint8Array {
  let end = lengths.length
  while (end > least && lengths[end - 1] === 0) end -= 1
  return lengths.subarray(0, end)
}

/** Lengths as symbols: the lengths themselves, and three that repeat, each with how often beyond its least. */
function runLengths(lengths: number[]): [symbol: number, rest: number][] {
  const symbols: [number, number][] = []
  for (let at = 0; at < lengths.length; ) {
    const length = lengths[at]!
    let end = at + 1
    while (end < lengths.length && lengths[end] === length) end += 1
    if (length !== 0) {
      symbols.push([length, 0])
      at += 1
    }
    while (end - at >= 3) {
      const most = length === 0 ? 138 : 6
      const count = Math.min(end - at, most)
      if (length !== 0) symbols.push([REPEAT, count - 3])
      else symbols.push(count < 11 ? [ZEROS, count - 3] : [MANY_ZEROS, count - 11])
      at += count
    }
    for (; at < end; at += 1) symbols.push([length, 0])
  }
  return symbols
}
