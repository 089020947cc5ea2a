import { AppError, ERRORS, messageOf } from '../../kernel/index.ts'
import { textOf } from './read-xml.ts'

/** What the store answered in place of what it was asked for. */
export class S3Refusal extends Error {
  readonly status: number
  /** Such as `NoSuchKey`. */
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.name = 'S3Refusal'
    this.status = status
    this.code = code
  }
}

/** An answer to HEAD has no body that says more. */
export function refusalOf(status: number, body: string): S3Refusal {
  const code = textOf(body, 'Code') ?? (status === 404 ? 'NotFound' : `status ${status}`)
  return new S3Refusal(status, code, textOf(body, 'Message') ?? code)
}

const FULL = new Set(['QuotaExceeded', 'XMinioStorageFull', 'InsufficientStorage', 'EntityTooLarge'])
/** Statuses of the 400s that say nothing about the configuration: the same request may go through in a moment. */
const PASSING = new Set(['RequestTimeout', 'NoSuchUpload', 'OperationAborted', 'SlowDown'])
/** Statuses of the 400s that the same request is sent again for. */
const AGAIN = new Set(['RequestTimeout', 'RequestTimeTooSkewed', 'SlowDown'])
/** What undici and the sockets below it throw when the other side is not there or breaks off. */
const BROKEN = /^(?:E[A-Z]+|AbortError|UND_ERR_.*|ERR_STREAM_.*)$/

export function isMissing(error: unknown): boolean {
  return error instanceof S3Refusal && ['NoSuchKey', 'NotFound'].includes(error.code)
}

/** Whether the same request may go through in a moment. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof S3Refusal)) return isBroken(error)
  const { status, code } = error
  if (status === 507 || FULL.has(code)) return false
  return status >= 500 || status === 429 || AGAIN.has(code)
}

function isBroken(error: unknown): boolean {
  const code = error instanceof Error ? String('code' in error ? error.code : error.name) : ''
  return BROKEN.test(code) || /aborted|hang up/i.test(messageOf(error))
}

/** The error that callers know for whatever the client threw; others pass as they are. */
export function toStorageError(error: unknown, what: string, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason
  if (error instanceof AppError) return error
  const text = `cannot ${what}: ${messageOf(error)}`
  if (error instanceof S3Refusal) return byStatus(error, text)
  return isBroken(error) ? new AppError(ERRORS.STORAGE_UNAVAILABLE, text, { cause: error }) : error
}

function byStatus(error: S3Refusal, text: string): AppError {
  const { status, code } = error
  if (isMissing(error))
    return new AppError(ERRORS.ARTIFACT_NOT_FOUND, text, { cause: error, retryable: false })
  if (status === 416)
    return new AppError(ERRORS.RANGE_NOT_SATISFIABLE, text, { cause: error, retryable: false })
  if (status === 507 || FULL.has(code)) return new AppError(ERRORS.STORAGE_FULL, text, { cause: error })
  if ([400, 401, 403, 404, 405, 301].includes(status) && !PASSING.has(code))
    return new AppError(ERRORS.STORAGE_DENIED, `${text} (${code})`, { cause: error })
  return new AppError(ERRORS.STORAGE_UNAVAILABLE, `${text} (${code})`, { cause: error })
}
