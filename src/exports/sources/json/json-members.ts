import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipKey,
  skipSpace,
  skipString,
} from './json-scan.ts'
import { MAX_KEYS, tooManyKeys } from './key-limit.ts'
import { fault } from './page-fault.ts'

/** Walks the members of the object at `at`; `visit` gets a key, where its value and the key itself start, and returns where the value ended. */
export function eachMember(
  input: Buffer,
  at: number,
  visit: (key: string, valueAt: number, keyAt: number) => number,
): number {
  if (input[at] !== OPEN_BRACE) fault('expected an object', at)
  let p = skipSpace(input, at + 1)
  if (input[p] === CLOSE_BRACE) return p + 1
  for (let count = 1; ; count++) {
    if (count > MAX_KEYS) throw tooManyKeys()
    const valueAt = skipKey(input, p)
    p = skipSpace(input, visit(keyText(input, p), valueAt, p))
    if (input[p] === CLOSE_BRACE) return p + 1
    if (input[p] !== COMMA) fault('expected "," or "}"', p)
    p = skipSpace(input, p + 1)
  }
}

/** Walks the elements of the array at `at`, likewise. */
export function eachElement(input: Buffer, at: number, visit: (valueAt: number) => number): number {
  if (input[at] !== OPEN_BRACKET) fault('expected a list', at)
  let p = skipSpace(input, at + 1)
  if (input[p] === CLOSE_BRACKET) return p + 1
  for (;;) {
    p = skipSpace(input, visit(p))
    if (input[p] === CLOSE_BRACKET) return p + 1
    if (input[p] !== COMMA) fault('expected "," or "]"', p)
    p = skipSpace(input, p + 1)
  }
}

function keyText(input: Buffer, at: number): string {
  if (input[at] !== QUOTE) fault('expected a key', at)
  return String(JSON.parse(input.toString('utf8', at, skipString(input, at))))
}
