export { ExportReports, keepReport } from './export-reports.ts'
export { lookAtFile } from './file-check.ts'
export {
  type FileReport,
  type PartReport,
  type ReportedFile,
  reportOf,
  type TableReport,
} from './file-report.ts'
export { MANIFEST_FORMAT, ManifestSigner, manifestText, type PublicKeys, type Signed } from './manifest.ts'
export { openSigner } from './open-signer.ts'
export { type Finding, verifyFiles } from './verify-files.ts'
