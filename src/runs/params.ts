import { AppError, ERRORS } from '../kernel/index.ts'
import type { AccountParams } from './feed/item-filter.ts'

/** Throws for wishes that no item could ever meet, or that nobody can read. */
export function checkParams({ min_size, max_size, since, until }: AccountParams): void {
  for (const [name, value] of Object.entries({ since, until }))
    if (value !== undefined && Number.isNaN(Date.parse(value)))
      throw invalid(`${name} takes a date like 2026-01-31 or 2026-01-31T12:00:00Z`)
  if (min_size !== undefined && max_size !== undefined && min_size > max_size)
    throw invalid('min_size is larger than max_size')
}

function invalid(message: string): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, message)
}
