export { BULK_ACTIONS } from './bulk.ts'
export { findExportFile } from './export-files.ts'
export { EXPORT_LANE } from './export-job.ts'
export { EXPORT_SORTS, type ExportFilter } from './export-list.ts'
export { Download, noExport } from './export-queries.ts'
export { ExportState, ExportTask, type ExportView } from './export-view.ts'
export { ExportPosition } from './exports.ts'
export { type ExportsApi, openExports } from './open-exports.ts'
export { type Produced, type ProduceOptions, produce } from './pipeline/index.ts'
export { Preview, TablePreview } from './preview/preview.ts'
export { RenderWish } from './render-request.ts'
export { ExportManifest, ExportReport, PublicKeys, verifyFiles } from './report/index.ts'
export {
  EXPORT_TYPES,
  type ExportBody,
  ExportFields,
  parseRequest,
  parseSheets,
  readRequest,
  Template,
} from './request/index.ts'
export {
  AskedFor,
  Parameters,
  SavedExport,
  SavedRun,
  Schedule,
  StoredTemplate,
  TemplateSummary,
  type VersionWish,
} from './saved/index.ts'
export { type CellType, MASKS, type Mask, type Total } from './sheet/index.ts'
export {
  ConnectionView,
  type Diagnosis,
  type Driver,
  examineSource,
  guessAndTry,
  HttpPageSource,
  type HttpSource,
  NewConnection,
  openSqlRows,
  PRESETS,
  parseHttpSource,
  sampleOrders,
} from './sources/index.ts'
export { HeaderSchema, TemplateSchema } from './template/index.ts'
export { ThreadPool } from './threads/index.ts'
