import { AppError, counted, ERRORS } from '../../../kernel/index.ts'
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

/** Throws if the keys that were found are to fail the fetch. */
export function refuseRepeats(key: readonly string[], found: KeyCheck, rows: number): void {
  const message = repeatsOf(key, found) ?? (found.keyless === rows && rows > 0 ? noKeys(key) : undefined)
  if (message === undefined) return
  const { repeats, acrossPages, examples } = found
  throw new AppError(ERRORS.SOURCE_ROWS_REPEATED, message, {
    retryable: false,
    details: { rows: repeats, across_pages: acrossPages, examples },
  })
}

export function warningsOf(
  { samePages, key, keys, drift }: RowChecks,
  total: number,
  rows: number,
): string[] {
  const warnings: string[] = []
  if (drift)
    warnings.push(
      `the source's total changed from ${total} to ${drift.total} while it was read (page ${drift.page}), the first one counts`,
    )
  if (samePages > 0)
    warnings.push(`${counted(samePages, 'page has', 'pages have')} the same rows as an earlier page`)
  if (!key || !keys) return warnings
  const repeats = repeatsOf(key, keys)
  if (repeats) warnings.push(repeats)
  if (keys.keyless === rows && rows > 0) warnings.push(noKeys(key))
  else if (keys.keyless > 0)
    warnings.push(`${counted(keys.keyless, 'row has', 'rows have')} no ${key.join(', ')}`)
  return warnings
}

function repeatsOf(key: readonly string[], { repeats, acrossPages, examples }: KeyCheck): string | undefined {
  const [example] = examples
  if (!example) return undefined
  const what = counted(repeats, 'row repeats', 'rows repeat')
  const moved =
    acrossPages > 0
      ? ` (${acrossPages} from another page, as when rows are added or removed while they are read)`
      : ''
  return `${what} the ${key.join(', ')} of an earlier row${moved}, the first being row ${example.row + 1}, like row ${example.first + 1}`
}

function noKeys(key: readonly string[]): string {
  return `no row has a value for the key ${key.join(', ')}, so rows that repeat cannot be found`
}
