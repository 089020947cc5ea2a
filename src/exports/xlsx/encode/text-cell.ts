import { CUTS, LONGEST } from '../../sheet/index.ts'
import { XML } from '../deflate/index.ts'
import {
  cutToCell,
  escapeMarkup,
  hasControls,
  inlineText,
  looksEscaped,
  MAX_TEXT,
  NO_CHARACTER,
  needsInline,
  readableText,
} from '../xml-text.ts'
import {
  AMPERSAND,
  GREATER,
  LESS,
  LINE_END,
  NEWLINE,
  PLAIN,
  QUOTE,
  QUOTE_CLASS,
  RETURN,
  UNDERSCORE,
} from './byte-classes.ts'
import { type CompiledColumn, KINDS, styleAttribute, TEXT } from './compiled-column.ts'
import type { Cursor } from './cursor.ts'
import { blankCell, closeCell, closeKeepingCell, copyWords, openCell, openKeepingCell } from './open-cell.ts'
import { readText } from './text-variants.ts'

const out = XML

/** Where the quoted text that starts at `from` ends: the place of its closing quote. */
export function findTextEnd(input: Buffer, from: number, end: number): number {
  let i = from
  while (i < end) {
    if (input[i] === QUOTE) {
      if (input[i + 1] !== QUOTE) return i
      i += 1
    }
    i += 1
  }
  return end
}

/** Writes the quoted text at the cursor. */
export function textCell(c: Cursor, column: CompiledColumn): void {
  const { input } = c
  const start = c.i + 1
  if (input[start] === QUOTE && input[start + 1] !== QUOTE) {
    c.i = start + 1
    blankCell(c, column, column.conditions === null ? 0 : column.conditions.pick(''))
    return
  }
  let variant =
    column.conditions === null
      ? 0
      : column.conditions.forBytes(input, start, findTextEnd(input, start, c.end))
  if (c.again) variant += column.tall
  let outcome = input[start]! <= BLANK ? NEEDS_INLINE : copyText(c, column, variant, false)
  if (outcome === NEEDS_INLINE) outcome = copyText(c, column, variant, true)
  if (outcome === COPIED) {
    const bytes = c.i - 1 - start
    // A character takes a byte or more, so most texts need no counting.
    if (bytes > c.facts[column.facts + LONGEST]!) countText(c, column, start, c.i - 1)
    return
  }
  const end = findTextEnd(input, start, c.end)
  c.i = end + 1
  slowText(c, column, variant, readText(input, start, end))
}

const COPIED = 0
/** Nothing was written: the text ends with a blank or has line ends, which only inline strings keep in every reader. */
const NEEDS_INLINE = 1
/** Nothing was written: a byte needs more than an entity, or the text may be too long for a cell. */
const NEEDS_CARE = 2

/** The last byte that is a blank, or worse. */
const BLANK = 0x20

/** Stretches of plain bytes are copied as they are, eight at a time. */
function copyText(c: Cursor, column: CompiledColumn, variant: number, keepBlanks: boolean): number {
  const { input, classes, o: before, marked, valueEnd } = c
  const start = c.i + 1
  if (keepBlanks) openKeepingCell(c, column, variant)
  else openCell(c, column, variant * KINDS + TEXT)
  let o = c.o
  let i = start
  let outcome = NEEDS_CARE
  const limit = Math.min(c.end, start + MAX_TEXT)
  while (i < limit) {
    const from = i
    while (i < limit && classes[input[i]!] === PLAIN) i += 1
    o = copyWords(c, from, i, o)
    if (i >= limit) break
    const kind = classes[input[i]!]!
    if (kind === QUOTE_CLASS) {
      if (input[i + 1] !== QUOTE) {
        outcome = keepBlanks || input[i - 1]! > BLANK ? COPIED : NEEDS_INLINE
        break
      }
      out[o] = QUOTE
      o += 1
      i += 2
    } else if (kind <= GREATER) {
      o = writeEntity(o, kind)
      i += 1
    } else if (kind === UNDERSCORE && input[i + 1] !== 0x78) {
      out[o] = 0x5f
      o += 1
      i += 1
    } else if (kind === LINE_END) {
      c.multiline = true
      if (!keepBlanks) {
        outcome = NEEDS_INLINE
        break
      }
      if (input[i] === RETURN && input[i + 1] === NEWLINE) i += 1
      out[o] = NEWLINE
      o += 1
      i += 1
    } else {
      break
    }
  }
  if (outcome !== COPIED) {
    c.o = before
    c.marked = marked
    c.valueEnd = valueEnd
    return outcome
  }
  c.i = i + 1
  if (keepBlanks) closeKeepingCell(c, o)
  else closeCell(c, o)
  return COPIED
}

