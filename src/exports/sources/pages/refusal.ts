import { AppError, ERRORS } from '../../../kernel/index.ts'
import { reasonOf, shortLine } from './reason.ts'

type Members = Readonly<Record<string, unknown>>

const DONE = /^(?:ok|(?:is_?)?success|succeeded)$/i
const FAULTS = /^errors?$/i
const CODE = /^(?:(?:status|err(?:or)?)_?)?code$|^status$|^errno$/i
/** Words that some have where there is no error. */
const NO_FAULT = /^(?:0|ok|none|null|false|success|no error)?$/i

/** More than this is no answer without rows. */
const MOST_BYTES = 256 * 1024

/** An answer without rows that is looked at again for what it says. */
export interface Rowless {
  input: Buffer
  start: number
  end: number
  page: number
  /** It has a list of rows, and nothing is in it. */
  isList: boolean
}

/**
 * Throws the source's own reason if the answer says that the request failed. Only without rows is it asked: a member `error` may mean
 * anything. A code may too, so of a list that is empty only those count that can mean nothing else.
 */
export function checkRefusal(rowless: Rowless): void {
  const answer = membersOf(rowless)
  const found = Object.entries(answer).find(
    ([key, value]) =>
      (DONE.test(key) && (value === false || value === 'false')) ||
      (FAULTS.test(key) && isFault(value)) ||
      (CODE.test(key) && isFailure(Number(value), rowless.isList)),
  )
  if (!found) return
  const [key, value] = found
  const reason = shortLine(reasonOf(answer) ?? `${key} is ${JSON.stringify(value)}`)
  const { page } = rowless
  throw new AppError(ERRORS.SOURCE_ERROR, `page ${page}: the source says: ${reason}`, {
    // A source that has given pages may have stumbled.
    retryable: page > 0,
    details: { page, source_msg: reason },
  })
}

/** What the answer has and says, for the error of one that lacks what it must have. */
export function contentsOf(rowless: Omit<Rowless, 'isList'>): string {
  const answer = membersOf(rowless)
  const keys = Object.keys(answer)
  if (keys.length === 0) return ''
  const reason = reasonOf(answer)
  const says = reason === undefined ? '' : ` ("${shortLine(reason)}")`
  return `; the answer has ${keys.slice(0, 12).join(', ')}${says}`
}

function membersOf({ input, start, end }: Pick<Rowless, 'input' | 'start' | 'end'>): Members {
  if (end - start > MOST_BYTES) return {}
  const value: unknown = JSON.parse(input.toString('utf8', start, end))
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}

function isFault(value: unknown): boolean {
  if (typeof value === 'string') return !NO_FAULT.test(value.trim())
  if (typeof value !== 'object' || value === null) return value === true || Number(value ?? 0) !== 0
  return Object.keys(value).length > 0 && !('code' in value && Number(value.code) === 0)
}

/** By the numbers of HTTP. Some answer 404 where nothing is found. */
function isFailure(code: number, isList: boolean): boolean {
  const least = isList ? 500 : 400
  return (code >= least && code < 600) || code === 401 || code === 403 || code === 429
}
