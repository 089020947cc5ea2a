export { type FeedDeps, feedToSpool } from './feed-to-spool.ts'
export {
  askProbe,
  FETCH_DEFAULTS,
  type FetchLimits,
  fetchToSpool,
  MAX_PAGE_BYTES,
  type SpoolColumns,
} from './fetch-to-spool.ts'
export type { FetchProgress } from './spool-fetch.ts'
