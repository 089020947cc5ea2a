import { templateError } from '../../condition/index.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipString,
} from './json-scan.ts'

export interface MemberLimits {
  /** Members of one list or object. */
  each: number
  /** Of all of them together. */
  all: number
}

/** Of a template or header as it is in an answer: what comes with a request is bounded by the size of its body. */
const MAX_BYTES = 4 * 1024 * 1024

/** Refuses the JSON from `at` to `end`, which has been checked, before it is parsed: that would cost far more than this. */
export function requireFew(
  input: Uint8Array,
  at: number,
  end: number,
  { name, each, all }: MemberLimits & { name: string },
): void {
  if (end - at > MAX_BYTES) throw templateError(name, `${name} has more than ${MAX_BYTES} bytes`)
  const counts = [1]
  let total = 0
  for (let p = at; p < end; ) {
    const byte = input[p]
    if (byte === QUOTE) {
      p = skipString(input, p)
      continue
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) counts.push(1)
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) counts.pop()
    else if (byte === COMMA) {
      total += 1
      const count = (counts[counts.length - 1] ?? 0) + 1
      counts[counts.length - 1] = count
      if (count > each)
        throw templateError(name, `${name} has a list or an object with more than ${each} members`)
      if (total >= all) throw templateError(name, `${name} has more than ${all} members`)
    }
    p += 1
  }
}
