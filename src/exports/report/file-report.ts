import { type Static, Type } from 'typebox'
import { nullable, Time } from '../../jobs/index.ts'
import { type Watermark, watermarkText } from '../request/index.ts'
import type { Warning } from '../warnings/index.ts'
import type { TableFacts } from './table-facts.ts'
import { WarningDetail } from './warning-detail.ts'

const Part = {
  name: Type.String(),
  rows: Type.Integer(),
  size: Type.Integer(),
  sha256: Type.String(),
}
/** One file: a whole export, or a part of an archive. */
export type PartReport = Static<typeof PartReport>
const PartReport = Type.Object(Part)

const ReportedColumn = Type.Object(
  {
    title: Type.String(),
    name: Type.String({ description: 'key of the rows' }),
    type: Type.String(),
    nulls: Type.Integer({ description: 'empty cells: null, a missing key, an empty text' }),
    misfits: Type.Integer({ description: 'values that did not fit the type' }),
    long: Type.Optional(
      Type.Integer({
        description:
          'of these, numbers with more than 15 digits before the point, which a workbook keeps as text; reports of earlier versions lack it',
      }),
    ),
    rounded: Type.Optional(
      Type.Integer({
        description:
          'numbers of a workbook that lost cents, having more than 15 digits; reports of earlier versions lack it',
      }),
    ),
    escaped: Type.Optional(
      Type.Integer({
        description: 'texts of a CSV file that got an apostrophe; reports of earlier versions lack it',
      }),
    ),
    cuts: Type.Integer({ description: 'texts that were too long for a cell' }),
    longest: Type.Integer({ description: 'characters of the longest text' }),
  },
  { title: 'ReportedColumn' },
)

/** What was counted in one table. Reports of earlier versions lack what is optional. */
export type TableReport = Static<typeof TableReport>
const TableReport = Type.Object(
  {
    name: Type.String(),
    asked: Type.Integer(),
    written: Type.Integer(),
    columns: Type.Array(ReportedColumn),
    left_out: Type.Array(Type.String(), { description: 'keys of the rows that the template leaves out' }),
    duplicates: Type.Optional(
      Type.Object({
        same_pages: Type.Integer({ description: 'pages with the very rows of an earlier one' }),
        key: nullable(
          Type.Array(Type.String(), { description: 'columns that identify a row; null: not compared' }),
        ),
        repeated_keys: nullable(Type.Integer()),
      }),
    ),
    drift: Type.Optional(
      nullable(
        Type.Object(
          { page: Type.Integer(), total: Type.Integer() },
          { description: 'the total that a later page stated, if it was another' },
        ),
      ),
    ),
  },
  { additionalProperties: true },
)

/** What is known of a finished file. Kept with its export. */
export type FileReport = Omit<ExportReport, 'task_id' | 'project_id' | 'finished_at'>
export type ExportReport = Static<typeof ExportReport>
/** More may follow: a reader of a report passes over what it does not know. */
export const ExportReport = Type.Object(
  {
    task_id: Type.String(),
    project_id: Type.String(),
    finished_at: Time,
    file: Type.Object({ ...Part, parts: Type.Integer(), content_type: Type.String() }),
    rows: Type.Object({ asked: Type.Integer(), written: Type.Integer() }),
    tables: Type.Array(TableReport, { description: 'by sheet; a CSV file has one' }),
    parts: Type.Array(PartReport, { description: 'the files of an archive, or the file itself' }),
    watermark: Type.Optional(nullable(Type.String({ description: 'who asked, when and the task id' }))),
    warnings: Type.Array(Type.String()),
    warning_details: Type.Optional(
      Type.Array(WarningDetail, {
        description: 'the same, as codes and values; reports of earlier versions lack it',
      }),
    ),
  },
  { title: 'ExportReport' },
)

/** What a report is made of: everything but the file's own size and hash, which are known when it is stored. */
export interface ReportedFile {
  fileName: string
  contentType: string
  rows: number
  facts: TableFacts[]
  /** Of an archive; null: the file is the only part. */
  archived: PartReport[] | null
  watermark: Watermark | null
  warnings: Warning[]
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
    warnings: warnings.map(({ message }) => message),
    warning_details: warnings,
  }
}

function tableReport({ leftOut, checks, ...table }: TableFacts): TableReport {
  const { samePages, key, keys, drift } = checks
  const duplicates = { same_pages: samePages, key, repeated_keys: keys === null ? null : keys.repeats }
  return { ...table, left_out: leftOut, duplicates, drift }
}
