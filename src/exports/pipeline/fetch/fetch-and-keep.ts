import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { jsonLines } from '../../jsonl/index.ts'
import { writeCompressed } from '../../records/index.ts'
import type { ExportRequest, Table } from '../../request/index.ts'
import type { FetchProgress } from '../../sources/index.ts'
import { maskingOf } from '../../template/index.ts'
import { inOneOrder } from '../built-file.ts'
import { readKeptRows } from '../kept-rows.ts'
import type { ProduceDeps, ProduceOptions } from '../produce-options.ts'
import { typedFields } from '../typed-fields.ts'
import { feedTable, fetchTable } from './fetch-table.ts'
import type { FetchedTable } from './fetched-table.ts'

/**
 * Reads the rows and keeps them as JSON lines, then reads these for the file: the file is made the way in which any other one of the
 * same rows is.
 */
export async function fetchAndKeep(
  deps: ProduceDeps,
  options: ProduceOptions,
  table: Table,
  directory: string,
  onProgress: (progress: FetchProgress) => void,
): Promise<FetchedTable> {
  const { key: _, onDuplicates: __, ...request } = options.request
  const lines: ExportRequest = { ...options.request, type: 'jsonl' }
  const read = await fetchTable(
    deps,
    { ...options, request: lines },
    table,
    join(directory, 'read'),
    onProgress,
  )
  const { content, template, spool } = read
  const path = join(directory, 'rows.jsonl.zst')
  const segments = await inOneOrder(deps, spool, directory, options.signal)
  const texts = jsonLines(deps, { segments, fields: typedFields(template), signal: options.signal })
  await writeCompressed(texts, { path, compress: 'zstd', signal: options.signal })
  const columns = typedFields(template).map(({ name, type }) => ({
    name,
    type: type === 'auto' ? null : type,
  }))
  const masked = Object.keys(maskingOf(template, options.masks)?.byName ?? {})
  const rows = { rows: spool.rows, columns, masked: [...new Set([...masked, ...(table.kept?.masked ?? [])])] }
  const laidOut = { ...table, ...content } as Table
  const { stall: ___, onResumed: _______, ...others } = options
  const made = await feedTable(
    deps,
    { ...others, request, limits: {} },
    {
      table: { ...laidOut, kept: { jobId: '', key: '', ...rows } },
      directory: join(directory, 'made'),
      open: async () => readKeptRows(async () => createReadStream(path), rows),
    },
    () => undefined,
  )
  const { probe, checks, unwanted, warnings, resumed } = spool
  const { sourceUrl: ____, sql: _____, http: ______, ...shown } = laidOut
  return {
    ...made,
    table,
    content,
    spool: { ...made.spool, probe, checks, unwanted, warnings, resumed },
    kept: { path, table: { ...shown, sourceUrl: '' }, rows },
  }
}
