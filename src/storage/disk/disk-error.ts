import { AppError, ERRORS, isErrno, messageOf } from '../../kernel/index.ts'

/** The error that callers know for whatever the file system threw; others pass as they are. */
export function toStorageError(error: unknown, what: string): unknown {
  if (error instanceof AppError || !(error instanceof Error) || !('syscall' in error)) return error
  const text = `cannot ${what}: ${messageOf(error)}`
  if (isErrno(error, 'ENOSPC', 'EDQUOT')) return new AppError(ERRORS.STORAGE_FULL, text, { cause: error })
  if (isErrno(error, 'EACCES', 'EPERM', 'EROFS', 'ELOOP'))
    return new AppError(ERRORS.STORAGE_DENIED, text, { cause: error, retryable: false })
  return new AppError(ERRORS.STORAGE_UNAVAILABLE, text, { cause: error })
}
