import type { Static } from 'typebox'
import type { Progress } from './run-schemas.ts'

export type RunProgress = Static<typeof Progress>

/** The part of the progress that is counted item by item. */
export interface Counts {
  downloaded: number
  skipped: number
  filtered: number
  failed: number
  bytes: number
}

export const NO_COUNTS: Readonly<Counts> = Object.freeze({
  downloaded: 0,
  skipped: 0,
  filtered: 0,
  failed: 0,
  bytes: 0,
})

export const NO_PROGRESS: Readonly<RunProgress> = Object.freeze({
  ...NO_COUNTS,
  rate: 0,
  page: 0,
  cursor: null,
})

/** The files of a cancelled run are gone: nothing counts, and `continue` goes on where the run had begun. */
export function progressAfterDelete(cursor: string | null): RunProgress {
  return { ...NO_PROGRESS, cursor }
}

export function addCounts(a: Counts, b: Counts): Counts {
  return {
    downloaded: a.downloaded + b.downloaded,
    skipped: a.skipped + b.skipped,
    filtered: a.filtered + b.filtered,
    failed: a.failed + b.failed,
    bytes: a.bytes + b.bytes,
  }
}
