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
  PROJECT_REFUSED: 210,
  USER_REFUSED: 211,
} as const

/** Those that an agent may report. */
export const AGENT_RESULTS = [
  RESULT.DONE,
  RESULT.DISK_FULL,
  RESULT.PERMISSION,
  RESULT.PATH_REFUSED,
  RESULT.SIGNATURE_MISMATCH,
  RESULT.USER_UNKNOWN,
  RESULT.WRITE_FAILED,
  RESULT.NO_LINE,
  RESULT.PROJECT_REFUSED,
  RESULT.USER_REFUSED,
] as const

/** A target's end that is not the good one. */
export class TargetFailure extends Error {
  readonly code: number

  constructor(code: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'TargetFailure'
    this.code = code
  }
}

const BY_ERRNO: Record<string, { code: number; message: string }> = {
  ENOSPC: { code: RESULT.DISK_FULL, message: 'the disk is full' },
  EDQUOT: { code: RESULT.DISK_FULL, message: 'the disk quota is used up' },
  EFBIG: { code: RESULT.DISK_FULL, message: 'the file system takes no file of this size' },
  EACCES: { code: RESULT.PERMISSION, message: 'the agent may not write there' },
  EPERM: { code: RESULT.PERMISSION, message: 'the agent may not do that there' },
  EROFS: { code: RESULT.PERMISSION, message: 'the file system is read-only' },
  ELOOP: { code: RESULT.PATH_REFUSED, message: 'a symbolic link is in the way' },
  ENOTDIR: { code: RESULT.PATH_REFUSED, message: 'a part of the directory is a file' },
  EISDIR: { code: RESULT.PATH_REFUSED, message: 'there is a directory with the name of the file' },
  ENAMETOOLONG: { code: RESULT.PATH_REFUSED, message: 'the path is too long' },
}

/** In words of its own: the message of a system error names paths inside the agent. */
export function toTargetFailure(error: unknown): TargetFailure {
  if (error instanceof TargetFailure) return error
  const { code: errno, message } = error as NodeJS.ErrnoException
  if (errno === undefined) return new TargetFailure(RESULT.WRITE_FAILED, message, error)
  const known = BY_ERRNO[errno] ?? { code: RESULT.WRITE_FAILED, message: 'the file could not be written' }
  return new TargetFailure(known.code, `${known.message} (${errno})`, error)
}
