import { AppError, counted, ERRORS, messageOf, ownOutageOf } from '../../../kernel/index.ts'

export function unreachable(cause: unknown): AppError {
  return away('cannot be reached', cause)
}

/** The connection broke. */
export function gone(cause: unknown): AppError {
  return away('is gone', cause)
}

function away(how: string, cause: unknown): AppError {
  return (
    ownOutageOf(cause) ??
    new AppError(ERRORS.SOURCE_UNREACHABLE, `the database ${how}: ${messageOf(cause)}`, { cause })
  )
}

export function refused(message: string): AppError {
  return new AppError(ERRORS.CONNECTION_REFUSED, message, { retryable: false })
}

export function silent(ms: number): AppError {
  return new AppError(ERRORS.QUERY_FAILED, `the query sent no row for ${counted(ms / 1000, 'second')}`, {
    retryable: false,
  })
}

export function rowTooLarge(limit: number): AppError {
  return new AppError(
    ERRORS.SOURCE_PAGE_TOO_LARGE,
    `a row of the query is larger than ${counted(limit, 'byte')}`,
    {
      retryable: false,
      details: { limit },
    },
  )
}

/** Of what keeps a session from being opened, in the same words for every database. */
const CLOSED = {
  user: 'the user or password of the connection is wrong',
  database: 'there is no database of that name, or the user may not use it',
}

/** A mistake in the connection's address: the same the next time. */
export function notLetIn(what: keyof typeof CLOSED, cause: unknown): AppError {
  return new AppError(ERRORS.CONNECTION_REFUSED, `${CLOSED[what]}: ${messageOf(cause)}`, {
    cause,
    retryable: false,
  })
}

/** In the same words for every database. */
export function wrongParams(placeholders: number, params: number): AppError {
  return failed(
    `the query has ${counted(placeholders, 'placeholder')}, and there ${params === 1 ? 'is' : 'are'} ${counted(params, 'param')}`,
  )
}

/** The text is not repeated: the caller has it. */
export function notReading(query: string): AppError {
  const word = firstWord(query)
  const how = beginsAsQuery(query) ? 'does more' : word === undefined ? 'is empty' : `begins with ${word}`
  return failed(`an export takes one statement that only reads, such as a SELECT; this one ${how}`)
}

export function oneTooMany(): AppError {
  return failed('an export takes one statement, and another one follows it')
}

/** Not so for what only looks or changes, whose faults a database describes in words of its own grammar. */
export function beginsAsQuery(query: string): boolean {
  return /^(?:select|with|values|table)$/i.test(firstWord(query) ?? '')
}

/** After blanks, comments and opening brackets. */
function firstWord(query: string): string | undefined {
  return /^(?:[\s(;]|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*((?!--|#|\/\*)[^\s(;]+)/.exec(
    query,
  )?.[1]
}

function failed(message: string): AppError {
  return new AppError(ERRORS.QUERY_FAILED, message, { retryable: false })
}

export function refuseTwins(columns: readonly { name: string }[]): void {
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(name))
      throw new AppError(
        ERRORS.QUERY_FAILED,
        `two columns are named "${name}"; give one another name with AS`,
        { retryable: false },
      )
    seen.add(name)
  }
}
