export { COMPRESSIONS, type Compression } from './compress.ts'
export { type ConnectionView, type NewConnection, SqlConnections } from './connections.ts'
export { ENCODINGS, LINE_ENDS, QUOTES } from './csv/index.ts'
export { ExpirySweeper } from './expiry.ts'
export { ExportArtifacts } from './export-artifacts.ts'
export {
  EXPORT_LANE,
  EXPORT_RESERVE,
  type ExportJobDeps,
  type ExportJobOptions,
  exportKind,
} from './export-job.ts'
export { type Download, noExport } from './export-queries.ts'
export { type ExportBody, type ExportRequest, readRequest } from './export-request.ts'
export { EXPORT_TYPES, type ExportType } from './export-type.ts'
export type { ExportStatus, ExportView } from './export-view.ts'
export { Exports, type ExportsDeps, type ExportsOptions, type Position } from './exports.ts'
export { HttpPageSource } from './http-page-source.ts'
export { MASKS, type Mask, projectMaskKey } from './masks/index.ts'
export type { Preview, TablePreview } from './preview.ts'
export { type Produced, type ProduceOptions, produce } from './produce.ts'
export { type Finding, openSigner, verifyFiles } from './report/index.ts'
export { sampleOrders } from './sample-source.ts'
export {
  type Outcome,
  type SavedBody,
  SavedExports,
  type SavedView,
  Scheduler,
  TemplateStore,
  type TemplateView,
} from './saved/index.ts'
export {
  type Diagnosis,
  DRIVERS,
  type Driver,
  examineSource,
  guessAndTry,
  type HttpSource,
  MOST_ROWS_PER_PAGE,
  openSqlRows,
  PAGING_STYLES,
  PRESETS,
  parseHttpSource,
} from './source/index.ts'
export { SpoolFolders } from './spool-folders.ts'
export { SpoolSweeper } from './spool-sweeper.ts'
export type { ColumnFacts, TableFacts } from './table-facts.ts'
export { parseKeepingOrder, stringifyKeepingOrder } from './template/index.ts'
export { ThreadPool } from './threads/index.ts'
