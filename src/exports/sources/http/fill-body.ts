import { plainKey } from '../../../kernel/index.ts'

/** What is filled in; a cursor is JSON as the source wrote it, so that long numbers keep their digits. */
export interface Filling {
  page: number
  pageSize: number
  cursor: string | null
}

const WHOLE = /^\{\{\s*(page|page_size|cursor)\s*\}\}$/
const PART = /\{\{\s*(page|page_size|cursor)\s*\}\}/g

/**
 * The body as JSON, with its marks filled in. A text that is nothing but a mark becomes the value itself, a number or
 * whatever the cursor is; a member that is nothing but a cursor is left out while there is none.
 */
export function fillBody(body: unknown, filling: Filling): string {
  const text = fill(body, filling)
  return text ?? 'null'
}

function fill(value: unknown, filling: Filling): string | undefined {
  if (typeof value === 'string') return fillString(value, filling)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => fill(item, filling) ?? 'null').join(',')}]`
  const members = Object.entries(value).flatMap(([key, member]) => {
    const text = fill(member, filling)
    return text === undefined ? [] : [`${JSON.stringify(plainKey(key))}:${text}`]
  })
  return `{${members.join(',')}}`
}

function fillString(value: string, filling: Filling): string | undefined {
  const [, whole] = WHOLE.exec(value) ?? []
  if (whole === 'cursor') return filling.cursor ?? undefined
  if (whole !== undefined) return filledWith(whole, filling)
  return JSON.stringify(fillText(value, filling))
}

/** A text with its marks filled in. */
export function fillText(text: string, filling: Filling): string {
  return text.replace(PART, (_, name: string) => filledWith(name, filling))
}

function filledWith(name: string, { page, pageSize, cursor }: Filling): string {
  if (name === 'page') return String(page)
  return name === 'page_size' ? String(pageSize) : cursor === null ? '' : textOfJson(cursor)
}

/** A cursor as a text: a JSON string without its quotes, anything else as it is written. */
export function textOfJson(json: string): string {
  return json.startsWith('"') ? String(JSON.parse(json)) : json
}

/** Which marks a body has. */
export function marksOf(body: unknown): Set<string> {
  if (body === undefined) return new Set()
  return new Set([...JSON.stringify(body).matchAll(PART)].map(([, name]) => name!))
}

export function hasCursor(body: unknown): boolean {
  return marksOf(body).has('cursor')
}

export function withSearchAfter(body: object): object {
  return { track_total_hits: true, ...body, size: '{{page_size}}', search_after: '{{cursor}}' }
}
