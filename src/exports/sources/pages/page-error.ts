import { AppError, ERRORS, messageOf, ownOutageOf, prefixed } from '../../../kernel/index.ts'
import { JsonFault, ShapeFault, UnknownRowHead } from '../json/index.ts'

/** Whatever went wrong with a page, as an error that names the page and the reason. */
export function pageError(error: unknown, page: number): AppError {
  const own = ownOutageOf(error)
  if (own) return own
  // What the network reports knows nothing of pages.
  if (error instanceof AppError)
    return /^page \d/.test(error.message) ? error : prefixed(error, `page ${page}`)
  if (error instanceof JsonFault)
    return new AppError(ERRORS.SOURCE_NOT_JSON, `page ${page} is not JSON: ${error.message}`, {
      cause: error,
    })
  if (error instanceof ShapeFault)
    return new AppError(ERRORS.SOURCE_SHAPE, `page ${page} has the wrong shape: ${error.message}`, {
      cause: error,
    })
  if (error instanceof UnknownRowHead)
    return new AppError(ERRORS.SOURCE_ROW_HEAD_UNKNOWN, `page ${page}: ${error.message}`, {
      cause: error,
      retryable: false,
    })
  return new AppError(ERRORS.SOURCE_UNREACHABLE, `page ${page} could not be fetched: ${messageOf(error)}`, {
    cause: error,
    retryable: !(error instanceof Error && 'retryable' in error && error.retryable === false),
  })
}
