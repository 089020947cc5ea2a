import type { ParseKeys, TFunction } from 'i18next'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'

/** Fields within a field of a request, as the form calls them. What is not here has its own name. */
const NAMES: Record<string, ParseKeys> = {
  rows: 'make.http.rows',
  total: 'make.http.total',
  style: 'make.http.style',
  headers: 'make.access.headers',
  delimiter: 'make.csv.delimiter',
  encoding: 'make.csv.encoding',
  line_end: 'make.csv.line_end',
  decimal: 'make.csv.decimal',
  quote: 'make.csv.quote',
  formulas: 'make.csv.formulas',
  email: 'make.tell.emails',
  chat: 'make.tell.chats',
}

/** A value of a request for people: texts as they are, lists of them in a line, and whatever has names as a list of these. */
export function ReadableValue({ value }: { value: unknown }): ReactNode {
  const { t } = useTranslation()
  if (typeof value !== 'object' || value === null) return plain(value, t)
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null))
    return value.map((item) => plain(item, t)).join(', ')
  const entries = Array.isArray(value) ? value.map((item) => ['', item] as const) : Object.entries(value)
  return (
    <ul className="request-list">
      {entries.map(([name, member], index) => (
        <li key={index}>
          {name !== '' && `${Object.hasOwn(NAMES, name) ? t(NAMES[name] as 'make.http.rows') : name}: `}
          <ReadableValue value={member} />
        </li>
      ))}
    </ul>
  )
}

function plain(value: unknown, t: TFunction): string {
  return typeof value === 'boolean' ? t(value ? 'make.request.yes' : 'make.request.no') : String(value)
}
