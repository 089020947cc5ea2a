import { AppError, ERRORS } from '../../kernel/index.ts'

/** What is left of an error on its way out of a thread. */
export interface Failure {
  message: string
  /** Of the table of errors, or of the operating system. */
  code?: string
  details?: Record<string, unknown>
  retryable?: boolean
}

/** The error as if it had been thrown in this thread. */
export function errorOf({ message, code, details, retryable }: Failure): Error {
  if (code !== undefined && Object.hasOwn(ERRORS, code))
    return new AppError(ERRORS[code as keyof typeof ERRORS], message, {
      ...(details && { details }),
      ...(retryable !== undefined && { retryable }),
    })
  return code === undefined
    ? new AppError(ERRORS.INTERNAL, message)
    : Object.assign(new Error(message), { code })
}
