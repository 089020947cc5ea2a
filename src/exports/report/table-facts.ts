import type { CellType, ColumnCounts } from '../sheet/index.ts'
import type { RowChecks } from '../sources/index.ts'

/** A column of a file, and what was counted in it. */
export interface ColumnFacts extends ColumnCounts {
  title: string
  /** Key of the rows. */
  name: string
  type: CellType
}

/** What is known of one table (a sheet, or the one of a CSV file) after it was written: what the file's report shows. */
export interface TableFacts {
  /** Of the sheet. */
  name: string
  /** Rows that the source announced, and rows in the file. */
  asked: number
  written: number
  /** Columns that show values, from left to right. */
  columns: ColumnFacts[]
  /** Keys of the rows that the template leaves out, in the order of first sight; the first thousand. */
  leftOut: string[]
  /** Rows that came twice, and signs that rows moved while they were read. */
  checks: RowChecks
}
