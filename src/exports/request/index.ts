export { type ExportBody, ExportFields, Parameters, parseSheets, Template } from './export-body.ts'
export {
  type ExportRequest,
  type KeptRows,
  readRequest,
  type Table,
  UsedTemplate,
} from './export-request.ts'
export { EXPORT_TYPES, type ExportType } from './export-type.ts'
export { fileNameFor, isGivenName } from './file-name.ts'
export { orShortage } from './or-shortage.ts'
export { parseRequest } from './parse-request.ts'
export { queryTemplate } from './query-template.ts'
export { type Watermark, watermarkLines, watermarkText } from './watermark.ts'
