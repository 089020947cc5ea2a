import { zstdCompressSync } from 'node:zlib'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { RecordReader, type RecordSlice, readSlice, TEXT } from '../records/index.ts'
import { type CellType, LengthMeter, Timezone } from '../sheet/index.ts'
import type { Made } from '../threads/index.ts'
import { type ColumnScan, emptyScan, scanField } from './column-scan.ts'
import { parquetValue, type Value } from './column-value.ts'
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
/** Rows of a row group. They are held in memory as values, many times as large as they are in the file, once per thread. */
const GROUP_ROWS = 32_768

export function scan({ slices, types }: ScanTask): Made<ColumnScan[]> {
  const scans = types.map(emptyScan)
  const lengths = new LengthMeter(types.length)
  for (const slice of slices) {
    const reader = new RecordReader(readSlice(slice))
    while (reader.begin())
      for (let column = 0; column < types.length; column++) {
        reader.next()
        scanField(scans[column]!, types[column]!, reader)
        if (reader.kind >= TEXT) lengths.text(column, reader.bytes, reader.start, reader.end)
      }
  }
  for (const [column, scan] of scans.entries()) scan.longest = lengths.bySlot[column]!
  return { result: scans }
}

export async function encode({ slices, columns, head, timezone }: GroupTask): Promise<Made<EncodedGroups>> {
  const all = head ? [head, ...columns] : columns
  const zone = new Timezone(timezone)
  const writer = new ByteWriter(1 << 20)
  const parquet = new ParquetWriter({
    writer,
    schema: schemaOf(all),
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) },
  })
  let data: Value[][] = all.map(() => [])
  const write = async () => {
    const columnData = all.map(({ name }, n) => ({ name, data: data[n]!, offsetIndex: false }))
    await parquet.write({ columnData, rowGroupSize: GROUP_ROWS })
    data = all.map(() => [])
  }
  for (const slice of slices) {
    const reader = new RecordReader(readSlice(slice))
    const group = Buffer.from(slice.group ?? '')
    while (reader.begin()) {
      let n = 0
      if (head) data[n++]!.push(group)
      for (const { kind } of columns) {
        reader.next()
        data[n++]!.push(parquetValue(kind, reader, zone))
      }
      if (data[0]!.length === GROUP_ROWS) await write()
    }
  }
  if (data[0]!.length > 0) await write()
  const bytes = new Uint8Array(writer.buffer, MAGIC_BYTES, writer.index - MAGIC_BYTES)
  const groups = parquet.row_groups.map((group) => ownBytes(moved(group, -BigInt(MAGIC_BYTES))))
  return { result: { bytes, groups }, transfer: [writer.buffer] }
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
