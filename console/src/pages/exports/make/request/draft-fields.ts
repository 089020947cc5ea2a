import type { ExportType } from '../../../../api/export-drafts.ts'

/** A header, or another secret by name. `kept` is the name of a value that the server has sealed. */
export interface SecretField {
  name?: string
  value?: string
  kept?: string
}

export interface AreaField {
  mode: 'none' | 'pairs' | 'text' | 'other'
  pairs?: { label?: string; value?: unknown }[]
  text?: string
  /** A form that cannot be shown here stays as it is. */
  other?: unknown
}

export interface AuthField {
  kind: 'none' | 'basic' | 'oauth2'
  username?: string
  password?: string
  token_url?: string
  client_id?: string
  client_secret?: string
  scope?: string
  kept?: string
}

export interface SheetField {
  name?: string
  source_url?: string
  title?: string
  summary?: string
  /** JSON as it was typed. */
  template?: string
}

export type SourceKind = 'address' | 'http' | 'sql' | 'sheets' | 'audit'

/** What a person fills in, as the form holds it: lists instead of objects, texts as they were typed. */
export interface DraftFields {
  kind: SourceKind
  source_url?: string
  headers?: SecretField[]
  auth?: AuthField
  http?: {
    url?: string
    preset?: string
    method?: 'GET' | 'POST'
    body?: string
    rows?: string
    total?: string
    total_unknown?: boolean
    paging?: {
      style?: string
      page_param?: string
      size_param?: string
      first?: number
      cursor_param?: string
      cursor?: string
      size?: number
    }
  }
  sql?: { connection?: string; query?: string; params?: { type: ParamType; value?: string }[] }
  audit?: { actor?: string; action?: string; after?: number }
  sheets?: SheetField[]
  type: ExportType
  compress?: string
  csv?: Record<string, unknown>
  file_name?: string
  title?: string
  summary?: string
  header?: AreaField
  footer?: AreaField
  theme?: string
  watermark?: boolean
  template_from?: string
  operator_id?: string
  timezone?: string
  page_size?: number
  key?: string[]
  on_duplicates?: string
  priority?: string
  keep_hours?: number
  keep_rows_hours?: number
  link_hours?: number
  link_uses?: number
  callback?: string
  emails?: string[]
  chats?: { kind?: string; url?: string; kept?: string }[]
  language?: string
  parameters?: { name?: string; value?: string | number | boolean | null }[]
  /** Of the request, and unknown here. */
  others?: Record<string, unknown>
}

export const PARAM_TYPES = ['text', 'number', 'yes', 'no', 'null'] as const
export type ParamType = (typeof PARAM_TYPES)[number]

/** Whose secrets may be named. */
export type SealedFrom = { task_id: string } | { saved_export: string }

/** Nothing of these is kept in the browser. */
export function withoutSecrets(fields: DraftFields): DraftFields {
  const { headers, auth, chats } = fields
  return {
    ...fields,
    ...(headers && { headers: headers.map(({ value: _, ...header }) => header) }),
    ...(auth && { auth: withoutPasswords(auth) }),
    ...(chats && { chats: chats.map(({ url: _, ...chat }) => chat) }),
    ...(fields.source_url !== undefined && { source_url: withoutPassword(fields.source_url) }),
    ...(fields.callback !== undefined && { callback: withoutPassword(fields.callback) }),
    ...(fields.http && { http: { ...fields.http, url: withoutPassword(fields.http.url ?? '') } }),
    ...(fields.sheets && {
      sheets: fields.sheets.map((sheet) => ({
        ...sheet,
        source_url: withoutPassword(sheet.source_url ?? ''),
      })),
    }),
  }
}

function withoutPasswords({ password: _, client_secret: __, ...auth }: AuthField): AuthField {
  return auth
}

function withoutPassword(url: string): string {
  return url.replace(/^(\s*[a-z][a-z0-9+.-]*:[/\\]*)[^/?#\\]*@/i, '$1')
}
