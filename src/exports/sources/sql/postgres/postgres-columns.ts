import type { SqlColumn } from '../sql-pages.ts'

/** How the text of a value that PostgreSQL sends becomes JSON, and what type its column has in a template. */
type PostgresColumn = Omit<SqlColumn<string>, 'name'>

const quoted = (text: string): string => JSON.stringify(text)
/** NaN and Infinity are no JSON numbers. */
const number = (text: string): string => (/^-?\d/.test(text) ? text : quoted(text))
const plain = (text: string): string => text
const boolean = (text: string): string => (text === 't' ? 'true' : 'false')

/** `2024-02-29 08:30:15.5+00` as ISO 8601; what has no such form (infinity, BC) stays as it is. */
function time(text: string): string {
  const [, date, clock, zone = ''] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)([+-]\d\d(?::\d\d)?)?$/.exec(text) ?? []
  if (date === undefined) return quoted(text)
  return `"${date}T${clock}${zone.length === 3 ? `${zone}:00` : zone}"`
}

const INTEGER = { type: 'integer', json: plain }
const NUMBER = { type: 'number', json: number }
const TIME = { type: 'datetime', json: time }
const JSON_TEXT = { type: null, json: plain }
const TEXT = { type: 'string', json: quoted }

/** By the number of the type; all that are not here are texts. */
const BY_OID: Record<number, PostgresColumn> = {
  16: { type: 'boolean', json: boolean },
  20: INTEGER,
  21: INTEGER,
  23: INTEGER,
  26: INTEGER,
  114: JSON_TEXT,
  700: NUMBER,
  701: NUMBER,
  1082: { type: 'date', json: quoted },
  1114: TIME,
  1184: TIME,
  1700: NUMBER,
  3802: JSON_TEXT,
}

export function postgresColumn(oid: number): PostgresColumn {
  return BY_OID[oid] ?? TEXT
}
