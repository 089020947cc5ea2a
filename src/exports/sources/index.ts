export { parseRows, type StallOptions, samplePage, type Trouble } from './ask/index.ts'
export { AUDIT_CONNECTION, AuditSource, auditQuery, requireAdminForAudit } from './audit-rows.ts'
export { byKind } from './by-kind.ts'
export { checkShape } from './check-shape.ts'
export { ConnectionView, NewConnection, SqlConnections } from './connections.ts'
export { type Diagnosis, examineSource } from './doctor/doctor.ts'
export { guessAndTry } from './doctor/doctor-guess.ts'
export type { RowChecks } from './duplicates/duplicates.ts'
export {
  type FeedDeps,
  type FetchLimits,
  type FetchProgress,
  feedToSpool,
  fetchToSpool,
  type SpoolColumns,
} from './fetch/index.ts'
export {
  type HttpPlan,
  HttpSource,
  isPlain,
  openCredentials,
  openHttpRows,
  PRESETS,
  parseHttpSource,
  readHttpSource,
} from './http/index.ts'
export { HttpPageSource } from './http-page-source.ts'
export {
  cutPage,
  type FeedPage,
  type OpenRows,
  PageBody,
  type Probe,
  pageError,
  type RowFeed,
  type TextPage,
} from './pages/index.ts'
export { ROW_HEAD, valueByName } from './rows/index.ts'
export { sampleOrders } from './sample-source.ts'
export { alignSegments, joinSegments, type Spool, type SpoolSegment } from './spool/index.ts'
export { openSqlRows } from './sql/open-sql.ts'
export { type Driver, type SqlRows, SqlSource } from './sql/sql-source.ts'
