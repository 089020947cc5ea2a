import { AppError, ERRORS } from '../../kernel/index.ts'
import type { ByteRange } from '../artifact-store.ts'

/** A malformed range would be passed over by the server, which then sends everything. */
export function rangeHeader({ start, end }: ByteRange): string {
  if (
    !Number.isSafeInteger(start) ||
    start < 0 ||
    !(end === undefined || (Number.isSafeInteger(end) && end >= start))
  )
    throw new AppError(ERRORS.RANGE_NOT_SATISFIABLE, `bytes ${start}-${end ?? ''} are no range`, {
      retryable: false,
    })
  return `bytes=${start}-${end ?? ''}`
}

/** What the server really sends, and of how much. */
export function readContentRange(header: string | undefined): { start: number; end: number; size: number } {
  const [, start, end, size] = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header ?? '') ?? []
  if (size === undefined)
    throw new AppError(ERRORS.STORAGE_UNAVAILABLE, 'the file store does not answer requests for a range')
  return { start: Number(start), end: Number(end), size: Number(size) }
}
