/** What is needed of a text; a string has it. */
export type Characters = Pick<string, 'length' | 'codePointAt'>

/** Characters of a pattern between two `%`, with ANY for each `_`. */
export type Piece = readonly number[]
export const ANY = -1

/** Units of a character: most emoji are two that are one to a person. */
export function widthOf(codePoint: number): 1 | 2 {
  return codePoint > 0xffff ? 2 : 1
}

/** Looks for one piece of a pattern in linear time. */
export interface PieceFinder {
  /** How often it may look at each character. */
  scans: number
  /** The place after the first occurrence at or after `from`, or -1. */
  find(text: Characters, from: number): number
}

export function pieceFinder(piece: Piece): PieceFinder {
  return piece.includes(ANY) ? bitFinder(piece) : literalFinder(piece)
}

/** Knuth, Morris and Pratt: every step either moves on in the text or falls back to a shorter beginning of the piece. */
function literalFinder(piece: Piece): PieceFinder {
  const shorter = fallbacks(piece)
  const find = (text: Characters, from: number) => {
    let matched = 0
    for (let at = from; at < text.length; ) {
      const found = text.codePointAt(at)!
      if (found === piece[matched]) {
        matched += 1
        at += widthOf(found)
        if (matched === piece.length) return at
      } else if (matched === 0) {
        at += widthOf(found)
      } else {
        matched = shorter[matched - 1]!
      }
    }
    return -1
  }
  return { scans: 2, find }
}

/** For each beginning of the piece: how long its longest beginning is that it also ends with. */
function fallbacks(piece: Piece): number[] {
  const lengths = [0]
  for (let i = 1, matched = 0; i < piece.length; ) {
    if (piece[i] === piece[matched]) {
      matched += 1
      lengths[i] = matched
      i += 1
    } else if (matched > 0) {
      matched = lengths[matched - 1]!
    } else {
      lengths[i] = 0
      i += 1
    }
  }
  return lengths
}

const BITS = 32

/**
 * Shift-and (Baeza-Yates and Gonnet), for pieces with `_`, which leave nothing to fall back to: one bit for each beginning
 * of the piece, set while the text before this place ends with it. A step costs a word for each 32 characters of the piece.
 */
function bitFinder(piece: Piece): PieceFinder {
  const words = Math.ceil(piece.length / BITS)
  const others = new Int32Array(words)
  const masks = new Map<number, Int32Array>()
  for (const wanted of piece) if (wanted !== ANY) masks.set(wanted, new Int32Array(words))
  for (const [i, wanted] of piece.entries()) {
    for (const mask of wanted === ANY ? [others, ...masks.values()] : [masks.get(wanted)!])
      mask[Math.floor(i / BITS)]! |= 1 << (i % BITS)
  }
  const lastWord = words - 1
  const lastBit = 1 << ((piece.length - 1) % BITS)
  const find = (text: Characters, from: number) => {
    const state = new Int32Array(words)
    for (let at = from; at < text.length; ) {
      const found = text.codePointAt(at)!
      at += widthOf(found)
      const mask = masks.get(found) ?? others
      let carry = 1
      for (let word = 0; word < words; word += 1) {
        const before = state[word]!
        state[word] = ((before << 1) | carry) & mask[word]!
        carry = before >>> (BITS - 1)
      }
      if ((state[lastWord]! & lastBit) !== 0) return at
    }
    return -1
  }
  return { scans: words, find }
}
