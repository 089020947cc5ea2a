import { type RawBuilder, sql } from 'kysely'
import type { Ledger } from './ledger.ts'

/**
 * Many rows as one parameter, to be selected from as `r`: the statement's text stays the same however many there are,
 * which keeps it cheap to build and lets both ledgers prepare it once.
 */
export function jsonRows<T extends object>(
  dialect: Ledger['dialect'],
  columns: { [K in keyof T]: 'text' | 'bigint' | 'integer' },
  rows: readonly T[],
): RawBuilder<unknown> {
  const text = storable(rows)
  const names = Object.entries<string>(columns)
  if (dialect === 'postgres') {
    const shape = names.map(([name, type]) => `${name} ${type}`).join(', ')
    return sql`json_to_recordset(cast(${text} as json)) as r(${sql.raw(shape)})`
  }
  const shape = names.map(([name]) => `value ->> '$.${name}' as ${name}`).join(', ')
  return sql`(select ${sql.raw(shape)} from json_each(${text})) as r`
}

/** PostgreSQL reads no NUL and no half of a surrogate pair out of JSON. The text may have them only in such escapes. */
function storable(rows: readonly object[]): string {
  const text = JSON.stringify(rows)
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text
  return JSON.stringify(rows, (_, value) =>
    typeof value === 'string' ? value.replaceAll('\0', '\ufffd').toWellFormed() : value,
  )
}
