/** Ways of asking for more rows. */
export const PAGING_STYLES = ['page', 'offset', 'cursor', 'link', 'none'] as const
export type PagingStyle = (typeof PAGING_STYLES)[number]

export const PRESETS = [
  'wharf',
  'drf',
  'spring',
  'laravel',
  'postgrest',
  'odata',
  'jsonapi',
  'links',
  'elasticsearch',
  'ndjson',
  'csv',
] as const
export type Preset = (typeof PRESETS)[number]

/** An endpoint of any common shape, as it is asked for over the wire. */
export interface HttpSource {
  url: string
  method?: 'GET' | 'POST'
  /** JSON; `{{page}}`, `{{page_size}}` and `{{cursor}}` in its texts are filled in. */
  body?: unknown
  headers?: Record<string, string>
  auth?: HttpAuth
  preset?: Preset
  /** Place of the list of rows: keys joined by dots, empty for the answer itself. */
  rows?: string
  /** Place of the number of all rows, or `header:NAME`; null: it is not known. */
  total?: string | null
  paging?: HttpPaging
}

interface HttpPaging {
  style?: PagingStyle
  /** Parameter of the page's number, or of the offset. */
  page_param?: string
  size_param?: string
  /** Number of the first page, or the first offset. */
  first?: number
  cursor_param?: string
  /** Place of the next cursor; of the next address with the style `link`, which else is that of the Link header. */
  cursor?: string
  /** Rows per page. */
  size?: number
}

export type HttpAuth =
  | { kind: 'basic'; username: string; password: string }
  | { kind: 'oauth2'; token_url: string; client_id: string; client_secret: string; scope?: string }
