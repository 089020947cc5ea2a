export { writeParquet } from './write-parquet.ts'
