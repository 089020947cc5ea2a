import type { CsvEncoding } from './dialect.ts'

/** What a text became. Characters that the encoding lacks are question marks, and counted. */
export interface EncodedText {
  bytes: Uint8Array
  lost: number
  /** The first character that was lost. */
  firstLost: string | null
}

export function encodeText(text: string, encoding: CsvEncoding): EncodedText {
  if (encoding === 'utf-8') return { bytes: Buffer.from(text), lost: 0, firstLost: null }
  if (encoding === 'utf-16le') return { bytes: Buffer.from(text, 'utf16le'), lost: 0, firstLost: null }
  return encodeBy(encoding === 'gb18030' ? gb18030() : windows1252(), text)
}

/** Bytes by UTF-16 code unit, the first byte lowest; 0: the character has none. NUL is handled separately. */
interface CodeTable {
  codes: Uint32Array
  /** Four bytes for each character beyond the basic plane, in their order. */
  supplementary: boolean
}

const QUESTION_MARK = 0x3f

function encodeBy({ codes, supplementary }: CodeTable, text: string): EncodedText {
  const out = Buffer.allocUnsafe(text.length * 4)
  let o = 0
  let lost = 0
  let firstLost: string | null = null
  for (let n = 0; n < text.length; n++) {
    const unit = text.charCodeAt(n)
    let code = codes[unit]!
    if (unit < 0x80) code = unit
    else if (code === 0) {
      const point = text.codePointAt(n)!
      if (point > 0xffff) n++
      if (point > 0xffff && supplementary) code = supplementaryCode(point)
      else {
        lost++
        firstLost ??= String.fromCodePoint(point)
        code = QUESTION_MARK
      }
    }
    do {
      out[o++] = code & 0xff
      code >>>= 8
    } while (code !== 0)
  }
  // A copy: what goes to another thread must not take more along than it is.
  return { bytes: new Uint8Array(out.subarray(0, o)), lost, firstLost }
}

/** GB 18030 numbers the characters beyond the basic plane one after the other, from 90 30 81 30 on. */
function supplementaryCode(point: number): number {
  return fourBytes(point - 0x10000 + 189_000)
}

/** The four-byte code of that number: bytes of 126, 10, 126 and 10 values. No byte of it is 0. */
function fourBytes(number: number): number {
  const fourth = 0x30 + (number % 10)
  const third = 0x81 + (Math.floor(number / 10) % 126)
  const second = 0x30 + (Math.floor(number / 1260) % 10)
  const first = 0x81 + Math.floor(number / 12_600)
  return (first | (second << 8) | (third << 16) | (fourth << 24)) >>> 0
}

let gb: CodeTable | undefined
let latin: CodeTable | undefined

/** Made by reading every code with the platform's own decoder: what is written here is what such a decoder reads. */
function gb18030(): CodeTable {
  if (gb) return gb
  const all: number[] = []
  for (let first = 0x81; first <= 0xfe; first++)
    for (let second = 0x40; second <= 0xfe; second++) if (second !== 0x7f) all.push(first | (second << 8))
  // The basic plane ends with 84 31 A4 39.
  for (let number = 0; number < 39_420; number++) all.push(fourBytes(number))
  gb = { codes: tableOf('gb18030', all), supplementary: true }
  return gb
}

function windows1252(): CodeTable {
  const all = Array.from({ length: 128 }, (_, n) => 0x80 + n)
  latin ??= { codes: tableOf('windows-1252', all), supplementary: false }
  return latin
}

function tableOf(encoding: string, all: readonly number[]): Uint32Array {
  const decoder = new TextDecoder(encoding, { ignoreBOM: true })
  const codes = new Uint32Array(0x10000)
  for (const code of all) {
    const text = decoder.decode(bytesOf(code))
    const unit = text.charCodeAt(0)
    if (text.length === 1 && unit >= 0x80 && unit !== 0xfffd && codes[unit] === 0) codes[unit] = code
    // The decoder shows what it cannot read as U+FFFD too; this is the one code that means it.
    if (text === '\ufffd' && code === 0x37a43184) codes[unit] = code
  }
  return codes
}

function bytesOf(code: number): Uint8Array {
  const bytes: number[] = []
  for (let rest = code; rest !== 0; rest >>>= 8) bytes.push(rest & 0xff)
  return Uint8Array.from(bytes)
}
