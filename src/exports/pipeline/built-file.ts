import { basename, join } from 'node:path'
import { type CsvDialect, DEFAULT_DIALECT } from '../csv/index.ts'
import { COMPRESSED } from '../records/index.ts'
import type { PartReport, TableFacts } from '../report/index.ts'
import type { ExportRequest, Watermark } from '../request/index.ts'
import type { ColumnCounts, SheetPlan } from '../sheet/index.ts'
import { alignSegments, type Spool, type SpoolSegment } from '../sources/index.ts'
import type { Warning } from '../warnings/index.ts'
import type { KeptFile } from './fetch/fetched-table.ts'
import type { ProduceDeps, ProduceOptions } from './produce-options.ts'

export interface Produced {
  path: string
  fileName: string
  contentType: string
  rows: number
  parts: number
  warnings: Warning[]
  /** By table. */
  facts: TableFacts[]
  /** The files of an archive; null: there is but one. */
  archived: PartReport[] | null
  /** By table, where the rows are to be kept. */
  kept: KeptFile[] | null
  watermark: Watermark | null
  /** Of a workbook: its sheets, and by sheet the first row below data and totals. */
  sheets: { plan: SheetPlan; endRow: number }[]
}

export type Built = Omit<Produced, 'facts' | 'watermark' | 'sheets' | 'kept'> & {
  sheets?: Produced['sheets']
} & {
  counts: ColumnCounts[][]
}

export const CONTENT_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  zip: 'application/zip',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

export function builtFile(
  path: string,
  { request }: ProduceOptions,
  { rows }: Spool,
  { ending, contentType }: { ending: string; contentType: string },
  warnings: Warning[] = [],
): Built {
  const fileName = `${request.fileName}${ending}`
  return { path, fileName, contentType, rows, parts: 1, warnings, archived: null, counts: [] }
}

export function compressedAs(
  request: ExportRequest,
  type: 'csv' | 'jsonl',
): { ending: string; contentType: string } {
  const plain = type === 'csv' ? `text/csv; charset=${dialectOf(request).encoding}` : CONTENT_TYPES.jsonl
  if (!request.compress) return { ending: `.${type}`, contentType: plain }
  const { ending, contentType } = COMPRESSED[request.compress]
  return { ending: `.${type}${ending}`, contentType }
}

export async function* endingWith(
  bytes: AsyncIterable<Uint8Array>,
  last: Uint8Array | null,
): AsyncGenerator<Uint8Array> {
  yield* bytes
  if (last) yield last
}

/** Typed segments with their fields in the spool's order; most have them so. */
export async function inOneOrder(
  deps: Pick<ProduceDeps, 'pool'>,
  { segments, fields }: Spool,
  out: string,
  signal: AbortSignal,
): Promise<SpoolSegment[]> {
  const layout = { head: '', skip: 0, fields: fields.length, labels: 0, signal }
  return Promise.all(
    segments.map(async (segment, index) => {
      if (!segment.places) return segment
      const path = join(out, `${basename(segment.path)}-${index}`)
      const aligned = await alignSegments(deps, [segment], { ...layout, path })
      return segment.group === undefined ? aligned : { ...aligned, group: segment.group }
    }),
  )
}

/** A job that was accepted by an earlier version has no dialect. */
export function dialectOf({ csv }: Partial<Pick<ExportRequest, 'csv'>>): CsvDialect {
  return csv ?? DEFAULT_DIALECT
}
