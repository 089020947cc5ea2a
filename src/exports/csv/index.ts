export { csvColumns, csvHead } from './csv-layout.ts'
export { type CsvBody, writeCsv } from './write-csv.ts'
