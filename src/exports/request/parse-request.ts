import {
  AppError,
  ERRORS,
  ExactNumber,
  hasAllDigits,
  parseKeepingOrder,
  plainKey,
} from '../../kernel/index.ts'

/** What is shown in a file, or found by its name: a long number counts as its text, as in the answer of a source. */
const SHOWN = /^(?:header|footer|template|sheets\[\d+\]\.template)(?![^.[])/
/** What is sent on. A text in place of a number may mean something else there, so the caller must say it. */
const SENT = /^(?:parameters|source\.(?:body|params))(?![^.[])/

/**
 * The JSON of a request, with its keys in their order and no number rounded in silence. `place`: where in a request it
 * belongs; empty: it is the whole one.
 */
export function parseRequest(text: string, place = ''): unknown {
  let found = false
  const value = parseKeepingOrder(text, (digits) => {
    found = true
    return new ExactNumber(digits)
  })
  return found ? settled(value, place) : value
}

function settled(value: unknown, path: string): unknown {
  if (value instanceof ExactNumber) return settledNumber(value.digits, path)
  if (Array.isArray(value)) return value.map((item, index) => settled(item, `${path}[${index}]`))
  if (typeof value !== 'object' || value === null) return value
  const prefix = path === '' ? '' : `${path}.`
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, settled(member, `${prefix}${plainKey(key)}`)]),
  )
}

function settledNumber(digits: string, path: string): string | number {
  // One that is not finite is refused wherever it is.
  if (SHOWN.test(path) && Number.isFinite(Number(digits))) return digits
  if (!SENT.test(path) || hasAllDigits(digits)) return Number(digits)
  const shown = digits.length > 40 ? `${digits.slice(0, 40)}…` : digits
  const message = `is ${shown}, which has more digits than a number keeps; write it as a text`
  throw new AppError(ERRORS.REQUEST_INVALID, `${path} ${message}`, {
    details: { errors: [{ path, message }] },
    retryable: false,
  })
}
