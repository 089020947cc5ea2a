export { ExportArtifacts, exportKey, keptKey } from './export-artifacts.ts'
export { KeptRowsStore, type KeptTable } from './kept-rows.ts'
export {
  type KeptFile,
  type ProduceDeps,
  type Produced,
  type ProduceOptions,
  produce,
  type Sample,
  type Stage,
} from './produce.ts'
export { openTable, type SealedTable, sealTable } from './sealed-table.ts'
export { SpoolFolders } from './spool-folders.ts'
export { SpoolSweeper } from './spool-sweeper.ts'
