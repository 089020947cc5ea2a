import type { AreaField, DraftFields, SealedFrom, SecretField, SheetField } from './draft-fields.ts'

/** A text that goes into the JSON as it was typed: to parse and write it again would sort keys and round long numbers. */
class Typed {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Json = Record<string, unknown>

/** Those of a page are filled in by the source itself. */
const PLACEHOLDER = /\{\{\s*(?!(?:page|page_size|cursor)\s*\}\})[A-Za-z_][\w.]*\s*\}\}/

/** The request that the form says. What is empty, or belongs to another kind of source or file, is left out. */
export function toRequest(fields: DraftFields, template: string, sealedFrom: SealedFrom | null): Json {
  const { kind, type } = fields
  const isExcel = type === 'excel'
  const request = filled({
    ...sourceOf(fields),
    type,
    compress: type === 'csv' || type === 'jsonl' ? fields.compress : undefined,
    csv: type === 'csv' ? nonEmpty(dialectOf(fields.csv)) : undefined,
    file_name: fields.file_name,
    operator_id: fields.operator_id,
    ...(isExcel && {
      title: fields.title,
      summary: fields.summary,
      header: areaOf(fields.header),
      footer: areaOf(fields.footer),
      theme: fields.theme,
    }),
    watermark: fields.watermark || undefined,
    template: typed(template),
    template_from: hasTemplate(fields, template) ? (fields.template_from ?? 'request') : undefined,
    timezone: fields.timezone,
    page_size: kind === 'address' || kind === 'sheets' ? fields.page_size : undefined,
    key: fields.key?.length ? fields.key : undefined,
    on_duplicates: fields.on_duplicates,
    priority: fields.priority,
    keep_hours: fields.keep_hours,
    keep_rows_hours: fields.keep_rows_hours,
    link_hours: fields.link_hours,
    link_uses: fields.link_uses,
    callback: fields.callback,
    notify: notifyOf(fields),
    ...fields.others,
  })
  const parameters = parametersOf(fields)
  const hasPlaces = PLACEHOLDER.test(JSON.stringify(fillable(request)))
  return {
    ...request,
    ...((parameters || hasPlaces) && { parameters: parameters ?? {} }),
    ...(sealedFrom && { sealed_from: sealedFrom }),
  }
}

function dialectOf({ no_bom, ...csv }: Json = {}): Json {
  return filled({ ...csv, bom: no_bom ? false : csv.bom })
}

function hasTemplate({ kind, sheets = [] }: DraftFields, template: string): boolean {
  return template.trim() !== '' || (kind === 'sheets' && sheets.some((sheet) => sheet.template?.trim()))
}

function sourceOf(fields: DraftFields): Json {
  const { kind } = fields
  if (kind === 'sheets')
    return {
      sheets: (fields.sheets ?? []).map(sheetOf),
      source_headers: nonEmpty(headersOf(fields.headers)),
    }
  if (kind === 'sql') return { source: { kind, ...sqlOf(fields) } }
  if (kind === 'audit') return { source: filled({ kind, ...fields.audit }) }
  const auth = authOf(fields)
  if (kind === 'address' && !auth)
    return { source_url: fields.source_url?.trim(), source_headers: nonEmpty(headersOf(fields.headers)) }
  const { url, body, total, total_unknown, paging, ...shape } =
    kind === 'http'
      ? (fields.http ?? {})
      : { ...NO_SHAPE, url: fields.source_url, paging: { size: fields.page_size } }
  return {
    source: {
      ...filled({
        kind: 'http',
        url: url?.trim(),
        ...shape,
        total,
        body: typed(body ?? ''),
        headers: nonEmpty(headersOf(fields.headers)),
        auth,
        paging: nonEmpty(filled(paging ?? {})),
      }),
      ...(total_unknown && { total: null }),
    },
  }
}

const NO_SHAPE: NonNullable<DraftFields['http']> = {}

function sheetOf({ template, ...sheet }: SheetField): Json {
  return filled({ ...sheet, source_url: sheet.source_url?.trim(), template: typed(template ?? '') })
}

function sqlOf({ sql }: DraftFields): Json {
  const { connection, query, params = [] } = sql ?? {}
  const values = params.map(({ type, value = '' }) => {
    if (type === 'number') return numberOf(value)
    return type === 'text' ? value : { yes: true, no: false, null: null }[type]
  })
  return filled({ connection, query, params: values.length > 0 ? values : undefined })
}

/** A number that would be rounded goes as it was typed, so that the server can say so. */
function numberOf(value: string): number | Typed {
  const number = Number(value)
  const isJson = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
  return isJson && String(number) !== value ? new Typed(value) : number
}

function headersOf(headers: readonly SecretField[] = []): Json {
  return Object.fromEntries(
    headers.flatMap(({ name, value, kept }) => {
      const said = value || (kept === undefined ? undefined : `sealed:${kept}`)
      return name?.trim() && said !== undefined ? [[name.trim(), said]] : []
    }),
  )
}

function authOf({ auth }: DraftFields): Json | undefined {
  if (!auth || auth.kind === 'none') return undefined
  const { kind, username, password, token_url, client_id, client_secret, scope, kept } = auth
  const sealed = kept === undefined ? '' : `sealed:${kept}`
  if (kind === 'basic') return { kind, username: username ?? '', password: password || sealed }
  return filled({ kind, token_url, client_id, client_secret: client_secret || sealed, scope })
}

function notifyOf({ emails = [], chats = [], language }: DraftFields): Json | undefined {
  const told = chats.flatMap(({ kind, url, kept }) => {
    const address = url || (kept === undefined ? '' : `sealed:${kept}`)
    return kind && address ? [{ kind, url: address }] : []
  })
  if (emails.length + told.length === 0) return undefined
  return filled({
    email: emails.length > 0 ? emails : undefined,
    chat: told.length > 0 ? told : undefined,
    language,
  })
}

function areaOf(area: AreaField | undefined): unknown {
  if (area?.mode === 'text') return area.text || undefined
  if (area?.mode === 'other') return area.other
  const pairs = (area?.pairs ?? []).filter(({ label, value }) => label || value)
  if (area?.mode !== 'pairs' || pairs.length === 0) return undefined
  return pairs.map(({ label = '', value = '' }) => [label, value])
}

function parametersOf({ parameters = [] }: DraftFields): Json | undefined {
  const named = parameters.filter(({ name }) => name?.trim())
  if (named.length === 0) return undefined
  return Object.fromEntries(named.map(({ name, value = '' }) => [name?.trim(), value]))
}

/** The members in which dates and parameters are filled in. */
function fillable({ source_url, source, sheets, title, summary, file_name }: Json): Json {
  const { query: _, ...shown } = (source ?? {}) as Json
  return { source_url, source: shown, sheets, title, summary, file_name }
}

function typed(text: string): Typed | undefined {
  return text.trim() === '' ? undefined : new Typed(text)
}

function filled(members: Json): Json {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== '' && value !== null),
  )
}

function nonEmpty(members: Json): Json | undefined {
  return Object.keys(members).length > 0 ? members : undefined
}

/** JSON of a request, with what was typed in its place. */
export function writeRequest(request: object): string {
  const texts: string[] = []
  const mark = `typed-${Math.random().toString(36).slice(2)}-`
  const json = JSON.stringify(request, (_, value: unknown) => {
    if (!(value instanceof Typed)) return value
    texts.push(value.text)
    return `${mark}${texts.length - 1}`
  })
  return json.replace(
    new RegExp(`"${mark}(\\d+)"`, 'g'),
    (_, index: string) => texts[Number(index)] ?? 'null',
  )
}
