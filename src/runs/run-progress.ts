/** What a run has done so far, as shown on the wire. */
export interface RunProgress {
  downloaded: number
  skipped: number
  filtered: number
  failed: number
  bytes: number
  /** Bytes a second over the last seconds; 0 when nothing runs. */
  rate: number
  /** Pages read. */
  page: number
  /** Where `continue` would go on; null: at the beginning. */
  cursor: string | null
}

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
