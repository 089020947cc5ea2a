/**
 * Compiles SQL's `like`: `%` is any text, `_` one character, a backslash takes the next character as it stands.
 *
 * The pattern falls into pieces at each `%`. The first and the last are tied to the ends, each one between is looked for
 * from left to right and never looked for again: no backtracking over pieces, so a value of n characters costs at most
 * n × the pattern's length, and that length is bounded by the parser.
 */
export function compileLike(pattern: string): (text: string) => boolean {
  const pieces = splitPieces(pattern)
  const first = pieces[0]!
  if (pieces.length === 1) return (text) => matchForward(first, text, 0) === text.length
  const last = pieces[pieces.length - 1]!
  const between = pieces.slice(1, -1).filter((piece) => piece.length > 0)
  return (text) => {
    let at = matchForward(first, text, 0)
    if (at === -1) return false
    const end = matchBackward(last, text)
    if (end === -1) return false
    for (const piece of between) {
      at = find(piece, text, at)
      if (at === -1) return false
    }
    return at <= end
  }
}

/** Literal UTF-16 units, with ANY for each `_`. */
type Piece = number[]
const ANY = -1

function splitPieces(pattern: string): Piece[] {
  let piece: Piece = []
  const pieces = [piece]
  for (let i = 0; i < pattern.length; i += 1) {
    const char = pattern.charAt(i)
    if (char === '%') {
      piece = []
      pieces.push(piece)
    } else if (char === '_') {
      piece.push(ANY)
    } else {
      if (char === '\\' && i + 1 < pattern.length) i += 1
      piece.push(pattern.charCodeAt(i))
    }
  }
  return pieces
}

/** The place after the piece, or -1. */
function matchForward(piece: Piece, text: string, from: number): number {
  let at = from
  for (const unit of piece) {
    if (at >= text.length) return -1
    if (unit === ANY) at += isPair(text, at) ? 2 : 1
    else if (text.charCodeAt(at) === unit) at += 1
    else return -1
  }
  return at
}

/** Where the piece starts when it ends with the text, or -1. */
function matchBackward(piece: Piece, text: string): number {
  let at = text.length
  for (let i = piece.length - 1; i >= 0; i -= 1) {
    const unit = piece[i]!
    if (at <= 0) return -1
    if (unit === ANY) at -= at >= 2 && isPair(text, at - 2) ? 2 : 1
    else if (text.charCodeAt(at - 1) === unit) at -= 1
    else return -1
  }
  return at
}

function find(piece: Piece, text: string, from: number): number {
  for (let start = from; start < text.length; start += isPair(text, start) ? 2 : 1) {
    const end = matchForward(piece, text, start)
    if (end !== -1) return end
  }
  return -1
}

/** Two units that are one character to a person, as most emoji are. */
function isPair(text: string, at: number): boolean {
  const high = text.charCodeAt(at)
  if (high < 0xd800 || high > 0xdbff) return false
  const low = text.charCodeAt(at + 1)
  return low >= 0xdc00 && low <= 0xdfff
}
