import { BACKSLASH, hexDigit, loose, QUOTE, skipLiteral, skipValue } from './json-scan.ts'
import type { Memory } from './memory.ts'
import { fault } from './page-fault.ts'

/**
 * Copies of JSON values into spool bytes. The plain copies write exactly as many bytes as they read, so they return only
 * the place where reading stopped and the caller moves both positions by the same distance.
 */

/**
 * Bytes of a string up to the first that needs a closer look: a quote, a backslash or a control character. Goes by four
 * bytes, so up to three after the end are read and written too.
 */
export function copyPlain(input: DataView, at: number, out: DataView, to: number): number {
  let p = at
  let o = to
  for (;;) {
    const word = input.getInt32(p, true)
    out.setInt32(o, word, true)
    // In each byte the top bit is set if it is wanted; above the first that is, a borrow may set more.
    const quote = word ^ 0x22222222
    const backslash = word ^ 0x5c5c5c5c
    const found =
      (((quote - 0x01010101) & ~quote) |
        ((backslash - 0x01010101) & ~backslash) |
        ((word - 0x20202020) & ~word)) &
      0x80808080
    if (found !== 0) return p + ((31 - Math.clz32(found & -found)) >> 3)
    p += 4
    o += 4
  }
}

/** Where the digits before the point of the last number ended, and whether it has an exponent. Module variables, so that copying allocates nothing. */
export let wholeEnd = 0
export let hasExponent = false

export function copyNumber(input: Uint8Array, at: number, out: Uint8Array, to: number): number {
  const shift = to - at
  let p = at
  let byte = input[p]!
  if (byte === 0x2d) {
    out[p + shift] = byte
    byte = input[++p]!
  }
  if (byte === 0x30) {
    out[p + shift] = byte
    p++
  } else p = copyDigits(input, p, out, p + shift)
  wholeEnd = p
  byte = input[p]!
  if (byte === 0x2e) {
    out[p + shift] = byte
    p++
    p = copyDigits(input, p, out, p + shift)
    byte = input[p]!
  }
  hasExponent = (byte | 0x20) === 0x65
  if (hasExponent) {
    out[p + shift] = byte
    byte = input[++p]!
    if (byte === 0x2b || byte === 0x2d) {
      out[p + shift] = byte
      p++
    }
    p = copyDigits(input, p, out, p + shift)
  }
  return p
}

function copyDigits(input: Uint8Array, at: number, out: Uint8Array, to: number): number {
  let p = at
  let o = to
  let byte = input[p]!
  while (byte >= 0x30 && byte <= 0x39) {
    out[o++] = byte
    byte = input[++p]!
  }
  return p > at ? p : fault('expected a digit', at)
}

export function copyLiteral(input: Uint8Array, at: number, out: Uint8Array, to: number): number {
  const end = skipLiteral(input, at)
  for (let p = at, o = to; p < end; p++, o++) out[o] = input[p]!
  return end
}

/** JSON without blanks and escapes, as a string of the spool. Returns where it ends. */
function copyCompact(input: Uint8Array, at: number, end: number, out: Uint8Array, to: number): number {
  let o = to
  out[o++] = QUOTE
  for (let p = at; p < end; p++) {
    const byte = input[p]!
    out[o++] = byte
    if (byte === QUOTE) out[o++] = QUOTE
  }
  out[o++] = QUOTE
  return o
}

/** Copies that change the length: where both positions ended is left in `read` and `written`. */
export class ValueCopier {
  read = 0
  written = 0
  /** Half a surrogate pair was replaced; the caller that counts it sets it back. */
  halved = false

  /** The rest of a string, from a backslash on, with the closing quote. Quotes come out doubled. */
  escaped(page: Memory, at: number, target: Memory, to: number): void {
    const { bytes: input, view } = page
    const { bytes: out, view: outView } = target
    let p = at
    let o = to
    for (;;) {
      const byte = input[p]!
      if (byte === QUOTE) break
      if (byte === BACKSLASH) {
        this.#escape(input, p, out, o)
        p = this.read
        o = this.written
      } else if (byte < 0x20) fault('a string is not closed or holds a control character', p)
      else {
        const stop = copyPlain(view, p, outView, o)
        o += stop - p
        p = stop
      }
    }
    out[o++] = QUOTE
    this.read = p + 1
    this.written = o
  }

