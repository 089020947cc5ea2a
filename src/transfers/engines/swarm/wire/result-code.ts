/** What becomes of one target. `docs/swarm.md` explains each; a test compares the two. */
export const RESULT = {
  DONE: 0,
  DOWNLOADING: 115,
  AGENT_LOST: 117,
  TERMINATED: 126,
  DISK_FULL: 201,
  PERMISSION: 202,
  PATH_REFUSED: 203,
  SIGNATURE_MISMATCH: 204,
  USER_UNKNOWN: 205,
  WRITE_FAILED: 206,
  NO_LINE: 207,
  TIMED_OUT: 208,
  SOURCE_FAILED: 209,
} as const

/** A target's end that is not the good one. */
export class TargetFailure extends Error {
  readonly code: number

  constructor(code: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TargetFailure'
    this.code = code
  }
}

const BY_ERRNO: Record<string, number> = {
  ENOSPC: RESULT.DISK_FULL,
  EDQUOT: RESULT.DISK_FULL,
  EFBIG: RESULT.DISK_FULL,
  EACCES: RESULT.PERMISSION,
  EPERM: RESULT.PERMISSION,
  EROFS: RESULT.PERMISSION,
  ELOOP: RESULT.PATH_REFUSED,
  ENOTDIR: RESULT.PATH_REFUSED,
  EISDIR: RESULT.PATH_REFUSED,
  ENAMETOOLONG: RESULT.PATH_REFUSED,
}

export function toTargetFailure(error: unknown): TargetFailure {
  if (error instanceof TargetFailure) return error
  const { code = '', message } = error as NodeJS.ErrnoException
  return new TargetFailure(BY_ERRNO[code] ?? RESULT.WRITE_FAILED, message, error)
}
