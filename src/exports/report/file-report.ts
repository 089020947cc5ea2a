import { type Watermark, watermarkText } from '../request/index.ts'
import type { TableFacts } from './table-facts.ts'

/** One file: a whole export, or a part of an archive. */
export interface PartReport {
  name: string
  rows: number
  size: number
  sha256: string
}

/** What was counted in one table, in the words of the wire. */
export interface TableReport extends Omit<TableFacts, 'leftOut' | 'checks'> {
  /** Keys of the rows that the template leaves out. */
  left_out: string[]
  duplicates: {
    /** Pages with the very rows of an earlier one. */
    same_pages: number
    /** Columns that identify a row; null: none were given, so rows were not compared. */
    key: string[] | null
    repeated_keys: number | null
  }
  /** The total that a later page stated, if it was another: rows came or went while it was read. */
  drift: TableFacts['checks']['drift']
}

/** What is known of a finished file. Kept with its export. */
export interface FileReport {
  file: PartReport & { parts: number; content_type: string }
  /** Rows that the sources announced, and rows in the file. */
  rows: { asked: number; written: number }
  /** By sheet; a CSV file has one table. */
  tables: TableReport[]
  /** The files of an archive, or the file itself. */
  parts: PartReport[]
  /** What marks the file; null: it is not marked. Reports of earlier versions lack it. */
  watermark?: string | null
  warnings: string[]
}

/** What a report is made of: everything but the file's own size and hash, which are known when it is stored. */
export interface ReportedFile {
  fileName: string
  contentType: string
  rows: number
  facts: TableFacts[]
  /** Of an archive; null: the file is the only part. */
  archived: PartReport[] | null
  watermark: Watermark | null
  warnings: string[]
}

export function reportOf(
  { fileName, contentType, rows, facts, archived, watermark, warnings }: ReportedFile,
  stored: { size: number; sha256: string },
): FileReport {
  const file = { name: fileName, rows, size: stored.size, sha256: stored.sha256 }
  return {
    file: { ...file, parts: archived?.length ?? 1, content_type: contentType },
    rows: { asked: facts.reduce((sum, table) => sum + table.asked, 0), written: rows },
    tables: facts.map(tableReport),
    parts: archived ?? [file],
    watermark: watermark && watermarkText(watermark),
    warnings,
  }
}

function tableReport({ leftOut, checks, ...table }: TableFacts): TableReport {
  const { samePages, key, keys, drift } = checks
  const duplicates = { same_pages: samePages, key, repeated_keys: keys === null ? null : keys.repeats }
  return { ...table, left_out: leftOut, duplicates, drift }
}
