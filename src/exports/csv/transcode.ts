import { AppError, ERRORS } from '../../kernel/index.ts'
import { APOSTROPHE, COMMA, CR, END_CLASS, FORMULA_CLASS, LF, QUOTE, SMALL_N, TEXT_CLASS } from './bytes.ts'

export interface Transcoded {
  /** Bytes read: all whole records, and nothing of the one that is cut off. */
  read: number
  written: number
  records: number
}

/** Output that `length` bytes of spool can become at most, without prefixes: see `transcode`. */
export function transcodeBound(length: number, fields: number): number {
  return (fields === 1 ? 4 : 2) * length + 8
}

/**
 * Spool records to CSV records in one pass over the bytes, with nothing decoded: the way for files whose columns are the
 * spool's fields in their order. Quotes are dropped where CSV does not need them, null becomes the empty field, texts that
 * look like formulas get an apostrophe, `\n` becomes `\r\n`, and `prefix` (the row headers' labels) goes before each.
 *
 * One function on purpose: places and counts live in registers, which is most of its speed.
 *
 * A field grows by one byte at most, and only if it has three or more; a record's end grows by one. So the output never
 * exceeds twice the input, plus the prefixes; but a record that is one empty field grows from `\n` to `""\r\n`.
 */
export function transcode(
  input: Uint8Array,
  output: Uint8Array,
  fields: number,
  prefix: Uint8Array | null,
): Transcoded {
  const end = input.length
  let i = 0
  let o = 0
  let read = 0
  let written = 0
  let records = 0
  let field = 0

  while (i < end) {
    if (field === 0 && prefix !== null) {
      if (o + prefix.length + transcodeBound(end - i, fields) > output.length) break
      output.set(prefix, o)
      o += prefix.length
    }
    if (input[i] === QUOTE) {
      i += 1
      // Written as if no quotes were needed; should they be, what stands there moves up by one.
      const start = o
      if (i < end && FORMULA_CLASS[input[i]!] === 1) {
        output[o] = APOSTROPHE
        o += 1
      }
      let quoted = false
      for (;;) {
        let byte = 0
        for (; i < end; i += 1) {
          byte = input[i]!
          if (TEXT_CLASS[byte] !== 0) break
          output[o] = byte
          o += 1
        }
        if (i >= end) break
        if (byte === QUOTE) {
          i += 1
          if (i >= end || input[i] !== QUOTE) break
        }
        if (!quoted) {
          quoted = true
          // A loop: for the short texts of most cells, copyWithin costs several times as much.
          for (let k = o; k > start; k -= 1) output[k] = output[k - 1]!
          output[start] = QUOTE
          o += 1
        }
        if (byte === QUOTE) {
          output[o] = QUOTE
          o += 1
        }
        output[o] = byte
        o += 1
        i += 1
      }
      if (quoted) {
        output[o] = QUOTE
        o += 1
      }
    } else if (input[i] === SMALL_N) {
      i += 4
    } else {
      for (; i < end; i += 1) {
        const byte = input[i]!
        if (END_CLASS[byte] !== 0) break
        output[o] = byte
        o += 1
      }
    }
    if (i >= end) break
    field += 1
    const byte = input[i]
    i += 1
    if (byte === COMMA && field < fields) {
      output[o] = COMMA
      o += 1
      continue
    }
    if (byte !== LF || field !== fields) throw damaged(field, fields, byte)
    if (o === written) {
      output[o] = QUOTE
      output[o + 1] = QUOTE
      o += 2
    }
    output[o] = CR
    output[o + 1] = LF
    o += 2
    field = 0
    read = i
    written = o
    records += 1
  }
  return { read, written, records }
}

export function damaged(field: number, fields: number, byte: number | undefined): AppError {
  const what =
    byte === LF
      ? `a record has ${field} fields, not ${fields}`
      : byte === COMMA
        ? `a record has more than ${fields} fields`
        : `field ${field} of a record goes on behind its end`
  return new AppError(ERRORS.SPOOL_DAMAGED, what, { retryable: false })
}
