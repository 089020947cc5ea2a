export { ENCODINGS, LINE_ENDS, QUOTES } from './csv/index.ts'
export { ExpirySweeper } from './expiry.ts'
export { EXPORT_LANE, EXPORT_RESERVE, exportKind } from './export-job.ts'
export { noExport } from './export-queries.ts'
export type { ExportView } from './export-view.ts'
export { Exports } from './exports.ts'
export {
  ExportArtifacts,
  type Produced,
  type ProduceOptions,
  produce,
  SpoolFolders,
  SpoolSweeper,
} from './pipeline/index.ts'
export { type Preview, TablePreview } from './preview/preview.ts'
export { COMPRESSIONS } from './records/index.ts'
export { openSigner, verifyFiles } from './report/index.ts'
export { EXPORT_TYPES, type ExportBody, readRequest } from './request/index.ts'
export { type SavedBody, SavedExports, Scheduler, TemplateStore } from './saved/index.ts'
export { MASKS, type Mask } from './sheet/index.ts'
export {
  type Diagnosis,
  DRIVERS,
  type Driver,
  examineSource,
  guessAndTry,
  HttpPageSource,
  type HttpSource,
  MOST_ROWS_PER_PAGE,
  openSqlRows,
  PAGING_STYLES,
  PRESETS,
  parseHttpSource,
  SqlConnections,
  sampleOrders,
} from './sources/index.ts'
export {
  HeaderSchema,
  parseKeepingOrder,
  projectMaskKey,
  stringifyKeepingOrder,
  TemplateSchema,
} from './template/index.ts'
export { ThreadPool } from './threads/index.ts'
