import { openFile } from '../../../kernel/index.ts'
import type { SpoolSegment } from '../../xlsx/index.ts'

/** Enough rows to know a column by. */
const SAMPLE_BYTES = 1 << 16
const QUOTE = 0x22
const COMMA = 0x2c
const NEWLINE = 0x0a

/**
 * Fields of a spool whose values are all numbers, as far as the first rows of each segment show. Where all of them have more digits than a
 * workbook keeps, they are ids: texts there, and to be aligned like these.
 */
export async function numericFields(segments: readonly SpoolSegment[]): Promise<Set<number>> {
  const seen = { numeric: new Set<number>(), other: new Set<number>() }
  for (const { path, slices } of segments.slice(0, 8)) {
    if (slices.length === 0) continue
    const file = await openFile(path)
    try {
      const { bytesRead, buffer } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0)
      lookAt(buffer.subarray(0, bytesRead), seen)
    } finally {
      await file.close()
    }
  }
  return new Set([...seen.numeric].filter((field) => !seen.other.has(field)))
}

/** `bytes` may end anywhere; what was seen of the last field decides nothing that its first byte does not. */
function lookAt(bytes: Uint8Array, seen: { numeric: Set<number>; other: Set<number> }): void {
  let field = 0
  for (let i = 0; i < bytes.length; i += 1) {
    const first = bytes[i]!
    if (first === 0x2d || (first >= 0x30 && first <= 0x39)) {
      if (!isLong(bytes, i)) seen.numeric.add(field)
    } else if (first !== COMMA && first !== NEWLINE && first !== NULL) seen.other.add(field)
    if (first === QUOTE) i = afterText(bytes, i + 1)
    while (i < bytes.length && bytes[i] !== COMMA && bytes[i] !== NEWLINE) i += 1
    field = bytes[i] === NEWLINE ? 0 : field + 1
  }
}

const KEPT_DIGITS = 15

/** Whether a number has more digits before its point than a workbook keeps. */
function isLong(bytes: Uint8Array, start: number): boolean {
  const first = bytes[start] === 0x2d ? start + 1 : start
  let i = first
  while (bytes[i]! >= 0x30 && bytes[i]! <= 0x39) i += 1
  return i - first > KEPT_DIGITS && bytes[i] !== 0x65 && bytes[i] !== 0x45
}

/** The first letter of `null`, which no other value begins with. */
const NULL = 0x6e

function afterText(bytes: Uint8Array, start: number): number {
  let i = start
  while (i < bytes.length) {
    if (bytes[i] === QUOTE) {
      if (bytes[i + 1] !== QUOTE) return i + 1
      i += 1
    }
    i += 1
  }
  return i
}
