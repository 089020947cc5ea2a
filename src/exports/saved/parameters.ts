import { AppError, ERRORS } from '../../kernel/index.ts'
import { Parameters } from '../request/index.ts'
import { DATE_WORDS, dateWords } from './date-words.ts'

export { Parameters }
export type ParameterValue = Parameters[string]

/** `{{name}}`. What is in braces and no name stays as it is. */
export const PLACEHOLDER = /\{\{\s*([A-Za-z_][\w.]*)\s*\}\}/g
/** Filled in when a page is asked for. */
export const OF_THE_PAGE: ReadonlySet<string> = new Set(['page', 'page_size', 'cursor'])

const NAME = /^[A-Za-z_]\w{0,99}$/
const MOST = 100

/** Checks that no name means a date or a page, and that the defaults can be filled in. */
export function checkParameters(parameters: Parameters): void {
  const names = Object.keys(parameters)
  if (names.length > MOST) throw invalid('parameters', `has more than ${MOST} of them`)
  for (const name of names) {
    const path = `parameters.${name}`
    if (!NAME.test(name)) throw invalid(path, 'is no name: letters, digits and _')
    if (DATE_WORDS.has(name) || OF_THE_PAGE.has(name))
      throw invalid(path, 'is a word with a meaning of its own')
  }
  valuesAt(parameters, {}, { at: 0, timezone: 'UTC' })
}

/** The value of each parameter in one run: what that run says, else its default with dates filled in. */
export function valuesAt(
  parameters: Parameters,
  given: Parameters,
  { at, timezone }: { at: number; timezone: string },
): Parameters {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(parameters, name))
  if (unknown !== undefined) {
    const known = Object.keys(parameters).join(', ') || 'none'
    throw invalid(`parameters.${unknown}`, `is not known; this saved export has ${known}`)
  }
  const words = dateWords(at, timezone)
  const filled = Object.entries(parameters).map(([name, value]) => {
    if (typeof value !== 'string') return [name, value]
    return [name, value.replace(PLACEHOLDER, (_, word: string) => wordOf(words, word, `parameters.${name}`))]
  })
  return { ...Object.fromEntries(filled), ...given }
}

/** With the dates themselves, which a request may name without a parameter. */
export function wordsAt(values: Parameters, { at, timezone }: { at: number; timezone: string }): Parameters {
  return { ...dateWords(at, timezone), ...values }
}

function wordOf(words: Record<string, string>, word: string, path: string): string {
  const value = words[word]
  if (value === undefined) throw invalid(path, `names {{${word}}}, which is no date; known are ${known()}`)
  return value
}

function known(): string {
  return [...DATE_WORDS].join(', ')
}

export function invalid(path: string, message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, `${path} ${message}`, {
    details: { errors: [{ path, message }] },
    retryable: false,
  })
}
