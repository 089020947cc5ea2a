import type { Clock, SecretMask } from '../../kernel/index.ts'
import type { HttpClient } from '../../net/index.ts'
import type { Sample } from '../pipeline/index.ts'
import { type ExportRequest, queryTemplate, type Table } from '../request/index.ts'
import {
  cutPage,
  HttpPageSource,
  isPlain,
  type OpenRows,
  openCredentials,
  openHttpRows,
  PageBody,
  type SqlRows,
  type SqlSource,
  samplePage,
} from '../sources/index.ts'
import { chooseContent, parseTemplate, templateFromKeys } from '../template/index.ts'

export interface SampleOptions {
  request: ExportRequest
  sourceHeaders: Record<string, string>
  secrets: readonly string[]
  openSql(source: SqlSource, signal: AbortSignal): Promise<SqlRows>
  signal: AbortSignal
}

const SAMPLE_ROWS = 20

/** The first rows of a table, from one request. */
export async function sampleTable(
  deps: { http: HttpClient; clock: Clock; mask?: SecretMask },
  table: Table,
  options: SampleOptions,
): Promise<Sample & { bytes: number }> {
  const feed = await openFeed(deps, table, options)
  if (feed) return sampleFeed(table, feed, options.request)
  const { request, sourceHeaders, secrets, signal } = options
  const { url = table.sourceUrl, headers = sourceHeaders } = table.http ?? {}
  const credentials = table.http && openCredentials(deps, table.http)
  const source = new HttpPageSource(deps, { url, headers: { ...headers }, secrets, credentials })
  const { probe, page, bytes } = await samplePage(
    { source, clock: deps.clock },
    { rows: SAMPLE_ROWS, signal },
  )
  const content = chooseContent(table, probe, request.templateFrom)
  const template = parseTemplate(content.template, { keys: probe.keys }) ?? templateFromKeys(probe.keys)
  const whole = page.rows >= probe.total
  return { page, whole, template, content, total: probe.total, probe, bytes }
}

/** Rows that are read one after the other; nothing for pages of the seed's protocol. */
async function openFeed(
  deps: { http: HttpClient; clock: Clock; mask?: SecretMask },
  { sql, http }: Table,
  { openSql, secrets, signal }: SampleOptions,
): Promise<OpenRows | undefined> {
  if (sql) return openSql(sql, signal)
  if (!http || isPlain(http)) return undefined
  const plan = { ...http, size: SAMPLE_ROWS }
  return openHttpRows({ ...deps, secrets }, plan, { size: SAMPLE_ROWS, retries: 0, signal })
}

async function sampleFeed(
  table: Table,
  feed: OpenRows,
  request: ExportRequest,
): Promise<Sample & { bytes: number }> {
  try {
    const pages = feed.pages()[Symbol.asyncIterator]()
    const first = await pages.next()
    const found = first.done ? '{"data":[]}' : first.value.text
    const body = typeof found === 'string' ? PageBody.ofText(found) : found
    const page = cutPage(body.bytes, body.length, { wrapped: false, most: SAMPLE_ROWS })
    const whole = first.done === true || (first.value.rows <= SAMPLE_ROWS && (await isAtEnd(feed, pages)))
    const template = queryTemplate(table.template, feed, request)
    const content = chooseContent(table, {})
    const keys = feed.columns.map(({ name }) => name)
    return { page, whole, template, content, total: feed.total ?? null, keys, bytes: body.length }
  } finally {
    await feed.close()
  }
}

/** Whether no rows follow the page that was read. The source is not asked for another one. */
async function isAtEnd(feed: OpenRows, pages: AsyncIterator<unknown>): Promise<boolean> {
  return feed.paged ? feed.ended === true : (await pages.next()).done === true
}
