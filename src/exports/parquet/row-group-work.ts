import { zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { RecordReader, type RecordSlice, SliceMemory, TEXT } from '../records/index.ts'
import { type CellType, LengthMeter, Timezone } from '../sheet/index.ts'
import type { Made } from '../threads/index.ts'
import { type ColumnScan, emptyScan, scanField } from './column-scan.ts'
import { parquetValue, type Value } from './column-value.ts'
import { FieldPlaces } from './field-places.ts'
import { type ParquetColumn, schemaOf } from './parquet-schema.ts'

export interface ScanTask {
  slices: RecordSlice[]
  types: CellType[]
}

export interface GroupTask {
  slices: RecordSlice[]
  /** The spool's fields in their order. */
  columns: ParquetColumn[]
  /** Column before them that shows the row header. */
  head: ParquetColumn | null
  /** On whose calendar instants become dates. */
  timezone: string
}

export type RowGroup = ParquetWriter['row_groups'][number]

/** Row groups as bytes, and their entries of the footer with offsets that count from 0. */
export interface EncodedGroups {
  bytes: Uint8Array
  groups: RowGroup[]
}

/** What the file begins with; the library writes it before the first row group. */
const MAGIC_BYTES = 4
/** Of a row group, which is in memory once per thread: the places of its fields, and the values of one column. */
const GROUP_ROWS = 32_768
const GROUP_FIELDS = 1 << 20

/** Used again by each task of the thread. */
const memory = new SliceMemory()
const places = new FieldPlaces()

export function scan({ slices, types }: ScanTask): Made<ColumnScan[]> {
  const scans = types.map(emptyScan)
  const lengths = new LengthMeter(types.length)
  const reader = new RecordReader(memory.read(slices))
  while (reader.begin())
    for (let column = 0; column < types.length; column++) {
      reader.next()
      scanField(scans[column]!, types[column]!, reader)
      if (reader.kind >= TEXT) lengths.text(column, reader.bytes, reader.start, reader.end)
    }
  for (const [column, scan] of scans.entries()) scan.longest = lengths.bySlot[column]!
  return { result: scans }
}

export function encode({ slices, columns, head, timezone }: GroupTask): Made<EncodedGroups> {
  const writer = new ByteWriter(1 << 20)
  const parquet = new ParquetWriter({
    writer,
    schema: schemaOf(head ? [head, ...columns] : columns),
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) },
  })
  const zone = new Timezone(timezone)
  const reader = new RecordReader(memory.read(slices))
  const headAt = headsOf(slices)
  const mostRows = Math.min(GROUP_ROWS, Math.ceil(GROUP_FIELDS / columns.length))
  for (let more = reader.begin(); more; ) {
    const heads: Buffer[] = []
    places.clear(columns.length)
    do {
      if (head) heads.push(headAt(reader.at))
      places.add(reader)
      more = reader.begin()
    } while (more && places.rows < mostRows)
    const sources: ColumnSource[] = columns.map(({ name, kind }, column) => ({
      name,
      plain: kind.is === 'double' && kind.signed === true,
      values: () => places.map(reader, column, () => parquetValue(kind, reader, zone)),
    }))
    if (head) sources.unshift({ name: head.name, values: () => heads })
    const columnData = sources.map(columnSource)
    // Into memory, so there is nothing to wait for; while this waited, another task could take the thread's memory.
    const waiting = parquet.write({ columnData, rowGroupSize: GROUP_ROWS })
    if (waiting !== undefined) throw new Error('a row group was not written at once')
  }
  const bytes = new Uint8Array(writer.buffer, MAGIC_BYTES, writer.index - MAGIC_BYTES)
  const groups = parquet.row_groups.map((group) => ownBytes(moved(group, -BigInt(MAGIC_BYTES))))
  return { result: { bytes, groups }, transfer: [writer.buffer] }
}

interface ColumnSource {
  name: string
  values(): Value[]
  /** Without a dictionary. */
  plain?: boolean
}

/** A column whose values are made when it is written. The library asks for the first one twice, to count the rows. */
function columnSource({ name, values, plain = false }: ColumnSource, column: number) {
  const made = column === 0 ? values() : null
  return {
    name,
    get data() {
      return made ?? values()
    },
    offsetIndex: false,
    ...(plain && { encoding: 'PLAIN' as const }),
  }
}

/** The row header of the record at a place, for growing places. */
function headsOf(slices: readonly RecordSlice[]): (at: number) => Buffer {
  let [n, end] = [-1, 0]
  let head = Buffer.alloc(0)
  return (at) => {
    while (at >= end) {
      const { bytes, group = '' } = slices[++n]!
      end += bytes
      head = Buffer.from(group)
    }
    return head
  }
}

/** The same group at another place of the file. */
export function moved(group: RowGroup, by: bigint): RowGroup {
  return {
    ...group,
    columns: group.columns.map((chunk) => {
      const meta = chunk.meta_data!
      const { dictionary_page_offset: dictionary } = meta
      return {
        ...chunk,
        file_offset: chunk.file_offset + by,
        meta_data: {
          ...meta,
          data_page_offset: meta.data_page_offset + by,
          ...(dictionary !== undefined && { dictionary_page_offset: dictionary + by }),
        },
      }
    }),
  }
}

/** Statistics point into whole slices, which would go to the other thread with them. */
function ownBytes(group: RowGroup): RowGroup {
  for (const { meta_data: meta } of group.columns) {
    const { statistics } = meta!
    if (!statistics) continue
    for (const name of ['min_value', 'max_value'] as const) {
      const value = statistics[name]
      if (value instanceof Uint8Array) statistics[name] = new Uint8Array(value)
    }
  }
  return group
}
