import { randomUUID } from 'node:crypto'
import type { Config } from '../config.ts'
import {
  type Diagnosis,
  type Driver,
  type ExportBody,
  examineSource,
  guessAndTry,
  HttpPageSource,
  type HttpSource,
  MASKS,
  type Mask,
  openSqlRows,
  type Produced,
  type ProduceOptions,
  produce,
  readRequest,
  ThreadPool,
} from '../exports/index.ts'
import { AppError, createLog, ERRORS, parseKeepingOrder, SecretMask, systemClock } from '../kernel/index.ts'
import { AddressGuard, HttpClient, NOTHING_PRIVATE, parseAllowHosts, signPull } from '../net/index.ts'
import { VERSION } from '../version.ts'

export { type HttpSource, parseHttpSource, parseRequest, parseSheets, verifyFiles } from '../exports/index.ts'

/** A source, and how to reach it. */
export interface SourceAccess {
  url: string
  headers: Record<string, string>
  /** Pulls are signed with it, as a server signs them with a project's. */
  secret?: string | undefined
  /** Hosts inside private ranges that a redirect may lead to; the source's own host may always be asked. */
  allowHosts?: string | undefined
}

export type ExportWishes = Pick<
  ExportBody,
  | 'type'
  | 'compress'
  | 'title'
  | 'summary'
  | 'template'
  | 'header'
  | 'footer'
  | 'sheets'
  | 'page_size'
  | 'timezone'
  | 'theme'
  | 'bom'
  | 'csv'
  | 'file_name'
  | 'key'
  | 'on_duplicates'
  | 'watermark'
  | 'template_from'
>

/** A database, and what to ask it. */
export interface LocalQuery {
  driver: Driver
  url: string
  query: string
  params: string[]
}

export interface LocalExport {
  /** Where there is a query, or several sheets, its address is of no account. */
  source: SourceAccess
  sql?: LocalQuery | undefined
  /** An endpoint of another shape than the seed's; it has the address and the headers. */
  http?: HttpSource | undefined
  wishes: ExportWishes
  /** Whose name a watermark shows. */
  by?: string | undefined
  /** What is hidden besides what the template asks for, and the key of hashes. */
  masks?: { demanded: Record<string, string>; key: string | null }
  /** Takes the spool and the file; what an earlier, broken-off call left there is taken up. */
  directory: string
  excel: { maxRows: number; maxBytes: number }
  signal: AbortSignal
  onProgress(progress: { stage: string; fetched: number; total: number | null }): void
  /** Rows of an earlier, broken-off call are taken up. */
  onResumed?(rows: number): void
  /** Called for problems that do not end the export, such as a page that is asked for again. */
  onWarning(message: string): void
}

/**
 * The export pipeline without a server: no ledger, no queue, no store. It is separate from `serve.ts` so that the
 * command starts without loading what only a server needs.
 */
export async function exportToFolder(options: LocalExport, clock = systemClock): Promise<Produced> {
  const {
    source,
    sql,
    http: endpoint,
    wishes,
    masks = { demanded: {}, key: null },
    by = 'wharf export',
    directory,
    excel,
    signal,
    onProgress,
    onResumed,
    onWarning,
  } = options
  const sheetUrls = wishes.sheets?.map((sheet) => sheet.source_url) ?? []
  const http = openClient(sql ? { ...source, url: sql.url } : source, [
    ...tokenUrlsOf(endpoint),
    ...sheetUrls,
  ])
  const pool = new ThreadPool()
  try {
    const body: ExportBody = { ...wishes, ...(!wishes.sheets && sourceOf(source, sql, endpoint)) }
    const checkUrl = (url: string, headers?: Record<string, string>) => http.check(url, headers)
    const asked = readRequest(body, { now: clock.now(), checkUrl })
    const mark = { by, at: new Date(clock.now()).toISOString(), id: randomUUID() }
    const request = wishes.watermark ? { ...asked, watermark: mark } : asked
    const log = createLog({
      level: 'warn',
      destination: { write: (line) => onWarning((JSON.parse(line) as { msg: string }).msg) },
    })
    const sourceHeaders = source.headers
    return await produce(
      { http, pool, clock, log },
      {
        request,
        sourceHeaders,
        secrets: sql ? [] : secretsOf(source),
        ...(sql && { openSql: openQuery(http, sql) }),
        masks: { ...masks, demanded: masksOf(masks.demanded), mustMatch: true },
        directory,
        limits: {},
        excel,
        signal,
        onProgress,
        ...(onResumed && { onResumed }),
      },
    )
  } finally {
    await Promise.all([http.close(), pool.close()])
  }
}

