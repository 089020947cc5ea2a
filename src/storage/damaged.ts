import { AppError, counted, ERRORS } from '../kernel/index.ts'

/** A file that is not the one that was stored. Reading it again does not help. */
export function damaged(why: string, cause?: unknown): AppError {
  return new AppError(ERRORS.ARTIFACT_DAMAGED, why, { cause, retryable: false })
}

/** Somebody cut, extended or replaced the file behind Wharf's back. */
export function requireSize(found: number, recorded: number): void {
  if (found !== recorded)
    throw damaged(`the stored file has ${counted(found, 'byte')}, and had ${recorded} when it was stored`)
}
