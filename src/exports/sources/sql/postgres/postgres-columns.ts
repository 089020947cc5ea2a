/** How the text of a value that PostgreSQL sends is written as JSON. */
export type ValueForm = 'plain' | 'number' | 'boolean' | 'time' | 'text'

/** What type a column has in a template, and how its values are written. */
interface PostgresColumn {
  type: string | null
  form: ValueForm
}

const INTEGER: PostgresColumn = { type: 'integer', form: 'plain' }
const NUMBER: PostgresColumn = { type: 'number', form: 'number' }
const TIME: PostgresColumn = { type: 'datetime', form: 'time' }
const JSON_TEXT: PostgresColumn = { type: null, form: 'plain' }
const TEXT: PostgresColumn = { type: 'string', form: 'text' }

/** By the number of the type; all that are not here are texts. */
const BY_OID: Record<number, PostgresColumn> = {
  16: { type: 'boolean', form: 'boolean' },
  20: INTEGER,
  21: INTEGER,
  23: INTEGER,
  26: INTEGER,
  114: JSON_TEXT,
  700: NUMBER,
  701: NUMBER,
  1082: { type: 'date', form: 'text' },
  1114: TIME,
  1184: TIME,
  1700: NUMBER,
  3802: JSON_TEXT,
}

export function postgresColumn(oid: number): PostgresColumn {
  return BY_OID[oid] ?? TEXT
}
