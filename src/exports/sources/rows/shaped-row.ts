import { FORMULA_START, fitsType } from '../../sheet/index.ts'
import { COMMA, copyNumber, copyPlain, hasExponent, QUOTE, skipValue, wholeEnd } from '../json/index.ts'
import { MISFIT, NO_VALUE } from './row-counts.ts'
import type { RowShape } from './row-shape.ts'
import type { RowSinks } from './row-sinks.ts'
import type { RowTable } from './row-table.ts'
import { isEmpty } from './row-values.ts'
import type { SegmentBuffer } from './segment-buffer.ts'

/** The row at `at` if it is written in this shape, else -1 with nothing changed. */
export function readShapedRow(
  shape: RowShape,
  table: RowTable,
  sinks: RowSinks,
  input: Buffer,
  at: number,
  target: SegmentBuffer | undefined,
): number {
  const { code, closing } = shape
  const { writer, values, key, checks, csv, disarms } = table
  const { page, maskOf, counts, meter, copier } = writer
  const { view } = page
  const size = input.length
  const direct = shape.direct && target !== undefined
  const memory = direct ? target.memory : values.memory
  const { bytes: out, view: outView } = memory
  const { keyOf } = table.columns
  if (keyOf !== null) key!.startRow()
  let o = direct ? target.length : 0
  let p = at
  if (!direct) values.starts.fill(-1)
  counts.startRow()
  let c = 0
  for (let gap = code[c++]!; gap > 0; gap = code[c++]!) {
    // Four bytes at a time; the last four may overlap those before them.
    const next = p + gap
    if (next > size) return -1
    for (let words = code[c++]!; words > 0; words--, p += 4)
      if (view.getInt32(p, true) !== code[c++]) return -1
    if (view.getInt32(next - 4, true) !== code[c++]) return -1
    p = next
    const slot = code[c++]!
    const commas = code[c++]!
    const byte = input[p]!
    if (byte <= 0x20) return -1 // more blanks than the shape has
    if (slot < 0) {
      const from = p
      p = skipValue(input, p)
      if (slot < -1) key!.found(-2 - slot, from, p)
      continue
    }
    const from = p
    if (direct) for (let comma = commas; comma > 0; comma--) out[o++] = COMMA
    const start = o
    if (maskOf !== null && maskOf[slot] !== undefined) {
      p = writer.masked(input, p, out, o, slot)
      o = copier.written
    } else if (byte === QUOTE) {
      out[o++] = QUOTE
      const stop = copyPlain(view, ++p, outView, o)
      o += stop - p
      p = stop
      if (input[p] === QUOTE) {
        out[o++] = QUOTE
        p++
      } else {
        copier.escaped(page, p, memory, o)
        if (copier.halved) writer.noteHalf(slot)
        p = copier.read
        o = copier.written
      }
      if (disarms && FORMULA_START[out[start + 1]!] !== 0) o = writer.disarmed(slot, out, start, o)
      meter.text(slot, out, start + 1, o - 1)
    } else if (byte <= 0x39 && byte >= 0x2d) {
      const stop = copyNumber(input, p, out, o)
      if (hasExponent) meter.exponential(slot, input, p, stop)
      else meter.number(slot, wholeEnd - p, stop - wholeEnd)
      o += stop - p
      p = stop
    } else {
      p = writer.rare(input, p, out, o, slot)
      o = copier.written
    }
    if (!direct) {
      values.starts[slot] = start
      values.ends[slot] = o
    } else if (csv) {
      if (o - start <= 2 && isEmpty(out, start, o)) counts.note(slot, NO_VALUE)
      else if (checks !== null && checks[slot]! > 0 && !fitsType(checks[slot]!, out, start, o))
        counts.note(slot, MISFIT)
    }
    if (keyOf !== null && keyOf[slot]! >= 0) key!.found(keyOf[slot]!, from, p)
  }
  for (let index = 0; index < closing.length; index++) if (input[p++] !== closing[index]) return -1
  if (direct) {
    for (let comma = shape.trailing; comma > 0; comma--) out[o++] = COMMA
    sinks.endRecord(target, o)
    if (csv) for (let n = 0; n < shape.missing.length; n++) counts.count(shape.missing[n]!, NO_VALUE)
    counts.keepRow()
  } else sinks.keepValues(target)
  return p
}
