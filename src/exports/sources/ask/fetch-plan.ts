/** Up to this many pages are fetched one after the other. */
const LINEAR_PAGES = 400
/** Beyond that, one fetcher for every N pages … */
const PAGES_A_FETCHER = 100
/** … but never more than this: a source is somebody's production system. */
const MAX_FETCHERS = 5

/** Pages of one fetcher: `first` up to, not including, `end`. */
export interface PageRange {
  first: number
  end: number
}

/** Contiguous ranges, one a fetcher, in the order of the rows. There is always at least one. */
export function planFetch(total: number, pageSize: number): PageRange[] {
  const pages = Math.ceil(total / pageSize)
  const fetchers =
    total / pageSize <= LINEAR_PAGES
      ? 1
      : Math.min(MAX_FETCHERS, Math.floor(total / (pageSize * PAGES_A_FETCHER)))
  return Array.from({ length: fetchers }, (_, index) => ({
    first: Math.floor((pages * index) / fetchers),
    end: Math.floor((pages * (index + 1)) / fetchers),
  }))
}

/** Rows that a page must have. */
export function rowsOfPage(page: number, pageSize: number, total: number): number {
  return Math.max(0, Math.min(pageSize, total - page * pageSize))
}
