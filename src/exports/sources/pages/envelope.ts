import { isUtf8 } from 'node:buffer'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { fault, OPEN_BRACE, OPEN_BRACKET, ShapeFault, skipSpace, skipValue } from '../json/index.ts'

/**
 * What surrounds a page's rows: `{total, data, template?, header?, footer?}`, bare or wrapped as
 * `{status, msg, data: {…}}`. It is a wrapper only if it has no `total` of its own.
 */

const OPEN_ANGLE = 0x3c
const BARE_LIST =
  'it is a list, not an object {total, data}; ask with source: {"kind": "http", "url": …, "rows": ""}, or let `wharf doctor URL` find out how'

/** Where the page's object starts, after the checks that concern the page as a whole. */
export function startOfPage(input: Buffer, end: number, page: number): number {
  const at = startOfJson(input, end, page)
  if (input[at] !== OPEN_BRACE) {
    wholeOf(input, at, end)
    throw new ShapeFault(input[at] === OPEN_BRACKET ? BARE_LIST : 'it is not an object')
  }
  return at
}

/** Checks that the page is one JSON value. */
export function wholeOf(input: Buffer, at: number, end: number): void {
  checkEndOfPage(input, skipValue(input, at), end)
}

/** Where the page's value starts. */
export function startOfJson(input: Buffer, end: number, page: number): number {
  const bom = input[0] === 0xef && input[1] === 0xbb && input[2] === 0xbf ? 3 : 0
  const at = skipSpace(input, bom)
  if (at >= end) throw new AppError(ERRORS.SOURCE_NOT_JSON, `page ${page} is empty`)
  if (input[at] === OPEN_ANGLE)
    throw new AppError(
      ERRORS.SOURCE_NOT_JSON,
      `page ${page} was answered with an HTML page, is a login needed?`,
    )
  if (!isUtf8(input.subarray(0, end)))
    throw new AppError(ERRORS.SOURCE_NOT_JSON, `page ${page} is not JSON: it is not valid UTF-8`)
  return at
}

export function checkEndOfPage(input: Buffer, at: number, end: number): void {
  const p = skipSpace(input, at)
  if (p < end) fault('unexpected text after the page', p)
}

/** Of `total`, `status` and `msg`, of which the last is shown to people. */
const MAX_SMALL_BYTES = 64 * 1024

/** One of the members that are read at once, whatever it holds. */
export function smallValue(input: Buffer, at: number, name: string): unknown {
  const end = skipValue(input, at)
  if (end - at > MAX_SMALL_BYTES) throw new ShapeFault(`its ${name} has more than ${MAX_SMALL_BYTES} bytes`)
  return JSON.parse(input.toString('utf8', at, end))
}

/** `total` as a count; a string of digits is taken too, since some languages write it so. */
export function countOf(value: unknown): number {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (typeof count !== 'number' || !Number.isSafeInteger(count) || count < 0)
    throw new ShapeFault(`total is ${JSON.stringify(value)}, not a count`)
  return count
}

/** Throws the source's own error, if that is what the wrapper's `status` says. */
export function checkStatus(status: unknown, msg: unknown, page: number): void {
  if (status === undefined || [0, 200, '0', '200'].includes(status as number | string)) return
  const said =
    typeof msg === 'string' && msg !== '' ? msg : `status ${JSON.stringify(status)} without a message`
  throw new AppError(ERRORS.SOURCE_ERROR, `page ${page}: the source says: ${said}`, {
    retryable: isWorthRetrying(Number(status)),
    details: { page, source_status: status, source_msg: said },
  })
}

/** Client errors stay what they are, save for those that mean "not now". */
export function isWorthRetrying(status: number): boolean {
  return !(status >= 300 && status < 500) || status === 408 || status === 425 || status === 429
}