  /**
   * An object or array as a string that holds its JSON text: on one line, without blanks between its parts, and with only those
   * escapes that JSON needs.
   */
  nested(input: Uint8Array, at: number, out: Uint8Array, to: number): void {
    const before = loose
    const end = skipValue(input, at)
    this.read = end
    // Most sources write compact JSON, which takes a shorter loop.
    if (loose === before) {
      this.written = copyCompact(input, at, end, out, to)
      return
    }
    let o = to
    out[o++] = QUOTE
    for (let p = at; p < end; p++) {
      const byte = input[p]!
      if (byte <= 0x20) continue
      out[o++] = byte
      if (byte !== QUOTE) continue
      out[o++] = QUOTE
      for (;;) {
        const inner = input[++p]!
        out[o++] = inner
        if (inner === QUOTE) break
        if (inner !== BACKSLASH) continue
        this.#nestedEscape(input, p, out, o - 1)
        p = this.read - 1
        o = this.written
      }
      out[o++] = QUOTE
    }
    out[o++] = QUOTE
    this.read = end
    this.written = o
  }

  /** The text has been checked. Half a surrogate pair keeps its escape. */
  #nestedEscape(input: Uint8Array, at: number, out: Uint8Array, to: number): void {
    let o = to
    this.read = at + 2
    if (input[at + 1] === 0x2f) out[o++] = 0x2f
    else {
      const code = input[at + 1] === 0x75 ? this.#codePoint(input, at) : -1
      if (code >= 0x20 && code !== QUOTE && code !== BACKSLASH) o = writeCodePoint(code, out, o)
      else {
        for (let p = at; p < this.read; p++) out[o++] = input[p]!
        if (input[at + 1] === QUOTE) out[o++] = QUOTE
      }
    }
    this.written = o
  }

  #escape(input: Uint8Array, at: number, out: Uint8Array, to: number): void {
    const letter = input[at + 1]!
    if (letter === 0x75) {
      this.#unicode(input, at, out, to)
      return
    }
    const byte = ESCAPES[letter]!
    if (byte === 0) fault('unknown escape in a string', at)
    out[to] = byte
    this.written = to + 1
    if (byte === QUOTE) out[this.written++] = QUOTE
    this.read = at + 2
  }

  #unicode(input: Uint8Array, at: number, out: Uint8Array, to: number): void {
    const found = this.#codePoint(input, at)
    const code = found < 0 ? 0xfffd : found // half a pair has no UTF-8 form
    if (found < 0) this.halved = true
    this.written = writeCodePoint(code, out, to)
    if (code === QUOTE) out[this.written++] = QUOTE
  }

  /** The character of one `\u` escape, or of the two of a surrogate pair; -1: half a pair. Where they end is left in `read`. */
  #codePoint(input: Uint8Array, at: number): number {
    const code = codeUnit(input, at)
    const p = at + 6
    this.read = p
    if (code < 0xd800 || code > 0xdfff) return code
    const low = code < 0xdc00 && input[p] === BACKSLASH && input[p + 1] === 0x75 ? codeUnit(input, p) : 0
    if (low < 0xdc00 || low > 0xdfff) return -1
    this.read = p + 6
    return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00)
  }
}

const ESCAPES = new Uint8Array(256)
for (const [letter, char] of Object.entries({
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}))
  ESCAPES[letter.charCodeAt(0)] = char.charCodeAt(0)

/** The four hex digits of the escape whose backslash is at `at`. */
function codeUnit(input: Uint8Array, at: number): number {
  let code = 0
  for (let p = at + 2; p < at + 6; p++) {
    const digit = hexDigit(input[p]!)
    if (digit < 0) fault('bad \\u escape', at)
    code = (code << 4) | digit
  }
  return code
}

function writeCodePoint(code: number, out: Uint8Array, to: number): number {
  let o = to
  if (code < 0x80) out[o++] = code
  else if (code < 0x800) {
    out[o++] = 0xc0 | (code >> 6)
    out[o++] = 0x80 | (code & 0x3f)
  } else if (code < 0x10000) {
    out[o++] = 0xe0 | (code >> 12)
    out[o++] = 0x80 | ((code >> 6) & 0x3f)
    out[o++] = 0x80 | (code & 0x3f)
  } else {
    out[o++] = 0xf0 | (code >> 18)
    out[o++] = 0x80 | ((code >> 12) & 0x3f)
    out[o++] = 0x80 | ((code >> 6) & 0x3f)
    out[o++] = 0x80 | (code & 0x3f)
  }
  return o
}
