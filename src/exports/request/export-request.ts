import { type Static, Type } from 'typebox'
import { AppError, ERRORS } from '../../kernel/index.ts'
import { type CsvDialect, readDialect } from '../csv/index.ts'
import { COMPRESSIONS, type Compression } from '../records/index.ts'
import {
  AUDIT_CONNECTION,
  auditQuery,
  type HttpPlan,
  readHttpSource,
  type SqlSource,
} from '../sources/index.ts'
import { parseHeader, parseTemplate, type TemplateFrom, type ThemeName } from '../template/index.ts'
import type { ExportBody } from './export-body.ts'
import type { ExportType } from './export-type.ts'
import { fileNameFor } from './file-name.ts'
import type { Watermark } from './watermark.ts'

/** Which template, in which version, an export was made with. */
export type UsedTemplate = Static<typeof UsedTemplate>
export const UsedTemplate = Type.Object({ name: Type.String(), version: Type.Integer() })

/** Rows of one table, kept as JSON lines (zstd). They are masked already. */
export interface KeptRows {
  /** The export that keeps them. */
  jobId: string
  /** In the store. */
  key: string
  /** Of what is stored; missing where an older version has kept them. */
  sha256?: string
  rows: number
  columns: { name: string; type: string | null }[]
  /** Columns that must not be masked a second time. */
  masked: string[]
}

export interface Table {
  /** The sheet's; a single table is named after its title, or else its file. */
  name?: string
  /** Empty for rows of a database, and of an endpoint of another shape than the seed's. */
  sourceUrl: string
  sql?: SqlSource
  http?: HttpPlan
  /** Rows of an earlier export, in place of a source. */
  kept?: KeptRows
  title?: string | undefined
  summary?: string | undefined
  template?: unknown
  header?: unknown
  footer?: unknown
}

/** What an export is made from. Two requests with equal ones are the same export. */
export interface ExportRequest {
  type: ExportType
  /** Of a CSV or JSON lines file; requests of earlier versions lack it. */
  compress?: Compression | null
  /** Without its ending. */
  fileName: string
  tables: Table[]
  pageSize: number
  timezone: string
  /** Columns that identify a row; a job that was accepted by an earlier version has none of these. */
  key?: string[]
  templateFrom?: TemplateFrom
  onDuplicates?: 'fail' | 'warn'
  theme: ThemeName
  /** How a CSV file is written. */
  csv: CsvDialect
  /** How long the file is kept, in place of the installation's time. */
  keepHours?: number
  /** How long the rows are kept, to make another file of them. */
  keepRowsHours?: number
  /** How long a link to the file is good, in place of minutes. */
  linkHours?: number
  /** How often the file may be fetched without a key. */
  linkUses?: number
  /** What marks the file. */
  watermark?: Watermark
  /** Those that were asked for by name. */
  templates?: UsedTemplate[]
}

const DEFAULT_PAGE_SIZE = 500
const MAX_SHEETS = 50

/** Checks what a schema cannot, before anything is stored. Each kind of mistake has its own message. */
export function readRequest(
  body: ExportBody,
  { now, checkUrl }: { now: number; checkUrl(url: string, headers?: Record<string, string>): void },
): ExportRequest {
  const type = body.type ?? 'csv'
  const tables = readTables(body, type)
  checkCompression(body.compress, type)
  parseTemplate(body.template)
  for (const [index, { sourceUrl, sql, http }] of tables.entries()) {
    const path = body.sheets ? `sheets[${index}].` : ''
    if (http) checkHttp(http, checkUrl)
    else if (!sql) checkAddress(sourceUrl, `${path}source_url`, checkUrl)
    parseTemplate(body.sheets?.[index]?.template, { path: `${path}template` })
  }
  if (body.source && body.source_headers)
    throw invalid('source_headers', 'are for a source_url; a source has headers of its own')
  if (!body.source)
    checkHeaders(body.source_headers, 'source_headers', (headers) =>
      checkUrl(tables[0]?.sourceUrl ?? '', headers),
    )
  if (body.callback !== undefined) checkAddress(body.callback, 'callback', checkUrl)
  parseHeader(body.header, 'header')
  parseHeader(body.footer, 'footer')
  checkTimezone(body.timezone)
  return {
    type,
    compress: body.compress ?? null,
    fileName: fileNameFor(body.file_name, { extension: 'csv', now }).replace(/\.csv$/, ''),
    tables,
    pageSize: body.page_size ?? DEFAULT_PAGE_SIZE,
    timezone: body.timezone ?? 'UTC',
    ...(body.template_from !== undefined && { templateFrom: body.template_from }),
    ...(body.key !== undefined && { key: readKey(body.key) }),
    ...(body.on_duplicates !== undefined && { onDuplicates: body.on_duplicates }),
    theme: body.theme ?? 'business',
    csv: readDialect(body.csv, body.bom),
    ...(body.keep_hours !== undefined && { keepHours: body.keep_hours }),
    ...(body.keep_rows_hours !== undefined && { keepRowsHours: body.keep_rows_hours }),
    ...(body.link_hours !== undefined && { linkHours: body.link_hours }),
    ...(body.link_uses !== undefined && { linkUses: body.link_uses }),
  }
}

