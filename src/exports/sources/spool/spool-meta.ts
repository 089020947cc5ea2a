import { crc32 } from 'node:zlib'
import type { FieldDigits } from '../../sheet/index.ts'
import type { PageRange } from '../ask/index.ts'
import type { Drift } from '../duplicates/duplicates.ts'
import type { LogState } from '../duplicates/print-log.ts'
import type { FeedStart } from '../pages/index.ts'
import { noCounts, type RecordCounts, type SegmentState } from '../rows/index.ts'

/** How far one fetcher has come. Pages before `next` are in its segments, whole. */
export interface RangeMeta extends PageRange, RecordCounts {
  next: number
  /** One by row header, or a single one. */
  segments: SegmentState[]
  /** Fields that its rows brought, after the spool's own. */
  added: string[]
  /** Keys that no field shows. */
  unwanted: string[]
  /** Prints of its pages, and of its rows' keys. */
  pages: LogState
  keys: LogState
  /** Widest value by field, those that were added included; of CSV records, the longest text. */
  widths: number[]
  digits: FieldDigits[]
}

/** What is needed to go on after a crash. Everything it counts is on disk before it is. */
export interface SpoolMeta {
  version: 3
  total: number
  pageSize: number
  fields: (string | null)[]
  rowNames: string[] | null
  /** Every key that turns up is a field, but these. Null: the fields are all there is. */
  growExcept: string[] | null
  /** Null: typed records; `marked` if objects are marked. Of CSV records, what is written around the values, as a hash. */
  csv: string | null
  /** Columns that identify a row; null: rows are not compared. */
  key: string[] | null
  /** What is hidden, as a hash. */
  masks: string | null
  ranges: RangeMeta[]
  /** The first page that stated another total than the first answer. */
  drift: Drift | null
  /** Of a feed: the keys that its first page had, and where it goes on after the last page that counts. */
  feed?: FeedStart
  /** Milliseconds since 1970. */
  updated: number
}

export function encodeMeta(meta: SpoolMeta): string {
  const body = JSON.stringify(meta)
  return `{"checksum":${crc32(body)},"spool":${body}}\n`
}

/** Nothing for a file that was cut, garbled, or written by another version. */
export function decodeMeta(text: string): SpoolMeta | undefined {
  const found = /^\{"checksum":(\d+),"spool":(.*)\}\n$/s.exec(text)
  if (!found?.[1] || !found[2] || crc32(found[2]) !== Number(found[1])) return undefined
  const meta = JSON.parse(found[2]) as SpoolMeta
  if (meta.version !== 3) return undefined
  // Version 0.2.0 counted only empty values, and no digits.
  const ranges = meta.ranges.map((range) => ({
    ...noCounts(range.widths.length),
    ...range,
    digits: range.digits ?? [],
  }))
  return { ...meta, ranges }
}
