export { CsvEncoder, type CsvShape } from './csv-encoder.ts'
export { type CsvOptions, type CsvPart, CsvWriter } from './csv-writer.ts'
export { type CsvSegment, writeCsv } from './write-csv.ts'
