import { compareNumber, isSafeNumber } from 'lossless-json'

/**
 * JavaScript moves the members of an object whose keys look like integers to the front: `{"name": …, "2024": …}` would
 * become a table that begins with 2024. So such keys are marked in the text before it is parsed. A marked object is
 * ordinary JSON: it can be stored and read back, and a reader of a key takes the mark off with `plainKey`.
 */
const MARK = '\u2063'
const MARKED = new RegExp(`^${MARK}(?=\\d+$)`)
const MARKED_KEY = new RegExp(`(?<!\\\\)"${MARK}(\\d+)":`, 'g')
const INTEGER_KEY = /"\d+"\s*:/
const DIGITS = /^\d+$/
const COLON = /\s*:/y

/**
 * `JSON.parse` for what carries meaning in the order of its keys: templates, headers, footers. A number that JavaScript would
 * round becomes what `ofLong` makes of its digits, which is their text unless it says otherwise.
 */
export function parseKeepingOrder(text: string, ofLong?: (digits: string) => unknown): unknown {
  return parseKeepingDigits(markIntegerKeys(text), ofLong)
}

/** `JSON.stringify` for what `parseKeepingOrder` has read: the keys as they were, in their order. */
export function stringifyKeepingOrder(value: unknown): string {
  return JSON.stringify(value).replace(MARKED_KEY, '"$1":')
}

export function plainKey(key: string): string {
  return key.startsWith(MARK) ? key.replace(MARKED, '') : key
}

/** For another parser than `JSON.parse`. */
export function markIntegerKeys(text: string): string {
  if (!INTEGER_KEY.test(text)) return text
  const parts: string[] = []
  let copied = 0
  let open = text.indexOf('"')
  while (open !== -1) {
    const close = endOfString(text, open)
    if (close === -1) break
    COLON.lastIndex = close + 1
    if (DIGITS.test(text.slice(open + 1, close)) && COLON.test(text)) {
      parts.push(text.slice(copied, open + 1), MARK)
      copied = open + 1
    }
    open = text.indexOf('"', close + 1)
  }
  parts.push(text.slice(copied))
  return parts.join('')
}

/** The quote that ends the string which begins at `open`, or -1. */
function endOfString(text: string, open: number): number {
  for (let close = text.indexOf('"', open + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    let slashes = 0
    while (text[close - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return close
  }
  return -1
}

/** A number that JavaScript would round, as it was written. */
export class ExactNumber {
  readonly digits: string

  constructor(digits: string) {
    this.digits = digits
  }

  toString(): string {
    return this.digits
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

/** What has neither so many digits nor an exponent has no number that would be rounded. */
const MAY_BE_LONG = /[\d.]{16}|\d[eE]/

/** `JSON.parse`, with a number that JavaScript would round as its text, or as `ofLong` says. */
function parseKeepingDigits(text: string, ofLong: (digits: string) => unknown = (digits) => digits): unknown {
  if (!MAY_BE_LONG.test(text)) return JSON.parse(text)
  const revive: Reviver = (_, value, { source }) =>
    typeof value !== 'number' || source === undefined || isSafeNumber(source) ? value : ofLong(source)
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown)
}

/** Whether JavaScript's number is the very one that is written, if need be with the 17 digits that tell any two apart. */
export function hasAllDigits(digits: string): boolean {
  const value = Number(digits)
  if (!Number.isFinite(value)) return false
  return [String(value), value.toPrecision(17)].some((text) => compareNumber(text, digits) === 0)
}
