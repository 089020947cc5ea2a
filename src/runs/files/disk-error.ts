import { AppError, ERRORS, messageOf } from '../../kernel/index.ts'

const FULL = new Set(['ENOSPC', 'EDQUOT'])
const DENIED = new Set(['EACCES', 'EPERM', 'EROFS', 'EMFILE', 'ENFILE', 'EIO', 'ENOTDIR', 'ELOOP'])

/** What the disk refuses to one file it refuses to all: such an error ends the run instead of every single file. */
export function toDiskError(error: unknown): unknown {
  const { code = '' } = error as { code?: string }
  if (error instanceof AppError) return error
  if (FULL.has(code))
    return new AppError(ERRORS.STORAGE_FULL, 'the disk is full', { cause: error, retryable: false })
  if (DENIED.has(code))
    return new AppError(ERRORS.STORAGE_DENIED, `the disk refuses Wharf: ${messageOf(error)}`, {
      cause: error,
      retryable: false,
    })
  return error
}

export function isDiskError(error: unknown): boolean {
  return (
    error instanceof AppError && (error.kind === ERRORS.STORAGE_FULL || error.kind === ERRORS.STORAGE_DENIED)
  )
}