function sourceOf(
  { url }: SourceAccess,
  sql: LocalQuery | undefined,
  http: HttpSource | undefined,
): Pick<ExportBody, 'source' | 'source_url'> {
  if (sql) return { source: { kind: 'sql', connection: '', query: sql.query, params: sql.params } }
  return http ? { source: { kind: 'http', ...http } } : { source_url: url }
}

function masksOf(demanded: Record<string, string>): Record<string, Mask> {
  for (const [column, mask] of Object.entries(demanded))
    if (!MASKS.includes(mask as Mask))
      throw new AppError(
        ERRORS.REQUEST_INVALID,
        `--mask ${column}=${mask}: a mask is one of ${MASKS.join(', ')}`,
      )
  return demanded as Record<string, Mask>
}

function openQuery(http: HttpClient, { driver, url }: LocalQuery): NonNullable<ProduceOptions['openSql']> {
  const addressOf = (host: string, port: number) => http.addressOf(host, port)
  return (source, signal) => openSqlRows(source, { driver, url }, { addressOf, signal })
}

export async function diagnoseSource(
  source: SourceAccess,
  signal: AbortSignal,
  clock = systemClock,
): Promise<Diagnosis> {
  const http = openClient(source)
  try {
    http.check(source.url)
    const { url, headers } = source
    const secrets = secretsOf(source)
    const mask = new SecretMask()
      .addUrl(url)
      .addHeaders(headers)
      .add(...secrets)
    const pages = new HttpPageSource({ http, clock }, { url, headers, secrets })
    const own = await examineSource({ source: pages, clock }, { signal })
    const failed = own.findings.find(({ level }) => level === 'fail')
    if (!failed) return mask.value(own)
    const other = await guessAndTry({ http, clock, secrets }, { url, headers, signal })
    const works = other && !other.findings.some(({ level }) => level === 'fail')
    // One that answers as it should and then stumbles has a fault, unless it is of a kind that is known to.
    const speaks = own.findings.some(({ check, level }) => check === 'answer' && level === 'ok')
    if (!other || (speaks && !(works && other.source?.preset))) return mask.value(own)
    const message = `does not speak Wharf's own protocol (${failed.message})`
    const findings: Diagnosis['findings'] = [{ level: 'warn', check: 'answer', message }, ...other.findings]
    return { ...other, findings: mask.value(findings) }
  } finally {
    await http.close()
  }
}

export function excelLimits(config: Config): LocalExport['excel'] {
  return { maxRows: config.WHARF_EXCEL_MAX_ROWS, maxBytes: config.WHARF_EXCEL_MAX_BYTES }
}

/** JSON whose keys keep their order and whose numbers keep their digits, as in the body of a request. */
export function readTemplate(text: string, name: string): unknown {
  try {
    return parseKeepingOrder(text)
  } catch (cause) {
    throw new AppError(ERRORS.TEMPLATE_INVALID, `${name} is not JSON`, { cause })
  }
}

/**
 * An address that a user types is allowed wherever it leads. A redirect is checked as on a server.
 */
function openClient({ url, allowHosts }: SourceAccess, others: string[] = []): HttpClient {
  const typed = [url, ...others].map((text) => URL.parse(text)?.hostname.replace(/^\[|\]$/g, '') ?? '')
  const lists = [...typed, allowHosts ?? ''].map((text) =>
    text === '' ? NOTHING_PRIVATE : parseAllowHosts(text),
  )
  const allowed = {
    hosts: lists.flatMap(({ hosts }) => hosts),
    cidrs: lists.flatMap(({ cidrs }) => cidrs),
  }
  return new HttpClient({ guard: new AddressGuard(allowed) }, { userAgent: `wharf/${VERSION}` })
}

function tokenUrlsOf(endpoint: HttpSource | undefined): string[] {
  return endpoint?.auth?.kind === 'oauth2' ? [endpoint.auth.token_url] : []
}

/** Tried out first: a secret that cannot sign must not look like a source that cannot be reached. */
function secretsOf({ secret, url }: SourceAccess): string[] {
  if (secret === undefined) return []
  try {
    signPull([secret], { url: new URL(url), now: 0 })
  } catch (cause) {
    throw new AppError(ERRORS.REQUEST_INVALID, 'the secret is invalid; it looks like whsec_… and base64', {
      cause,
    })
  }
  return [secret]
}
