export { type CsvLayout, layOutCsv } from './csv-layout.ts'
export { csvRecord } from './csv-record.ts'
export {
  type CsvDialect,
  type CsvWishes,
  DEFAULT_DIALECT,
  ENCODINGS,
  LINE_ENDS,
  QUOTES,
  readDialect,
} from './dialect.ts'
export { readCsv } from './read-csv.ts'
export { writeCsv } from './write-csv.ts'
