import { AppError, ERRORS, messageOf, toDiskError } from '../../kernel/index.ts'

/** The error that callers know for whatever the file system threw; others pass as they are. */
export function toStorageError(error: unknown, what: string): unknown {
  const known = toDiskError(error, what)
  if (known instanceof AppError || !(known instanceof Error) || !('syscall' in known)) return known
  return new AppError(ERRORS.STORAGE_UNAVAILABLE, `cannot ${what}: ${messageOf(error)}`, { cause: error })
}
