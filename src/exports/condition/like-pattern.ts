import { ANY, type Characters, type Piece, pieceFinder, widthOf } from './piece-finder.ts'

/**
 * Compiles SQL's `like`: `%` is any text, `_` one character, a backslash takes the next character literally.
 *
 * The pattern falls into pieces at each `%`. The first and the last are tied to the ends. Each one between is looked for
 * from left to right, from where the one before it ended, in linear time. So a text is gone through once, whatever the
 * pattern; `likeScans` says what once costs.
 */
export function compileLike(pattern: string): (text: Characters) => boolean {
  const pieces = splitPieces(pattern)
  const first = pieces[0]!
  if (pieces.length === 1) return (text) => matchForward(first, text) === text.length
  const last = pieces[pieces.length - 1]!
  const finders = innerPieces(pieces).map(pieceFinder)
  return (text) => {
    let at = matchForward(first, text)
    if (at === -1) return false
    const end = matchBackward(last, text)
    if (end < at) return false
    for (const { find } of finders) {
      at = find(text, at)
      if (at === -1) return false
    }
    return at <= end
  }
}

/** How often each character of a text may be looked at, the ends aside: 0 for a pattern without a piece between two `%`. */
export function likeScans(pattern: string): number {
  return innerPieces(splitPieces(pattern)).reduce(
    (most, piece) => Math.max(most, pieceFinder(piece).scans),
    0,
  )
}

function innerPieces(pieces: Piece[]): Piece[] {
  return pieces.slice(1, -1).filter((piece) => piece.length > 0)
}

function splitPieces(pattern: string): Piece[] {
  let piece: number[] = []
  const pieces = [piece]
  const characters = Array.from(pattern)
  for (let i = 0; i < characters.length; i += 1) {
    const char = characters[i]!
    if (char === '%') {
      piece = []
      pieces.push(piece)
    } else if (char === '_') {
      piece.push(ANY)
    } else {
      if (char === '\\' && i + 1 < characters.length) i += 1
      piece.push(characters[i]!.codePointAt(0)!)
    }
  }
  return pieces
}

/** The place after the piece when the text begins with it, or -1. */
function matchForward(piece: Piece, text: Characters): number {
  let at = 0
  for (const wanted of piece) {
    if (at >= text.length) return -1
    const found = text.codePointAt(at)!
    if (wanted !== ANY && wanted !== found) return -1
    at += widthOf(found)
  }
  return at
}

/** Where the piece starts when the text ends with it, or -1. */
function matchBackward(piece: Piece, text: Characters): number {
  let at = text.length
  for (let i = piece.length - 1; i >= 0; i -= 1) {
    const wanted = piece[i]!
    if (at <= 0) return -1
    const pair = at >= 2 ? text.codePointAt(at - 2)! : 0
    const found = widthOf(pair) === 2 ? pair : text.codePointAt(at - 1)!
    if (wanted !== ANY && wanted !== found) return -1
    at -= widthOf(found)
  }
  return at
}
