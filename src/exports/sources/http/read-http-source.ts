import { isDeepStrictEqual } from 'node:util'
import { AppError, ERRORS } from '../../../kernel/index.ts'
import { hasCursor, withSearchAfter } from './fill-body.ts'
import type { HttpAuth, HttpSource } from './http-source.ts'
import { SHAPES, type SourceShape, STYLES } from './presets.ts'

/** A source with everything decided that its request left open. Plain data. */
export interface HttpPlan extends SourceShape {
  url: string
  method: 'GET' | 'POST'
  body?: unknown
  auth: HttpAuth | null
  /** The request names the place of the total, so an answer without it is wrong. */
  totalNamed: boolean
  /** Null: as the request's `page_size` says. */
  size: number | null
  /** Lines of a CSV with too few fields are filled with nulls. */
  fillsLines?: boolean
}

const INLINE_COUNT = /[?&](?:\$|%24)inlinecount=/i

/** What a source leaves open is its preset's, or its style's where that is another one. */
export function readHttpSource(source: HttpSource): HttpPlan {
  const { preset = 'wharf', paging = {}, headers = {}, auth = null } = source
  const base = SHAPES[preset]
  const style = paging.style ?? base.style
  const isStream = base.format !== 'json'
  if (source.short_lines && base.format !== 'csv') throw invalid('short_lines', 'needs the preset csv')
  if (isStream && style !== 'none') throw invalid('paging.style', `the preset ${preset} comes in one piece`)
  const named = style === base.style ? base : { ...base, ...STYLES[style] }
  const plan: HttpPlan = {
    ...named,
    url: source.url,
    method: source.method ?? (source.body !== undefined || preset === 'elasticsearch' ? 'POST' : 'GET'),
    ...(source.body !== undefined && { body: source.body }),
    auth,
    style,
    pageParam: paging.page_param ?? named.pageParam,
    sizeParam: paging.size_param ?? named.sizeParam,
    first: paging.first ?? named.first,
    cursorParam: paging.cursor_param ?? named.cursorParam,
    cursor: paging.cursor === undefined ? named.cursor : [paging.cursor],
    rows: source.rows === undefined ? base.rows : [source.rows],
    total: source.total === undefined ? base.total : source.total === null ? [] : [source.total],
    totalNamed: typeof source.total === 'string',
    headers: { ...base.headers, ...lowerCase(headers) },
    // OData 2 and 3 count by another parameter, and may refuse this one.
    ...(preset === 'odata' && INLINE_COUNT.test(source.url) && { query: {} }),
    size: paging.size ?? null,
    ...(source.short_lines === 'fill' && { fillsLines: true }),
  }
  if (preset === 'elasticsearch') plan.body = searchBody(source.body)
  check(plan, source)
  return plan
}

/** The seed's protocol, as `source_url` has it: it keeps its own way. */
export function isPlain(plan: HttpPlan): boolean {
  const { url: _, auth: __, size: ___, method, body, totalNamed, headers: ____, ...shape } = plan
  const { headers: _____, ...wharf } = SHAPES.wharf
  return method === 'GET' && body === undefined && !totalNamed && isDeepStrictEqual(shape, wharf)
}

function check({ method, body, style, auth, headers, cursor }: HttpPlan, source: HttpSource): void {
  if (method === 'GET' && body !== undefined) throw invalid('body', 'needs the method POST')
  if (auth && headers.authorization !== undefined)
    throw invalid('auth', 'and a header Authorization exclude one another')
  if (style === 'cursor' && cursor.length === 0) throw invalid('paging.cursor', 'is missing')
  if (hasCursor(body) && style !== 'cursor')
    throw invalid('body', 'has {{cursor}}, which needs the paging style cursor')
  const { rows, total, paging } = source
  for (const [path, place] of Object.entries({ rows, total, 'paging.cursor': paging?.cursor }))
    if (typeof place === 'string' && place !== '' && place.split('.').includes(''))
      throw invalid(path, `is '${place}', not keys joined by dots`)
}

/** What search_after needs; the order is the caller's to give, because only they know a unique field. */
function searchBody(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('sort' in body))
    throw invalid('body', 'needs a sort that ends in a unique field, such as {"sort": [{"id": "asc"}]}')
  return withSearchAfter(body)
}

function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function invalid(path: string, message: string): AppError {
  const place = `source.${path}`
  return new AppError(ERRORS.REQUEST_INVALID, `${place} ${message}`, {
    details: { errors: [{ path: place, message }] },
    retryable: false,
  })
}
