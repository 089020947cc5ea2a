import { AppError, ERRORS } from '../../kernel/index.ts'
import { safeName } from '../files/index.ts'

const MAX_CHARACTERS = 100

/**
 * A handle is also the name of the account's folder, so it must be one that means the same on every file system.
 * Nothing is replaced silently: two handles must never end up in one folder.
 */
export function checkHandle(handle: string): void {
  const good = handle.length <= MAX_CHARACTERS && !/\s/.test(handle) && safeName(handle) === handle
  if (good) return
  throw new AppError(
    ERRORS.HANDLE_INVALID,
    `a handle takes 1 to ${MAX_CHARACTERS} characters that may stand in a folder's name: no blanks, no / \\ : * ? " < > |, no dot at either end`,
  )
}
