export { ExportReports, keepReport } from './export-reports.ts'
export { ExportReport, type FileReport, type PartReport, reportOf, type TableReport } from './file-report.ts'
export {
  ExportManifest,
  MANIFEST_FORMAT,
  ManifestSigner,
  manifestText,
  PublicKeys,
  type Signed,
} from './manifest.ts'
export { openSigner } from './open-signer.ts'
export type { ColumnFacts, TableFacts } from './table-facts.ts'
export { verifyFiles } from './verify-files.ts'
export { type KeptWarning, WarningDetail, warningDetails, warningWords } from './warning-detail.ts'
