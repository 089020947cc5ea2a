import { checkedJson, hexJson, type SqlColumn } from '../sql-pages.ts'

/** A value as mysql2 reads it from the binary protocol, with its options for big numbers, dates and JSON as text. */
export type MysqlValue = string | number | Uint8Array | object

/** What the server says of a column. */
export interface MysqlField {
  name: string
  columnType?: number | undefined
  characterSet?: number | undefined
  /** Characters that the server shows of it. */
  columnLength?: number | undefined
  flags?: number | string[] | undefined
  /** MariaDB's, where a column is text with a check. */
  extendedFormat?: string | undefined
}

type Column = Omit<SqlColumn<MysqlValue>, 'name'>

const quoted = (value: MysqlValue): string => JSON.stringify(value)
const plain = (value: MysqlValue): string => String(value)

/** The shortest number that is this FLOAT: it has 24 bits, and all digits of the double that it is read as would be noise. */
function float(value: MysqlValue): string {
  for (let digits = 6; digits <= 9; digits++) {
    const short = Number((value as number).toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(value)
}

/** `2024-02-29 08:30:15.5` as ISO 8601. Dates that do not exist (0000-00-00) stay as they are. */
function time(zone: string) {
  return (value: MysqlValue): string => {
    const text = String(value)
    return /^\d{4}-(?!00)\d\d-(?!00)\d\d /.test(text) ? `"${text.replace(' ', 'T')}${zone}"` : quoted(text)
  }
}

function bits(value: MysqlValue): string {
  const hex = Buffer.from(value as Uint8Array).toString('hex')
  return hex === '' ? '0' : BigInt(`0x${hex}`).toString()
}

function text(value: MysqlValue): string {
  return value instanceof Uint8Array ? hexJson(value) : quoted(value)
}

const INTEGER: Column = { type: 'integer', json: plain }
const NUMBER: Column = { type: 'number', json: plain }
const DATE: Column = { type: 'date', json: quoted }
const TEXT: Column = { type: 'string', json: text }
const NESTED: Column = { type: null, json: (value) => checkedJson(String(value)) }
/** Shapes and vectors, which mysql2 reads as objects. */
const SHAPE: Column = { type: null, json: text }

/** By the number of the type in the protocol; all that are not here are texts or bytes. */
const BY_TYPE: Record<number, Column> = {
  0: NUMBER,
  1: INTEGER,
  2: INTEGER,
  3: INTEGER,
  4: { type: 'number', json: float },
  5: { type: 'number', json: plain },
  7: { type: 'datetime', json: time('+00:00') },
  8: INTEGER,
  9: INTEGER,
  10: DATE,
  12: { type: 'datetime', json: time('') },
  13: INTEGER,
  14: DATE,
  16: { type: 'integer', json: bits },
  242: SHAPE,
  245: NESTED,
  246: NUMBER,
  255: SHAPE,
}

const ZEROFILL = 64
/** The server marks each YEAR so. */
const YEAR = 13

export function mysqlColumn(field: MysqlField): SqlColumn<MysqlValue> {
  const { name, columnType = 253, extendedFormat, flags = 0 } = field
  const column = extendedFormat === 'json' ? NESTED : (BY_TYPE[columnType] ?? TEXT)
  const isFilled = (Number(flags) & ZEROFILL) !== 0 && columnType !== YEAR
  return { name, ...(isFilled ? filled(column, field) : column) }
}

/** Zeros in front are no part of a number in JSON, and were asked for: such a column holds codes. */
function filled({ json }: Column, { columnLength = 0 }: MysqlField): Column {
  return { type: 'string', json: (value) => quoted(json(value).padStart(columnLength, '0')) }
}
