import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import { AppError, ERRORS, freeMemory, openFile } from '../../kernel/index.ts'
import { inOrder, type RecordSlice, slicesOf } from '../records/index.ts'
import { type CellType, type ColumnCounts, misfitWarnings } from '../sheet/index.ts'
import { ROW_HEAD, type SpoolSegment } from '../sources/index.ts'
import { type ThreadPool, taskFunction } from '../threads/index.ts'
import { type Warning, warn } from '../warnings/index.ts'
import { decideKind, misfitsIn } from './column-kind.ts'
import { addScans, type ColumnScan, emptyScan } from './column-scan.ts'
import { footerSchemaOf, type ParquetColumn } from './parquet-schema.ts'
import { type EncodedGroups, type GroupTask, moved, type RowGroup, type ScanTask } from './row-group-work.ts'

const WORK = [import.meta.url, 'row-group-work'] as const
const SCAN = taskFunction<ScanTask, ColumnScan[]>(...WORK, 'scan')
const ENCODE = taskFunction<GroupTask, EncodedGroups>(...WORK, 'encode')

/** Spool bytes that a thread gets at once, where slices are smaller. */
const BATCH_BYTES = 4 * 1024 * 1024
/** However many threads there are: each takes some tens of megabytes. */
const MOST_AT_ONCE = 2

export interface ParquetInput {
  segments: SpoolSegment[]
  /** The spool's fields with the types that the template gives them. */
  fields: { name: string; type: CellType }[]
  /** The rows belong to row headers. */
  grouped: boolean
  path: string
  /** On whose calendar instants become dates. */
  timezone: string
  /** What the file says of itself. */
  metadata?: Readonly<Record<string, string>>
  signal: AbortSignal
}

export interface WrittenParquet {
  warnings: Warning[]
  /** By field. */
  counts: ColumnCounts[]
}

/**
 * The rows of a marked spool as a Parquet file. Types come first: all records are looked at, then written group by group, both in
 * threads; this one only appends. Pages are compressed with zstd.
 */
export async function writeParquet(
  { pool }: { pool: ThreadPool },
  input: ParquetInput,
): Promise<WrittenParquet> {
  const { segments, fields, grouped, path, timezone, metadata = {}, signal } = input
  if (fields.length === 0 && !grouped)
    throw new AppError(
      ERRORS.PARQUET_NO_COLUMNS,
      'the source has no rows, and without a template nothing says which columns the Parquet file has; give a template',
      { retryable: false },
    )
  const batches = batchesOf(slicesOf(segments))
  const types = fields.map(({ type }) => type)
  let scans = types.map(emptyScan)
  const ahead = Math.min(pool.size, MOST_AT_ONCE)
  for await (const more of inOrder(batches, ahead, (slices) => pool.run(SCAN, { slices, types }, { signal })))
    scans = scans.map((scan, column) => addScans(scan, more[column]!))
  const decisions = fields.map(({ name, type }, column) => ({ name, ...decideKind(type, scans[column]!) }))
  const columns = decisions.map(({ name, kind }): ParquetColumn => ({ name, kind }))
  const head: ParquetColumn | null = grouped ? { name: ROW_HEAD, kind: { is: 'text' } } : null
  const groups = inOrder(batches, ahead, (slices) =>
    pool.run(ENCODE, { slices, columns, head, timezone }, { signal }),
  )
  await writeFile(path, { columns: head ? [head, ...columns] : columns, metadata }, groups)
  const counts = fields.map(({ type }, column): ColumnCounts => {
    const { nulls, longest } = scans[column]!
    const misfits = misfitsIn(type, scans[column]!)
    return { nulls, misfits, long: 0, rounded: 0, escaped: 0, cuts: 0, longest }
  })
  const warnings = decisions.flatMap(({ name, reason }, column) => {
    const type = types[column]!
    if (reason !== undefined) return [warn(reason, { column: name, type })]
    return misfitWarnings([{ name, type, ...counts[column]! }])
  })
  return { warnings, counts }
}

async function writeFile(
  path: string,
  { columns, metadata }: { columns: ParquetColumn[]; metadata: Readonly<Record<string, string>> },
  groups: AsyncIterable<EncodedGroups>,
): Promise<void> {
  const writer = new ByteWriter()
  const kvMetadata = Object.entries(metadata).map(([key, value]) => ({ key, value }))
  const schema = footerSchemaOf(columns)
  const parquet = new ParquetWriter({ writer, schema, ...(kvMetadata.length > 0 && { kvMetadata }) })
  const magic = writer.getBytes().slice()
  const file = await openFile(path, 'w')
  try {
    let end = 0
    const append = async (bytes: Uint8Array) => {
      await file.writeFile(bytes)
      end += bytes.length
    }
    await append(magic)
    const placed: RowGroup[] = []
    for await (const { bytes, groups: more } of groups) {
      placed.push(...more.map((group) => moved(group, BigInt(end))))
      await append(bytes)
      freeMemory(bytes)
    }
    parquet.row_groups.push(...(placed.length === 0 ? [emptyGroup(parquet.schema, end)] : placed))
    parquet.num_rows = placed.reduce((sum, { num_rows }) => sum + num_rows, 0n)
    await parquet.finish()
    await append(writer.getBytes().subarray(magic.length))
  } finally {
    await file.close()
  }
}

/** A file without rows has one group without values: of an empty list of groups, the library writes a type that readers refuse. */
function emptyGroup([, ...elements]: ParquetWriter['schema'], at: number): RowGroup {
  return {
    columns: elements.map(({ name, type }) => ({
      file_offset: BigInt(at),
      meta_data: {
        type: type!,
        encodings: ['PLAIN'],
        path_in_schema: [name],
        codec: 'ZSTD',
        num_values: 0n,
        total_uncompressed_size: 0n,
        total_compressed_size: 0n,
        data_page_offset: BigInt(at),
      },
    })),
    total_byte_size: 0n,
    num_rows: 0n,
  }
}

function batchesOf(slices: readonly RecordSlice[]): RecordSlice[][] {
  const batches: RecordSlice[][] = []
  let bytes = 0
  for (const slice of slices) {
    const last = batches.at(-1)
    if (last && bytes + slice.bytes <= BATCH_BYTES) last.push(slice)
    else {
      batches.push([slice])
      bytes = 0
    }
    bytes += slice.bytes
  }
  return batches
}
