import { AppError, ERRORS } from '../kernel/index.ts'
import type { ByteRange } from './artifact-store.ts'

/** The range cut to what is there; throws if nothing of it is. */
export function clampRange(range: ByteRange, size: number): { start: number; end: number } {
  const { start, end = size - 1 } = range
  if (!Number.isSafeInteger(start) || start < 0 || start >= size || !(end >= start))
    throw new AppError(
      ERRORS.RANGE_NOT_SATISFIABLE,
      `bytes ${start}-${range.end ?? ''} of ${size} do not exist`,
      {
        retryable: false,
        details: { size },
      },
    )
  return { start, end: Math.min(Math.trunc(end), size - 1) }
}
