import type { Clock } from '../kernel/index.ts'
import type { HttpClient } from '../net/index.ts'
import type { ExportRequest, Table } from './export-request.ts'
import { HttpPageSource } from './http-page-source.ts'
import { type Masking, type MaskRules, maskingOf, maskValue } from './masks/index.ts'
import { planTable } from './plan-table.ts'
import { queryTemplate } from './query-template.ts'
import {
  isPlain,
  type OpenRows,
  openCredentials,
  openHttpRows,
  parseRows,
  ROW_HEAD,
  type SampleRow,
  type SqlRows,
  type SqlSource,
  samplePage,
  valueByName,
} from './source/index.ts'
import {
  chooseContent,
  parseTemplate,
  type SheetContent,
  type Template,
  templateFromKeys,
} from './template/index.ts'
import type { FixedArea } from './xlsx/index.ts'

export interface TablePreview {
  name: string
  /** Null where it is not known. */
  total: number | null
  columns: { title: string; name: string | null; type: string }[]
  /** Everything above the data as it will be laid out: cells with place, span, value and style. */
  top: FixedArea
  bottom: FixedArea
  /** Values in the order of `columns`. */
  rows: unknown[][]
}

export interface PreviewOptions {
  request: ExportRequest
  sourceHeaders: Record<string, string>
  secrets: readonly string[]
  openSql(source: SqlSource, signal: AbortSignal): Promise<SqlRows>
  signal: AbortSignal
  /** What a project demands to be hidden. */
  masks: MaskRules
  /** Hears of what was read from the source. */
  onRead?(read: { rows: number; bytes: number }): void
}

const PREVIEW_ROWS = 20

/** The first rows and the laid-out header of what an export would hold. Nothing is stored. */
export async function previewExport(
  deps: { http: HttpClient; clock: Clock },
  { request, sourceHeaders, secrets, openSql, masks, signal, onRead }: PreviewOptions,
): Promise<TablePreview[]> {
  const previews: TablePreview[] = []
  for (const table of request.tables) {
    const feed = await openFeed(deps, table, { openSql, secrets, signal })
    if (feed) {
      const { template, rows, bytes, total } = await sampleFeed(table, feed)
      onRead?.({ rows: rows.length, bytes })
      const content = chooseContent(table, {})
      previews.push(previewTable(request, table, { template, content, total, rows, masks }))
      continue
    }
    const { url = table.sourceUrl, headers = sourceHeaders } = table.http ?? {}
    const credentials = table.http && openCredentials(deps, table.http)
    const source = new HttpPageSource(deps, { url, headers: { ...headers }, secrets, credentials })
    const { probe, rows, bytes } = await samplePage(
      { source, clock: deps.clock },
      { rows: PREVIEW_ROWS, signal },
    )
    onRead?.({ rows: rows.length, bytes })
    const content = chooseContent(table, probe, request.templateFrom)
    const template = parseTemplate(content.template, { keys: probe.keys }) ?? templateFromKeys(probe.keys)
    previews.push(previewTable(request, table, { template, content, total: probe.total, rows, masks }))
  }
  return previews
}

/** Rows that are read one after the other; nothing for pages of the seed's protocol. */
async function openFeed(
  deps: { http: HttpClient; clock: Clock },
  { sql, http }: Table,
  { openSql, secrets, signal }: Pick<PreviewOptions, 'openSql' | 'secrets' | 'signal'>,
): Promise<OpenRows | undefined> {
  if (sql) return openSql(sql, signal)
  if (!http || isPlain(http)) return undefined
  const plan = { ...http, size: PREVIEW_ROWS }
  return openHttpRows({ ...deps, secrets }, plan, { size: PREVIEW_ROWS, retries: 0, signal })
}

async function sampleFeed(table: Table, feed: OpenRows) {
  try {
    const first = await feed.pages()[Symbol.asyncIterator]().next()
    const read = first.done ? { rows: [], bytes: 0 } : parseRows(first.value, PREVIEW_ROWS)
    const template = queryTemplate(table.template, feed)
    return { template, ...read, total: feed.total ?? null }
  } finally {
    await feed.close()
  }
}

interface Sampled {
  template: Template
  content: Required<SheetContent>
  total: number | null
  rows: SampleRow[]
  masks: MaskRules
}

function previewTable(
  request: ExportRequest,
  table: Table,
  { template, content, total, rows, masks }: Sampled,
): TablePreview {
  const masking = maskingOf(template, masks)
  const plan = planTable(request, table, { content, template, numeric: new Set() })
  return {
    name: plan.name,
    total,
    columns: template.leaves.map(({ title, name, type }) => ({ title, name, type })),
    top: plan.top,
    bottom: plan.bottom,
    rows: rows.map((row) =>
      template.leaves.map(
        ({ name, rowHead }) =>
          (rowHead ? row[ROW_HEAD] : name === null ? null : shown(valueByName(row, name), name, masking)) ??
          null,
      ),
    ),
  }
}

/** A value as the file shows it. */
function shown(value: unknown, name: string, masking: Masking | null): unknown {
  if (!masking || !Object.hasOwn(masking.byName, name)) return value
  return maskValue(value, masking.byName[name]!, masking.key)
}
