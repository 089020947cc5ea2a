export { type AlignOptions, alignSegments } from './align-segments.ts'
export { isFormula } from './disarm.ts'
export { type Diagnosis, type DoctorOptions, examineSource, type Finding } from './doctor.ts'
export type { OnDuplicates, RowChecks } from './duplicates.ts'
export { type FeedDeps, type FeedOptions, feedToSpool } from './feed-to-spool.ts'
export {
  type FetchDeps,
  type FetchLimits,
  type FetchOptions,
  fetchToSpool,
  type SpoolColumns,
} from './fetch-to-spool.ts'
export { askSource } from './http/ask-source.ts'
export type { Credentials } from './http/credentials.ts'
export { type HttpAuth, type HttpSource, PAGING_STYLES, PRESETS } from './http/http-source.ts'
export { openCredentials } from './http/open-credentials.ts'
export { type HttpAccess, openHttpRows } from './http/open-http-rows.ts'
export { type HttpPlan, isPlain, MOST_ROWS_PER_PAGE, readHttpSource } from './http/read-http-source.ts'
export { joinSegments } from './join-segments.ts'
export { valueByName } from './nested-paths.ts'
export type { Trouble } from './page-retry.ts'
export type { PageAnswer, PageSource } from './page-source.ts'
export type { Probe } from './probe.ts'
export type { Resumed } from './resume.ts'
export { ROW_HEAD } from './row-columns.ts'
export type { FeedPage, FeedStart, OpenRows, RowFeed } from './row-feed.ts'
export { parseRows, type SampleRow, samplePage } from './sample-page.ts'
export type { Slice } from './segment-buffer.ts'
export type { Spool, SpoolSegment } from './spool.ts'
export type { FetchProgress } from './spool-fetch.ts'
export { removeSpool } from './spool-folder.ts'
export { openSqlRows, type SqlAccess, targetFault, testTarget } from './sql/open-sql.ts'
export { DRIVERS, type Driver, type SqlRows, type SqlSource, type SqlTarget } from './sql/sql-source.ts'
export type { StallOptions } from './stall-watch.ts'
