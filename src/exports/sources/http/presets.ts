import type { PagingStyle, Preset } from './http-source.ts'

/** How a source is asked, and where its answers have what. Of several places the first that an answer has counts. */
export interface SourceShape {
  format: 'json' | 'ndjson' | 'csv'
  style: PagingStyle
  pageParam: string
  /** Null: the number of rows per page is not sent as a parameter. */
  sizeParam: string | null
  first: number
  cursorParam: string
  /** Of the next cursor, or of the next address; none with the style `link`: it is in the Link header. */
  cursor: readonly string[]
  rows: readonly string[]
  total: readonly string[]
  /** Sent unless the request has its own; `{{page_size}}` is filled in. */
  headers: Readonly<Record<string, string>>
  /** Parameters that are always sent. */
  query: Readonly<Record<string, string>>
  /** A member of each row whose own members take its place, and the other members that stay; without `keep`, all do. */
  lift: { member: string; keep?: readonly string[] } | null
}

type StyleShape = Pick<SourceShape, 'pageParam' | 'sizeParam' | 'first' | 'cursorParam' | 'cursor'>

const NAMES = { pageParam: 'page', sizeParam: 'page_size', first: 0, cursorParam: 'cursor', cursor: [] }

/** What the parameters are called unless a preset or the request says otherwise. */
export const STYLES: Readonly<Record<PagingStyle, StyleShape>> = {
  page: NAMES,
  offset: { ...NAMES, pageParam: 'offset', sizeParam: 'limit' },
  cursor: { ...NAMES, cursor: ['next_cursor', 'meta.next_cursor'] },
  link: { ...NAMES, sizeParam: null },
  none: { ...NAMES, sizeParam: null },
}

function shape(style: PagingStyle, more: Partial<SourceShape>): SourceShape {
  const common = { format: 'json', rows: ['data', ''], total: ['total'], headers: {}, query: {}, lift: null }
  return { ...(common as Omit<SourceShape, 'style' | keyof StyleShape>), style, ...STYLES[style], ...more }
}

const JSON_API = 'application/vnd.api+json'

/** The documents that these follow are named in `docs/sources.md`. */
export const SHAPES: Readonly<Record<Preset, SourceShape>> = {
  wharf: shape('page', {}),
  // All three of its paginations state the next address; only two state a count.
  drf: shape('link', { sizeParam: 'page_size', cursor: ['next'], rows: ['results'], total: ['count'] }),
  spring: shape('page', {
    sizeParam: 'size',
    rows: ['content'],
    total: ['totalElements', 'page.totalElements'],
  }),
  // By number: its next address leaves out the query unless the application asks for it.
  laravel: shape('page', { sizeParam: 'per_page', first: 1, rows: ['data'], total: ['meta.total', 'total'] }),
  postgrest: shape('offset', {
    rows: [''],
    total: ['header:content-range'],
    headers: { prefer: 'count=exact' },
  }),
  odata: shape('link', {
    // Version 4, 4.01, 3, and the verbose JSON of 2 and 3.
    cursor: ['@odata.nextLink', '@nextLink', 'odata.nextLink', 'd.__next'],
    rows: ['value', 'd.results', 'd'],
    total: ['@odata.count', '@count', 'odata.count', 'd.__count'],
    headers: { prefer: 'odata.maxpagesize={{page_size}}' },
    query: { $count: 'true' },
  }),
  jsonapi: shape('link', {
    sizeParam: 'page[size]',
    cursor: ['links.next.href', 'links.next'],
    rows: ['data'],
    total: ['meta.total', 'meta.count', 'meta.page.total', 'meta.pagination.count'],
    headers: { accept: JSON_API },
    lift: { member: 'attributes' },
  }),
  links: shape('link', { sizeParam: 'per_page', rows: [''], total: ['header:x-total-count'] }),
  elasticsearch: shape('cursor', {
    sizeParam: null,
    cursor: ['hits.hits.-1.sort'],
    rows: ['hits.hits'],
    total: ['hits.total.value', 'hits.total'],
    lift: { member: '_source', keep: ['_id'] },
  }),
  ndjson: shape('none', { format: 'ndjson', total: [], headers: { accept: 'application/x-ndjson' } }),
  csv: shape('none', { format: 'csv', total: [], headers: { accept: 'text/csv' } }),
}