function readTables(body: ExportBody, type: ExportType): Table[] {
  const { header, footer } = body
  if (!body.sheets) {
    const { title, summary, template } = body
    return [{ ...readSource(body), title, summary, template, header, footer }]
  }
  if (type !== 'excel') throw invalid('sheets', "needs type 'excel': any other file holds one table")
  if (body.source_url !== undefined || body.source !== undefined)
    throw invalid('sheets', 'cannot be combined with source_url; send one of them')
  if (body.sheets.length === 0) throw invalid('sheets', 'is empty')
  if (body.sheets.length > MAX_SHEETS) throw invalid('sheets', `has more than ${MAX_SHEETS} sheets`)
  return body.sheets.map((sheet) => ({
    name: sheet.name,
    sourceUrl: sheet.source_url,
    title: sheet.title ?? body.title,
    summary: sheet.summary ?? body.summary,
    template: sheet.template ?? body.template,
    header,
    footer,
  }))
}

function readSource({ source_url, source }: ExportBody): Pick<Table, 'sourceUrl' | 'sql' | 'http'> {
  if (source_url !== undefined && source)
    throw invalid('source', 'cannot be combined with source_url; send one of them')
  if (source_url !== undefined) return { sourceUrl: source_url }
  if (!source) throw invalid('source_url', 'is missing')
  if (source.kind === 'http') return { sourceUrl: '', http: readHttpSource(source) }
  if (source.kind === 'audit') return { sourceUrl: '', sql: auditQuery(source) }
  const { connection, query, params = [] } = source
  if (connection === AUDIT_CONNECTION)
    throw invalid('source/connection', 'is not a valid name of a connection')
  return { sourceUrl: '', sql: { connection, query, params } }
}

function checkCompression(compress: Compression | undefined, type: ExportType): void {
  if (compress === undefined || type === 'csv' || type === 'jsonl') return
  throw invalid(
    'compress',
    `(${COMPRESSIONS.join(', ')}) is for csv and jsonl: the type ${type} is compressed already`,
  )
}

function readKey(key: string[]): string[] {
  if (new Set(key).size < key.length) throw invalid('key', 'names a column twice')
  return key
}

function checkAddress(url: string, path: string, checkUrl: (url: string) => void): void {
  try {
    checkUrl(url)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError(error.kind, `${path}: ${error.message}`, { cause: error, details: { path } })
  }
}

/** Wharf signs its requests; a caller who could set these headers could impersonate it. */
const SIGNATURE = /^webhook-(?:id|timestamp|signature)$/i

function checkHeaders(
  headers: Record<string, string> | undefined,
  path: string,
  check: (headers: Record<string, string>) => void,
): void {
  const signature = Object.keys(headers ?? {}).find((name) => SIGNATURE.test(name))
  if (signature !== undefined) throw invalid(path, `must not have ${signature}: Wharf signs itself`)
  try {
    check(headers ?? {})
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw invalid(path, `are invalid: ${error.message}`, error)
  }
}

function checkHttp(
  { url, auth, headers }: HttpPlan,
  checkUrl: (url: string, headers?: Record<string, string>) => void,
): void {
  checkAddress(url, 'source.url', checkUrl)
  if (auth?.kind === 'oauth2') checkAddress(auth.token_url, 'source.auth.token_url', checkUrl)
  checkHeaders({ ...headers }, 'source.headers', (own) => checkUrl(url, own))
}

function checkTimezone(timezone: string | undefined): void {
  if (timezone === undefined) return
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch (cause) {
    throw invalid(
      'timezone',
      `is not a time zone: '${timezone}'; use an IANA name such as Asia/Shanghai`,
      cause,
    )
  }
}

function invalid(path: string, message: string, cause?: unknown): AppError {
  return new AppError(ERRORS.REQUEST_INVALID, `${path} ${message}`, {
    details: { errors: [{ path, message }] },
    cause,
  })
}
