import type { ExportType } from '../../../../api/export-drafts.ts'
import type { AreaField, AuthField, DraftFields, ParamType, SecretField, SheetField } from './draft-fields.ts'

type Json = Record<string, unknown>

/** The form of a request that the server shows: its secrets are names, and stay what they are unless they are entered anew. */
export function fromRequest(
  request: Json,
  { sealed, parameters = {} }: { sealed: readonly string[]; parameters?: Json },
): { fields: DraftFields; template: string } {
  const {
    source_url,
    source,
    sheets,
    type,
    template,
    header,
    footer,
    notify,
    csv,
    project_id: _,
    parameters: own,
    ...others
  } = request
  const known = take(others, PLAIN)
  return {
    template: template === undefined ? '' : JSON.stringify(template, null, 2),
    fields: {
      ...known.taken,
      ...(csv !== undefined && { csv: dialectFields(csv as Json) }),
      ...sourceFields(source as Json | undefined, sealed),
      ...(typeof source_url === 'string' && { kind: 'address', source_url }),
      ...(Array.isArray(sheets) && { kind: 'sheets', sheets: sheets.map(sheetField) }),
      ...(source === undefined && { headers: headerFields('source_headers', sealed) }),
      type: (type as ExportType | undefined) ?? 'csv',
      header: areaField(header),
      footer: areaField(footer),
      ...notifyFields(notify as Json | undefined),
      parameters: Object.entries({ ...(own as Json | undefined), ...parameters }).map(([name, value]) => ({
        name,
        value: value as string,
      })),
      others: known.rest,
    },
  }
}

/** Members that the form holds under their own names. */
const PLAIN = [
  'compress',
  'file_name',
  'title',
  'summary',
  'theme',
  'watermark',
  'template_from',
  'operator_id',
  'timezone',
  'page_size',
  'key',
  'on_duplicates',
  'priority',
  'keep_hours',
  'keep_rows_hours',
  'link_hours',
  'link_uses',
  'callback',
] as const

function dialectFields({ bom, ...csv }: Json): Json {
  return { ...csv, ...(bom === false ? { no_bom: true } : bom === undefined ? {} : { bom }) }
}

function take(members: Json, names: readonly string[]): { taken: Json; rest: Json } {
  const entries = Object.entries(members)
  return {
    taken: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
    rest: Object.fromEntries(entries.filter(([name]) => !names.includes(name))),
  }
}

function sourceFields(source: Json | undefined, sealed: readonly string[]): Pick<DraftFields, 'kind'> {
  if (!source) return { kind: 'address' }
  const { kind, ...members } = source
  if (kind === 'audit') return { kind, audit: members } as DraftFields
  if (kind === 'sql') {
    const { params, ...sql } = members
    return { kind, sql: { ...sql, params: ((params ?? []) as unknown[]).map(paramField) } } as DraftFields
  }
  const { body, auth, total, headers: _, ...http } = members
  const fields: Partial<DraftFields> = {
    kind: 'http',
    headers: headerFields('source.headers', sealed),
    auth: authField(auth as Json | undefined, sealed),
    http: {
      ...http,
      ...(body !== undefined && { body: JSON.stringify(body, null, 2) }),
      ...(total === null ? { total_unknown: true } : typeof total === 'string' ? { total } : {}),
    },
  }
  return fields as DraftFields
}

function headerFields(path: string, sealed: readonly string[]): SecretField[] {
  return sealed
    .filter((name) => name.startsWith(`${path}.`))
    .map((kept) => ({ name: kept.slice(path.length + 1), kept }))
}

function authField(auth: Json | undefined, sealed: readonly string[]): AuthField {
  const kept = sealed.find((name) => name.startsWith('source.auth.'))
  if (!auth) return { kind: 'none' }
  return { ...(auth as unknown as AuthField), ...(kept !== undefined && { kept }) }
}

function paramField(value: unknown): { type: ParamType; value?: string } {
  if (value === null) return { type: 'null' }
  if (typeof value === 'boolean') return { type: value ? 'yes' : 'no' }
  return { type: typeof value === 'number' ? 'number' : 'text', value: String(value) }
}

function sheetField({ template, ...sheet }: Json): SheetField {
  return { ...sheet, ...(template !== undefined && { template: JSON.stringify(template, null, 2) }) }
}

function areaField(value: unknown): AreaField {
  if (value === undefined || value === null) return { mode: 'none' }
  if (typeof value === 'string') return { mode: 'text', text: value }
  const entries = Array.isArray(value) ? value : Object.entries(value as Json)
  const isPairs = entries.every((pair) => Array.isArray(pair) && pair.length === 2 && !Array.isArray(pair[0]))
  if (!isPairs) return { mode: 'other', other: value }
  return {
    mode: 'pairs',
    pairs: entries.map(([label, own]: [unknown, unknown]) => ({ label: String(label ?? ''), value: own })),
  }
}

function notifyFields(notify: Json | undefined): Partial<DraftFields> {
  const { email = [], chat = [], language } = notify ?? {}
  return {
    emails: email as string[],
    chats: (chat as Json[]).map(({ kind }, index) => ({
      kind: String(kind),
      kept: `notify.chat[${index}].url`,
    })),
    ...(language !== undefined && { language: language as string }),
  }
}
