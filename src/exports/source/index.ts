export { type AlignOptions, alignSegments } from './align-segments.ts'
export { isFormula } from './disarm.ts'
export { type Diagnosis, type DoctorOptions, examineSource, type Finding } from './doctor.ts'
export type { OnDuplicates, RowChecks } from './duplicates.ts'
export { type FeedOptions, feedToSpool } from './feed-to-spool.ts'
export {
  type FetchDeps,
  type FetchLimits,
  type FetchOptions,
  fetchToSpool,
  type SpoolColumns,
} from './fetch-to-spool.ts'
export { joinSegments } from './join-segments.ts'
export type { Trouble } from './page-retry.ts'
export type { PageAnswer, PageSource } from './page-source.ts'
export type { Probe } from './probe.ts'
export type { Resumed } from './resume.ts'
export { ROW_HEAD } from './row-columns.ts'
export type { FeedPage, RowFeed } from './row-feed.ts'
export { type SampleRow, samplePage } from './sample-page.ts'
export type { Slice } from './segment-buffer.ts'
export type { Spool, SpoolSegment } from './spool.ts'
export type { FetchProgress } from './spool-fetch.ts'
export { removeSpool } from './spool-folder.ts'
export { openSqlRows, type SqlAccess, targetFault, testTarget } from './sql/open-sql.ts'
export { DRIVERS, type Driver, type SqlRows, type SqlSource, type SqlTarget } from './sql/sql-source.ts'
export type { StallOptions } from './stall-watch.ts'
