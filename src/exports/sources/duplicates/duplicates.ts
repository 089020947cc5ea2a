import { AppError, ERRORS } from '../../../kernel/index.ts'
import { type Warning, warn } from '../../warnings/index.ts'
import type { KeyCheck } from './key-check-work.ts'

/** What a fetch does about rows that come twice. Null: the same page again fails it, rows with the same key are reported. */
export type OnDuplicates = 'fail' | 'warn' | null

/** Rows came or went while the source was read. */
export interface Drift {
  page: number
  total: number
}

/** What was found of rows that came twice, or not at all, for the file's report. */
export interface RowChecks {
  /** Pages with the very rows of an earlier page. */
  samePages: number
  /** Columns that identify a row, and what comparing them found; null where no key was given. */
  key: string[] | null
  keys: KeyCheck | null
  /** Another total than the first answer's, and the first page that stated it: rows came or went while it was read. */
  drift: Drift | null
}

export function samePage(page: number, twin: number): AppError {
  return new AppError(
    ERRORS.SOURCE_PAGE_REPEATED,
    `page ${page} has the same rows as page ${twin}: the source seems to ignore page, or its order is not stable; on_duplicates: "warn" takes such pages`,
    { retryable: false, details: { page, same_as: twin } },
  )
}

/** Throws if the keys that were found are to fail the fetch. `rows` is null where more rows may follow. */
export function refuseRepeats(key: readonly string[], found: KeyCheck, rows: number | null): void {
  const warning = repeatsOf(key, found) ?? (found.keyless === rows && rows > 0 ? noKeys(key) : undefined)
  if (!warning) return
  const { repeats, acrossPages, examples } = found
  throw new AppError(ERRORS.SOURCE_ROWS_REPEATED, warning.message, {
    retryable: false,
    details: { rows: repeats, across_pages: acrossPages, examples },
  })
}

export function warningsOf(
  { samePages, key, keys, drift }: RowChecks,
  total: number,
  rows: number,
): Warning[] {
  const warnings: Warning[] = []
  if (drift) warnings.push(warn('TOTAL_CHANGED', { before: total, total: drift.total, page: drift.page }))
  if (samePages > 0) warnings.push(warn('PAGES_REPEATED', { count: samePages }))
  if (!key || !keys) return warnings
  const repeats = repeatsOf(key, keys)
  if (repeats) warnings.push(repeats)
  if (keys.keyless === rows && rows > 0) warnings.push(noKeys(key))
  else if (keys.keyless > 0) warnings.push(warn('ROWS_WITHOUT_KEY', { count: keys.keyless, key }))
  return warnings
}

function repeatsOf(
  key: readonly string[],
  { repeats: count, acrossPages, examples }: KeyCheck,
): Warning | undefined {
  const [example] = examples
  if (!example) return undefined
  const values = { count, key, row: example.row + 1, first_row: example.first + 1 }
  return acrossPages > 0
    ? warn('ROWS_REPEATED_ACROSS_PAGES', { ...values, across_pages: acrossPages })
    : warn('ROWS_REPEATED', values)
}

function noKeys(key: readonly string[]): Warning {
  return warn('KEY_IN_NO_ROW', { key })
}
