import { isErrno } from './errno.ts'
import { AppError, ERRORS, messageOf } from './errors.ts'

const FULL = ['ENOSPC', 'EDQUOT']
/** Somebody else is at work on it, or the system is short of something: another try may well go through. */
const BUSY = ['EBUSY', 'ENOTEMPTY', 'EAGAIN', 'ENOMEM', 'ENOLCK', 'EINTR', 'EDEADLK']
/** The disk fails, is gone or was mounted read-only, or the process has no file descriptor left. */
const BROKEN = ['EIO', 'EROFS', 'ENODEV', 'ENXIO', 'ESTALE', 'EMFILE', 'ENFILE', ...BUSY]
const DENIED = ['EACCES', 'EPERM', 'ELOOP', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG']
const DEEPEST_CAUSE = 8

/** The error that callers know for what the file system threw; others pass as they are. */
export function toDiskError(error: unknown, what: string): unknown {
  if (error instanceof AppError) return error
  const text = `cannot ${what}: ${messageOf(error)}`
  if (isErrno(error, ...FULL)) return new AppError(ERRORS.STORAGE_FULL, text, { cause: error })
  if (isErrno(error, ...BROKEN)) return new AppError(ERRORS.STORAGE_UNAVAILABLE, text, { cause: error })
  if (isErrno(error, ...DENIED))
    return new AppError(ERRORS.STORAGE_DENIED, text, { cause: error, retryable: false })
  return error
}

/**
 * The outage that an error or one of its causes names: a part of the installation is away, which is nobody's
 * failure. Undefined for everything that a source, a request or a setting did wrong.
 */
export function outageOf(error: unknown): AppError | undefined {
  let cause = error
  for (let depth = 0; cause instanceof Error && depth < DEEPEST_CAUSE; depth++) {
    const known = isErrno(cause, ...FULL, ...BROKEN) ? toDiskError(cause, 'use the disk') : cause
    // What another try cannot change (an export larger than a whole day's quota) is not waited for.
    if (known instanceof AppError && known.kind.outage !== undefined)
      return known.retryable ? known : undefined
    cause = cause.cause
  }
  return undefined
}

/**
 * The same without outages of a source: our disk is full, say, or no file can be opened any more. To ask the source again, or to
 * say that it cannot be reached, would be wrong.
 */
export function ownOutageOf(error: unknown): AppError | undefined {
  const outage = outageOf(error)
  return outage?.kind.outage === 'source' ? undefined : outage
}
