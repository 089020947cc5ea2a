import type { CsvLayout } from '../../csv/index.ts'
import type { KeptRows, Table } from '../../request/index.ts'
import type { Spool } from '../../sources/index.ts'
import type { SheetContent, Template } from '../../template/index.ts'

/** Rows that are to be kept, still on this disk. */
export interface KeptFile {
  path: string
  table: Table
  rows: Pick<KeptRows, 'rows' | 'columns' | 'masked'>
}

export interface FetchedTable {
  table: Table
  kept?: KeptFile
  spool: Spool
  template: Template
  content: Required<SheetContent>
  /** Rows have brought columns that the first one lacked: records may be shorter, or in another order. */
  grown: boolean
  /** What the spooled file begins with. */
  spooledHead: string
  /** Of a CSV file. */
  csv: CsvLayout | null
}
