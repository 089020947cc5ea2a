export { ENCODINGS, LINE_ENDS, QUOTES } from './csv/index.ts'
export { EXPORT_LANE } from './export-job.ts'
export { noExport } from './export-queries.ts'
export type { ExportView } from './export-view.ts'
export { findExportFile } from './finished-file.ts'
export { type ExportsApi, openExports } from './open-exports.ts'
export { type Produced, type ProduceOptions, produce } from './pipeline/index.ts'
export { type Preview, TablePreview } from './preview/preview.ts'
export { COMPRESSIONS } from './records/index.ts'
export { verifyFiles } from './report/index.ts'
export { EXPORT_TYPES, type ExportBody, readRequest } from './request/index.ts'
export type { SavedBody } from './saved/index.ts'
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
  sampleOrders,
} from './sources/index.ts'
export { HeaderSchema, parseKeepingOrder, stringifyKeepingOrder, TemplateSchema } from './template/index.ts'
export { ThreadPool } from './threads/index.ts'
