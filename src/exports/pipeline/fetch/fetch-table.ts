import { type CsvLayout, layOutCsv } from '../../csv/index.ts'
import { type ExportRequest, queryTemplate, type Table } from '../../request/index.ts'
import {
  type FeedDeps,
  type FetchProgress,
  feedToSpool,
  fetchToSpool,
  type OpenRows,
  pageError,
  type RowFeed,
  type SpoolColumns,
  type TextPage,
} from '../../sources/index.ts'
import {
  chooseContent,
  maskingOf,
  parseTemplate,
  ROW_HEAD_NAMES,
  rowLeaves,
  type SheetContent,
  type Template,
  templateFromKeys,
} from '../../template/index.ts'
import { dialectOf } from '../built-file.ts'
import type { ProduceDeps, ProduceOptions, Sample } from '../produce-options.ts'
import type { FetchedTable } from './fetched-table.ts'
import { openerOf, pageSourceOf } from './open-source.ts'

export async function fetchTable(
  deps: ProduceDeps,
  options: ProduceOptions,
  table: Table,
  directory: string,
  onProgress: (progress: FetchProgress) => void,
): Promise<FetchedTable> {
  const sample = options.samples?.get(table)
  if (sample) return spoolSample(deps, options, { table, sample, directory })
  const opened = openerOf(deps, options, table)
  if (opened) return feedTable(deps, options, { table, directory, ...opened }, onProgress)
  const { request, limits, signal } = options
  const source = pageSourceOf(deps, options, table)
  let content: Required<SheetContent> | undefined
  let template: Template | undefined
  let csv: CsvLayout | null = null
  const spool = await fetchToSpool(
    { source, clock: deps.clock, log: deps.log, threads: deps.pool },
    {
      directory,
      columnsOf(probe) {
        content = chooseContent(table, probe, request.templateFrom)
        template = parseTemplate(content.template, { keys: probe.keys }) ?? templateFromKeys(probe.keys)
        const except = template.rows.length > 0 ? [...ROW_HEAD_NAMES] : []
        const growExcept = template.fromKeys && { growExcept: except }
        const marked = request.type !== 'excel' && { marked: true }
        const masking = maskingOf(template, options.masks)
        const more = { ...growExcept, ...(masking && { masks: masking }) }
        if (request.type !== 'csv') return { ...typedColumns(template), ...more, ...marked }
        csv = layoutOf(template, request)
        return { ...csv.spool, ...more }
      },
      pageSize: table.http?.size ?? request.pageSize,
      ...(request.key && { key: request.key }),
      ...(request.onDuplicates && { onDuplicates: request.onDuplicates }),
      limits,
      signal,
      onProgress,
      ...(options.onTrouble && { onTrouble: options.onTrouble }),
      ...(options.onResumed && { onResumed: options.onResumed }),
      ...(options.stall && { stall: options.stall }),
    },
  )
  const fetched = {
    table,
    spool,
    template: template as Template,
    content: content as Required<SheetContent>,
    csv,
    grown: false,
    spooledHead: (csv as CsvLayout | null)?.spool.csv?.head ?? '',
  }
  return withAllColumns(fetched, request)
}

/** Rows that are at hand take the way of all others from here on. */
async function spoolSample(
  { clock }: ProduceDeps,
  { request, masks, signal }: ProduceOptions,
  { table, sample, directory }: { table: Table; sample: Sample; directory: string },
): Promise<FetchedTable> {
  const { page, whole, template, content, total, keys, probe } = sample
  const csv = request.type === 'csv' ? layoutOf(template, request) : null
  const masking = maskingOf(template, masks)
  const marked = request.type !== 'excel' && { marked: true }
  const columns = {
    ...(csv?.spool ?? { ...typedColumns(template), ...marked }),
    ...(masking && { masks: masking }),
  }
  const { key, onDuplicates } = request
  const spool = await feedToSpool(
    { clock, open: async () => oneFeed(page, template) },
    {
      directory,
      columnsOf: () => columns,
      signal,
      ...(key && { key }),
      ...(onDuplicates && { onDuplicates }),
      partial: !whole,
    },
  ).catch((error: unknown) => {
    throw pageError(error, 0)
  })
  const asked = { ...spool.probe, ...(keys && { keys }), ...probe, total: total ?? spool.rows }
  const spooledHead = csv?.spool.csv?.head ?? ''
  return { table, spool: { ...spool, probe: asked }, template, content, csv, grown: false, spooledHead }
}

function oneFeed(page: TextPage, { fields }: Template): OpenRows {
  return {
    columns: fields.map((name) => ({ name, type: null })),
    async *pages() {
      yield page
    },
    close: async () => undefined,
  }
}

/** Rows that are read one after the other. Types that the template leaves open are the source's, where it has any. */
export async function feedTable(
  { pool, clock, log }: ProduceDeps,
  { request, limits, signal, masks, stall, onResumed }: ProduceOptions,
  { table, directory, ...opener }: { table: Table; directory: string } & Pick<FeedDeps, 'open' | 'bytes'>,
  onProgress: (progress: FetchProgress) => void,
): Promise<FetchedTable> {
  let template: Template | undefined
  let csv: CsvLayout | null = null
  const columnsOf = (feed: RowFeed): SpoolColumns => {
    template = queryTemplate(table.template, feed, request)
    const except = template.rows.length > 0 ? [...ROW_HEAD_NAMES] : []
    const masking = maskingOf(template, masks, table.kept?.masked)
    const more = {
      ...(feed.grows && template.fromKeys && { growExcept: except }),
      ...(masking && { masks: masking }),
    }
    csv = request.type === 'csv' ? layoutOf(template, request) : null
    if (csv) return { ...csv.spool, ...more }
    return { ...typedColumns(template), ...more, ...(request.type !== 'excel' && { marked: true }) }
  }
  const { key, onDuplicates } = request
  const checked = { ...(key && { key }), ...(onDuplicates && { onDuplicates }) }
  const spool = await feedToSpool(
    { ...opener, threads: pool, clock, log },
    {
      directory,
      columnsOf,
      limits,
      signal,
      onProgress,
      ...checked,
      ...(stall && { stall }),
      ...(onResumed && { onResumed }),
    },
  )
  const fetched = {
    table,
    spool,
    template: template as unknown as Template,
    content: chooseContent(table, {}),
    csv,
    grown: false,
    spooledHead: (csv as CsvLayout | null)?.spool.csv?.head ?? '',
  }
  return withAllColumns(fetched, request)
}

/** Where the data decides on the columns, all of it does, not only the first row. */
function withAllColumns(fetched: FetchedTable, request: ExportRequest): FetchedTable {
  const { spool, content, csv } = fetched
  const keys = spool.fields.filter((name) => name !== null)
  if (!fetched.template.fromKeys || keys.length === fetched.template.fields.length) return fetched
  const template = parseTemplate(content.template, { keys }) ?? templateFromKeys(keys)
  return { ...fetched, template, csv: csv && layoutOf(template, request), grown: true }
}

function typedColumns({ fields, rows }: Template): SpoolColumns {
  const rowNames = rowLeaves(rows).map(({ name }) => name ?? '')
  return { fields, ...(rowNames.length > 0 && { rowNames }) }
}

function layoutOf(template: Template, request: ExportRequest): CsvLayout {
  return layOutCsv(template, { dialect: dialectOf(request), timezone: request.timezone })
}
