import { createHash } from 'node:crypto'
import type { CellType } from '../../sheet/index.ts'

/** Records as a CSV file has them: what is written around the values. */
export interface CsvRecords {
  /** What the file begins with. */
  head: string
  /** What each record begins with, by row header. */
  leads: string[]
  /** Whether texts that look like formulas get an apostrophe. */
  formulas: 'escape' | 'keep'
  /** By field, so that values which do not fit are counted. They change nothing in the records. */
  types?: CellType[]
}

/** What replaces a hash for typed records that are marked. */
export const MARKED = 'marked'

/** Equal for equal records; the leads of many row headers are too long to be noted with every checkpoint. */
export function hashOfRecords({ head, leads, formulas }: CsvRecords): string {
  const hash = createHash('sha256')
  for (const text of [formulas, head, ...leads]) hash.update(`${text.length}:${text}`)
  return hash.digest('hex')
}