/** Notes a text that may be the column's longest. Four bytes at a time: for Chinese texts this runs for every cell. */
function countText(c: Cursor, column: CompiledColumn, start: number, end: number): void {
  const { input, inputView } = c
  // Continuation bytes are not counted; the first byte of a four-byte character counts twice, as a surrogate pair.
  let extra = 0
  let p = start
  for (; p + 4 <= end; p += 4) {
    const word = inputView.getInt32(p, true)
    const high = word & 0x80808080
    if (high === 0) continue
    const continued = high & ~(word << 1)
    const long = high & (word << 1) & (word << 2) & (word << 3)
    extra += bytesIn(continued) - bytesIn(long)
  }
  for (; p < end; p++) {
    const byte = input[p]!
    if ((byte & 0xc0) === 0x80) extra += 1
    else if (byte >= 0xf0) extra -= 1
  }
  // An upper bound: a quote is written twice.
  const longest = c.facts[column.facts + LONGEST]!
  if (end - start - extra > longest)
    c.facts[column.facts + LONGEST] = Math.max(longest, readText(input, start, end).length)
}

/** How many bytes of a word have their top bit set, given that no other bits are. */
function bytesIn(word: number): number {
  return Math.imul((word >>> 7) & 0x01010101, 0x01010101) >>> 24
}

/** Bytes that are a number, a boolean or the like in the spool, kept as text. */
export function rawTextCell(c: Cursor, column: CompiledColumn, start: number, end: number): void {
  const text = c.input.toString('latin1', start, end)
  slowText(c, column, column.conditions?.pick(text) ?? 0, text)
}

export function slowText(c: Cursor, column: CompiledColumn, variant: number, text: string): void {
  const readable = readableText(text)
  const kept = cutToCell(readable)
  if (text.length > c.facts[column.facts + LONGEST]!) c.facts[column.facts + LONGEST] = text.length
  if (kept.length < readable.length) {
    c.facts[column.facts + CUTS]! += 1
    c.firstCut ??= `${column.letters}${c.row}`
  }
  if (hasControls(text)) {
    c.pictured += 1
    c.firstPictured ??= `${column.letters}${c.row}`
  }
  if (NO_CHARACTER.test(text)) {
    c.replaced += 1
    c.firstReplaced ??= `${column.letters}${c.row}`
  }
  if (kept.includes('\n')) c.multiline = true
  if (looksEscaped(kept)) {
    const style = styleAttribute(column.styles[variant]!)
    c.writeText(`<c r="${column.letters}${c.row}"${style} t="inlineStr"><is>${inlineText(kept)}</is></c>`)
    return
  }
  const xml = escapeMarkup(kept)
  if (needsInline(kept)) {
    openKeepingCell(c, column, variant)
    c.writeText(xml)
    closeKeepingCell(c, c.o)
    return
  }
  openCell(c, column, variant * KINDS + TEXT)
  c.writeText(xml)
  closeCell(c, c.o)
}

function writeEntity(at: number, kind: number): number {
  out[at] = 0x26
  if (kind === AMPERSAND) {
    out[at + 1] = 0x61
    out[at + 2] = 0x6d
    out[at + 3] = 0x70
    out[at + 4] = 0x3b
    return at + 5
  }
  out[at + 1] = kind === LESS ? 0x6c : 0x67
  out[at + 2] = 0x74
  out[at + 3] = 0x3b
  return at + 4
}
