import { AppError, ERRORS, messageOf } from '../../../kernel/index.ts'

export function unreachable(cause: unknown): AppError {
  return new AppError(ERRORS.SOURCE_UNREACHABLE, `the database cannot be reached: ${messageOf(cause)}`, {
    cause,
  })
}

export function refused(message: string): AppError {
  return new AppError(ERRORS.CONNECTION_REFUSED, message, { retryable: false })
}

export function silent(ms: number): AppError {
  return new AppError(ERRORS.QUERY_FAILED, `the query sent no row for ${ms / 1000} seconds`, {
    retryable: false,
  })
}

export function rowTooLarge(limit: number): AppError {
  return new AppError(ERRORS.SOURCE_PAGE_TOO_LARGE, `a row of the query is larger than ${limit} bytes`, {
    retryable: false,
    details: { limit },
  })
}

/** In the same words for every database. */
export function wrongParams(placeholders: number, params: number): AppError {
  return new AppError(
    ERRORS.QUERY_FAILED,
    `the query has ${placeholders} placeholders, and there are ${params} params`,
    { retryable: false },
  )
}

/** The text is not repeated: the caller has it. */
export function notReading(): AppError {
  const message = 'the query returns no rows: an export takes one statement that only reads, such as a SELECT'
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
