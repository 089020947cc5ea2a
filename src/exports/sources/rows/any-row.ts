import {
  CLOSE_BRACE,
  COLON,
  COMMA,
  ESCAPED,
  fault,
  MAX_KEYS,
  QUOTE,
  skipSpace,
  skipString,
  skipValue,
  tooManyKeys,
} from '../json/index.ts'
import type { RowSinks } from './row-sinks.ts'
import type { RowTable } from './row-table.ts'
import { escapedKey } from './row-values.ts'
import type { SegmentBuffer } from './segment-buffer.ts'

/** Reads a row of any shape, key by key. Learns the shape, unless each row has a new one. */
export function readAnyRow(
  table: RowTable,
  sinks: RowSinks,
  input: Buffer,
  at: number,
  target: SegmentBuffer | undefined,
): number {
  const { columns, values, key, writer } = table
  const learn = table.shapes.missed()
  const { keys, slotOfKey, below } = columns
  const gaps: Buffer[] = []
  const slots: number[] = []
  const { counts, copier } = writer
  values.startRow(columns)
  // A shape says nothing about what is inside its values.
  let flat = true
  key?.startRow()
  counts.startRow()
  let gapStart = at
  let o = 0
  let p = skipSpace(input, at + 1)
  for (let count = 1; input[p] !== CLOSE_BRACE; count++) {
    if (count > MAX_KEYS) throw tooManyKeys()
    if (input[p] !== QUOTE) fault('expected a key', p)
    const known = keys.scan(input, p + 1)
    const keyEnd = known === ESCAPED ? skipString(input, p) : keys.end + 1
    const index = known === ESCAPED ? escapedKey(keys, input, p, keyEnd) : known
    const slot = index < 0 ? table.newKey(input, p, keyEnd, sinks.rows) : slotOfKey[index]!
    p = skipSpace(input, keyEnd)
    if (input[p] !== COLON) fault('expected ":"', p)
    p = skipSpace(input, p + 1)
    if (learn) {
      gaps.push(input.subarray(gapStart, p))
      slots.push(slot)
    }
    const from = p
    if (slot < 0) p = skipValue(input, p)
    else {
      p = values.write(input, p, o, slot)
      o = copier.written
    }
    const keyColumn = slot < 0 ? -2 - slot : (columns.keyOf?.[slot] ?? -1)
    if (keyColumn >= 0) key?.found(keyColumn, from, p)
    if (below.length > 0) {
      if (slot >= 0) values.markLiteral(slot)
      if (index >= 0 && below[index]) {
        flat = false
        o = values.writeInside(below[index], columns, input, from, o)
      }
    }
    gapStart = p
    p = skipSpace(input, p)
    if (input[p] === COMMA) {
      p = skipSpace(input, p + 1)
      if (input[p] !== QUOTE) fault('expected a key', p)
    } else if (input[p] !== CLOSE_BRACE) fault('expected "," or "}"', p)
  }
  p++
  if (learn && flat) table.learn(gaps, input.subarray(gapStart, p), slots)
  sinks.keepValues(target)
  return p
}
