import { hexJson, type SqlColumn } from '../sql-pages.ts'

export type SqliteValue = bigint | number | string | Uint8Array

/** What was declared decides on the type only where SQLite makes values fit it. Dates, for one, may be texts or numbers of any kind. */
const BY_AFFINITY: readonly [RegExp, string][] = [
  [/int/i, 'integer'],
  [/char|clob|text|json/i, 'string'],
  [/real|floa|doub|dec|num/i, 'number'],
  [/^date$/i, 'date'],
  [/^(?:datetime|timestamp)/i, 'datetime'],
]

export function sqliteColumn({ name, type }: { name: string; type: string | null }): SqlColumn<SqliteValue> {
  const found = BY_AFFINITY.find(([form]) => form.test(type ?? ''))
  return { name, type: found?.[1] ?? null, json }
}

/** Each value has a type of its own. */
function json(value: SqliteValue): string {
  switch (typeof value) {
    case 'bigint':
      return value.toString()
    case 'number':
      return Number.isFinite(value) ? String(value) : `"${value}"`
    case 'string':
      return JSON.stringify(value)
    default:
      return hexJson(value)
  }
}
