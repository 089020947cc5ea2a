import { fault } from './page-fault.ts'

/**
 * Strict scanners over the bytes of a page. They rely on one byte that is not JSON (zero) after the last one, so that
 * no loop has to look at the length.
 */

export const QUOTE = 0x22
export const BACKSLASH = 0x5c
export const COMMA = 0x2c
export const COLON = 0x3a
export const OPEN_BRACE = 0x7b
export const CLOSE_BRACE = 0x7d
export const OPEN_BRACKET = 0x5b
export const CLOSE_BRACKET = 0x5d

const MAX_DEPTH = 512

/** Blanks and escapes that were skipped: a value over which it stays the same is compact JSON already. */
export let loose = 0

export function skipSpace(input: Uint8Array, at: number): number {
  return input[at]! > 0x20 ? at : skipBlanks(input, at)
}

function skipBlanks(input: Uint8Array, at: number): number {
  let p = at
  let byte = input[p]!
  while (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) byte = input[++p]!
  loose++
  return p
}

/** `at` is the opening quote; returns the position after the closing one. */
export function skipString(input: Uint8Array, at: number): number {
  let p = at + 1
  for (;;) {
    const byte = input[p]!
    if (byte === QUOTE) return p + 1
    if (byte === BACKSLASH) p = skipEscape(input, p)
    else if (byte < 0x20) fault('a string is not closed or holds a control character', p)
    else p++
  }
}

function skipEscape(input: Uint8Array, at: number): number {
  loose++
  switch (input[at + 1]) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2
    case 0x75: // u
      for (let p = at + 2; p < at + 6; p++) if (hexDigit(input[p]!) < 0) fault('bad \\u escape', at)
      return at + 6
    default:
      return fault('unknown escape in a string', at)
  }
}

export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

function skipNumber(input: Uint8Array, at: number): number {
  let p = at
  if (input[p] === 0x2d) p++
  if (input[p] === 0x30) p++
  else p = skipDigits(input, p)
  if (input[p] === 0x2e) p = skipDigits(input, p + 1)
  if ((input[p]! | 0x20) === 0x65) {
    p++
    if (input[p] === 0x2b || input[p] === 0x2d) p++
    p = skipDigits(input, p)
  }
  return p
}

function skipDigits(input: Uint8Array, at: number): number {
  let p = at
  while (input[p]! >= 0x30 && input[p]! <= 0x39) p++
  return p > at ? p : fault('expected a digit', at)
}

const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

export function skipLiteral(input: Uint8Array, at: number): number {
  const first = input[at]
  const word = first === 0x74 ? TRUE : first === 0x66 ? FALSE : first === 0x6e ? NULL : undefined
  if (!word) return fault('expected a value', at)
  for (let i = 1; i < word.length; i++) if (input[at + i] !== word[i]) fault('expected a value', at)
  return at + word.length
}

function skipScalar(input: Uint8Array, at: number): number {
  const byte = input[at]!
  if (byte === QUOTE) return skipString(input, at)
  if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39)) return skipNumber(input, at)
  return skipLiteral(input, at)
}

/** Skips the key and the colon of an object's member, to the first byte of its value. */
export function skipKey(input: Uint8Array, at: number): number {
  if (input[at] !== QUOTE) fault('expected a key', at)
  const p = skipSpace(input, skipString(input, at))
  if (input[p] !== COLON) fault('expected ":"', p)
  return skipSpace(input, p + 1)
}

/** Skips the value of any kind that starts at `at`, and checks all of it. */
export function skipValue(input: Uint8Array, at: number): number {
  let p = at
  let depth = 0
  const inObject: boolean[] = []
  for (;;) {
    const byte = input[p]
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (depth === MAX_DEPTH) fault(`values are nested deeper than ${MAX_DEPTH}`, p)
      const object = byte === OPEN_BRACE
      p = skipSpace(input, p + 1)
      if (input[p] !== (object ? CLOSE_BRACE : CLOSE_BRACKET)) {
        inObject[depth++] = object
        if (object) p = skipKey(input, p)
        continue
      }
      p++
    } else p = skipScalar(input, p)
    // A value ended: close what ends with it, or go to the next value.
    for (;;) {
      if (depth === 0) return p
      p = skipSpace(input, p)
      const object = inObject[depth - 1]!
      if (input[p] === COMMA) {
        p = skipSpace(input, p + 1)
        if (object) p = skipKey(input, p)
        break
      }
      if (input[p] !== (object ? CLOSE_BRACE : CLOSE_BRACKET))
        fault(object ? 'expected "," or "}"' : 'expected "," or "]"', p)
      p++
      depth--
    }
  }
}
