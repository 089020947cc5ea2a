import { type RawBuilder, sql } from 'kysely'
import type { Ledger } from './ledger.ts'
import { storableText } from './storable-text.ts'

/**
 * Many rows as one parameter, to be selected from as `r`: the statement's text stays the same however many there are,
 * which keeps it cheap to build and lets both ledgers prepare it once.
 */
export function jsonRows<T extends object>(
  dialect: Ledger['dialect'],
  columns: { [K in keyof T]: 'text' | 'bigint' | 'integer' },
  rows: readonly T[],
): RawBuilder<unknown> {
  const text = storable(dialect, rows)
  const names = Object.entries<string>(columns)
  if (dialect === 'postgres') {
    const shape = names.map(([name, type]) => `${name} ${type}`).join(', ')
    return sql`json_to_recordset(cast(${text} as json)) as r(${sql.raw(shape)})`
  }
  const shape = names.map(([name]) => `value ->> '$.${name}' as ${name}`).join(', ')
  return sql`(select ${sql.raw(shape)} from json_each(${text})) as r`
}

/** Whether a column has one of many values: one parameter too, and few rows in the eyes of a planner that cannot count those of `jsonRows`. */
export function isOneOf(
  dialect: Ledger['dialect'],
  column: string,
  values: readonly string[],
): RawBuilder<boolean> {
  if (dialect === 'postgres') return sql`${sql.ref(column)} = any(${values})`
  return sql`${sql.ref(column)} in (select value from json_each(${JSON.stringify(values)}))`
}

/** Neither ledger takes a NUL or half of a surrogate pair out of JSON; PostgreSQL not even out of JSON within it, where triggers look. */
function storable(dialect: Ledger['dialect'], rows: readonly object[]): string {
  const text = JSON.stringify(rows)
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text
  return JSON.stringify(rows, (_, value) => {
    if (typeof value !== 'string') return value
    return (dialect === 'postgres' ? storableText(value) : value.replaceAll('\0', '\ufffd')).toWellFormed()
  })
}
