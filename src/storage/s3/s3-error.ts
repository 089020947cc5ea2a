import { S3ServiceException } from '@aws-sdk/client-s3'
import { AppError, ERRORS, messageOf } from '../../kernel/index.ts'

const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'EntityTooLarge'])
/** Statuses of the 400s that say nothing about the configuration: the same request may go through in a moment. */
const PASSING = new Set(['RequestTimeout', 'NoSuchUpload', 'OperationAborted', 'SlowDown'])
/** What the SDK, its HTTP handler and the sockets below throw when the other side is not there or breaks off. */
const BROKEN = /^(?:E[A-Z]+|TimeoutError|NetworkingError|AbortError|UND_ERR_.*|ERR_STREAM_.*)$/

export function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && ['NoSuchKey', 'NotFound'].includes(error.name)
}

/** The error that callers know for whatever the SDK threw; others pass as they are. */
export function toStorageError(error: unknown, what: string, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof AppError) return error
  const text = `cannot ${what}: ${messageOf(error)}`
  if (error instanceof S3ServiceException) return byStatus(error, text)
  const code = error instanceof Error ? String('code' in error ? error.code : error.name) : ''
  const broken = BROKEN.test(code) || /aborted|hang up|deserializ/i.test(messageOf(error))
  return broken ? new AppError(ERRORS.STORAGE_UNAVAILABLE, text, { cause: error }) : error
}

function byStatus(error: S3ServiceException, text: string): AppError {
  const status = error.$metadata.httpStatusCode ?? 0
  if (isMissing(error))
    return new AppError(ERRORS.ARTIFACT_NOT_FOUND, text, { cause: error, retryable: false })
  if (status === 416)
    return new AppError(ERRORS.RANGE_NOT_SATISFIABLE, text, { cause: error, retryable: false })
  if (status === 507 || FULL.has(error.name)) return new AppError(ERRORS.STORAGE_FULL, text, { cause: error })
  if ([400, 401, 403, 404, 405, 301].includes(status) && !PASSING.has(error.name))
    return new AppError(ERRORS.STORAGE_DENIED, `${text} (${error.name})`, { cause: error })
  return new AppError(ERRORS.STORAGE_UNAVAILABLE, `${text} (${error.name})`, { cause: error })
}
