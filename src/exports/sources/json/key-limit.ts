import { AppError, ERRORS } from '../../../kernel/index.ts'

/** Keys that an object of an answer may have, and columns that its rows may have together: what a sheet has. */
export const MAX_KEYS = 16_384

/** Asked at each key, so that nothing is made of those beyond the limit. */
export function tooManyKeys(what = 'an object has', which = 'keys'): AppError {
  return new AppError(ERRORS.SOURCE_SHAPE, `${what} more than ${MAX_KEYS} ${which}`, { retryable: false })
}
