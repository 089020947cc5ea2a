import { zstdDecompressSync } from 'node:zlib'
import { tableFromIPC } from 'apache-arrow'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import { readParquet } from 'parquet-wasm/node'

const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }

/** The file as hyparquet reads it: these columns, or all. */
export async function readWithHyparquet(bytes: Buffer, columns?: string[]) {
  const file = new Uint8Array(bytes).buffer
  const rows = await parquetReadObjects({ file, compressors, ...(columns && { columns }) })
  const metadata = parquetMetadata(file)
  const types = parquetSchema(metadata).children.map(({ element }) => element.type)
  return { rows, types, groups: metadata.row_groups.length }
}

/** The file as Apache Arrow's Rust implementation reads it. */
export function readWithArrow(bytes: Buffer) {
  const table = tableFromIPC(readParquet(new Uint8Array(bytes)).intoIPCStream())
  return {
    columns: Object.fromEntries(table.schema.fields.map(({ name, type }) => [name, String(type)])),
    value: (column: string, row: number): unknown => table.getChild(column)?.get(row),
    rows: table.numRows,
  }
}
