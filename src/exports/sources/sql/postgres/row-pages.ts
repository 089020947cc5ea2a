import { isUtf8 } from 'node:buffer'
import { type FeedPage, PAGE_MARGIN, PageBody } from '../../pages/index.ts'
import { rowTooLarge } from '../sql-error.ts'
import { isFull, MOST_ROW_BYTES, PAGE_BYTES } from '../sql-pages.ts'
import type { ValueForm } from './postgres-columns.ts'

const [QUOTE, BACKSLASH, COMMA, DASH, ZERO, NINE, SPACE, COLON, POINT, PLUS] = Buffer.from('"\\,-09 :.+')
const LETTER_T = 0x54
const STARTS_TRUE = 0x74
/** Control characters as JSON writes them. */
const CONTROLS = Array.from({ length: 32 }, (_, code) =>
  Buffer.from(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
)
const OPENING = Buffer.from('{"data":[')
const [NULL, TRUE, FALSE] = ['null', 'true', 'false'].map((word) => Buffer.from(word)) as [
  Buffer,
  Buffer,
  Buffer,
]
/** A byte of a text takes six at most, as a control character does. */
const MOST_PER_BYTE = 6
/** Longer values are rare, and room for six times their length may be far too much. */
const LONG_VALUE = 64 * 1024
/** `2024-02-29 08:30:15`, before a fraction and a zone. */
const TIME_LENGTH = 19

/** Writes rows, as PostgreSQL sends them, into pages of JSON: byte by byte, with no string made on the way. */
export class RowPages {
  /** What stands before the value of each column. */
  readonly #keys: Buffer[]
  readonly #forms: readonly ValueForm[]
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  #rows = 0
  #pages = 0
  /** The page that its reader works on. */
  #held: PageBody | undefined
  /** Of a page that was read. */
  #spare: Buffer = Buffer.alloc(0)

  constructor(columns: readonly { name: string; form: ValueForm }[]) {
    this.#keys = columns.map(({ name }, n) => Buffer.from(`${n === 0 ? '{' : ','}${JSON.stringify(name)}:`))
    this.#forms = columns.map(({ form }) => form)
  }

  /** The content of a row's message: the number of values, and each with its length. Returns the page that it has filled, if it has. */
  add(input: Buffer, at: number): FeedPage | undefined {
    this.#reserve(OPENING.length)
    if (this.#rows === 0) this.#copy(OPENING)
    else this.#bytes[this.#length++] = COMMA!
    const start = this.#length
    let p = at + 2
    for (let n = 0; n < this.#keys.length; n++) {
      const length = input.readInt32BE(p)
      p += 4
      const end = p + Math.max(length, 0)
      if (this.#length - start + (end - p) > MOST_ROW_BYTES) throw rowTooLarge(MOST_ROW_BYTES)
      this.#reserve(this.#keys[n]!.length + MOST_PER_BYTE * Math.min(end - p, LONG_VALUE))
      this.#copy(this.#keys[n]!)
      if (length < 0) this.#copy(NULL)
      else this.#value(this.#forms[n]!, input, p, end)
      p = end
    }
    if (this.#keys.length === 0) this.#bytes[this.#length++] = 0x7b
    this.#bytes[this.#length++] = 0x7d
    this.#rows += 1
    return isFull(this.#pages, this.#rows, this.#length) ? this.rest() : undefined
  }

  /** What is left when no more rows come. */
  rest(): FeedPage | undefined {
    if (this.#rows === 0) return undefined
    this.#reserve(0)
    this.#bytes[this.#length++] = 0x5d
    this.#bytes[this.#length++] = 0x7d
    const text = bodyOf(this.#bytes, this.#length)
    const page = { text, rows: this.#rows }
    this.#bytes = Buffer.alloc(0)
    this.#length = 0
    this.#rows = 0
    this.#pages += 1
    return page
  }

  /** The reader asks for the page after this one, and so is done with the one before it. */
  passed({ text }: FeedPage): void {
    const bytes = this.#held?.bytes
    if (bytes && bytes.length <= 2 * PAGE_BYTES) this.#spare = bytes
    this.#held = text as PageBody
  }

  #value(form: ValueForm, input: Buffer, from: number, to: number): void {
    if (form === 'plain' || (form === 'number' && isNumber(input, from))) this.#plain(input, from, to)
    else if (form === 'boolean') this.#copy(input[from] === STARTS_TRUE ? TRUE : FALSE)
    else if (form === 'time' && isTime(input, from, to)) this.#time(input, from, to)
    else if (to - from <= LONG_VALUE) this.#text(input, from, to)
    else {
      const json = Buffer.from(JSON.stringify(input.toString('utf8', from, to)))
      this.#plain(json, 0, json.length)
    }
  }

  #plain(input: Buffer, from: number, to: number): void {
    this.#reserve(to - from)
    const out = this.#bytes
    let o = this.#length
    if (to - from > 64) o += input.copy(out, o, from, to)
    else for (let p = from; p < to; p++) out[o++] = input[p]!
    this.#length = o
  }

  #text(input: Buffer, from: number, to: number): void {
    const out = this.#bytes
    let o = this.#length
    out[o++] = QUOTE!
    for (let p = from; p < to; p++) {
      const byte = input[p]!
      if (byte >= SPACE!) {
        if (byte === QUOTE || byte === BACKSLASH) out[o++] = BACKSLASH!
        out[o++] = byte
      } else for (const escaped of CONTROLS[byte]!) out[o++] = escaped
    }
    out[o++] = QUOTE!
    this.#length = o
  }

  /** As ISO 8601: `T` in the middle, and minutes after a zone that has none. */
  #time(input: Buffer, from: number, to: number): void {
    const out = this.#bytes
    let o = this.#length
    out[o++] = QUOTE!
    for (let p = from; p < to; p++) out[o++] = p === from + 10 ? LETTER_T : input[p]!
    const sign = input[to - 3]!
    if (to - from > TIME_LENGTH && (sign === PLUS || sign === DASH)) {
      out[o++] = COLON!
      out[o++] = ZERO!
      out[o++] = ZERO!
    }
    out[o++] = QUOTE!
    this.#length = o
  }

  #copy(text: Buffer): void {
    const out = this.#bytes
    let o = this.#length
    for (let n = 0; n < text.length; n++) out[o++] = text[n]!
    this.#length = o
  }

  /** For so many bytes, and the few that stand around a value, a row and a page. */
  #reserve(more: number): void {
    const wanted = this.#length + more + 16 + PAGE_MARGIN
    if (wanted <= this.#bytes.length) return
    const size = Math.max(PAGE_BYTES + PAGE_BYTES / 4, wanted, Math.ceil(this.#bytes.length * 1.5))
    const grown = this.#spare.length >= size ? this.#spare : Buffer.allocUnsafeSlow(size)
    this.#spare = Buffer.alloc(0)
    this.#bytes.copy(grown, 0, 0, this.#length)
    this.#bytes = grown
  }
}

/** A database whose encoding is none may send any bytes: what is no character becomes a replacement. */
function bodyOf(bytes: Buffer, length: number): PageBody {
  if (!isUtf8(bytes.subarray(0, length))) return PageBody.ofText(bytes.toString('utf8', 0, length))
  const body = new PageBody()
  body.bytes = bytes
  body.length = length
  bytes.fill(0, length, length + PAGE_MARGIN)
  return body
}

/** NaN and Infinity are no JSON numbers. */
function isNumber(input: Buffer, at: number): boolean {
  return isDigit(input[input[at] === DASH ? at + 1 : at]!)
}

/** Infinity, and years of another form or era, stay as they are. */
function isTime(input: Buffer, from: number, to: number): boolean {
  if (to - from < TIME_LENGTH) return false
  for (let n = 0; n < TIME_LENGTH; n++) if (!fitsTime(input[from + n]!, n)) return false
  let p = from + TIME_LENGTH
  if (p < to && input[p] === POINT) for (p++; p < to && isDigit(input[p]!); ) p++
  if (p === to) return true
  if (input[p] !== PLUS && input[p] !== DASH) return false
  return (
    isPair(input, p + 1) && (to - p === 3 || (to - p === 6 && input[p + 3] === COLON && isPair(input, p + 4)))
  )
}

function isPair(input: Buffer, at: number): boolean {
  return isDigit(input[at]!) && isDigit(input[at + 1]!)
}

function fitsTime(byte: number, place: number): boolean {
  if (place === 4 || place === 7) return byte === DASH
  if (place === 10) return byte === SPACE
  if (place === 13 || place === 16) return byte === COLON
  return isDigit(byte)
}

function isDigit(byte: number): boolean {
  return byte >= ZERO! && byte <= NINE!
}
