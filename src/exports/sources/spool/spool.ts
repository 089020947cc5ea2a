import type { FieldDigits } from '../../sheet/index.ts'
import type { Warning } from '../../warnings/index.ts'
import type { RowChecks } from '../duplicates/duplicates.ts'
import type { Probe } from '../pages/index.ts'
import type { RecordCounts, Slice } from '../rows/index.ts'
import type { Resumed } from './resume.ts'

/** A file of whole records. Segments follow one another in the order of the rows. */
export interface SpoolSegment {
  path: string
  rows: number
  bytes: number
  slices: Slice[]
  /**
   * Where each of the spool's fields is in these records, -1 where it is not. Missing: at its own place, or after the
   * record's end.
   */
  places?: number[]
  /** Name of the row header's leaf that these rows belong to. */
  group?: string
}

/** Everything a source had, on disk. */
export interface Spool {
  directory: string
  /** With row headers: by leaf in the template's order, and within a leaf in the order of the rows. */
  segments: SpoolSegment[]
  /** Keys of the rows in the order of the fields. Where the data decides on them: as asked, then in the order of first sight. */
  fields: (string | null)[]
  /** Keys that rows have and no field shows, in the order of first sight, the first thousand. */
  unwanted: string[]
  /** Widest value by field, in characters, up to 60; of CSV records, the longest text. */
  widths: number[]
  /** By field; nothing of CSV records. */
  digits: FieldDigits[]
  /** Of CSV records. */
  counts: RecordCounts
  rows: number
  bytes: number
  probe: Probe
  checks: RowChecks
  warnings: Warning[]
  resumed: Resumed
}
