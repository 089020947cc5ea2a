import { expect, test } from 'vitest'
import { decideKind } from '../../../src/exports/parquet/column-kind.ts'
import { addScans, emptyScan, scanField } from '../../../src/exports/parquet/column-scan.ts'
import { readTime } from '../../../src/exports/parquet/read-time.ts'
import { RecordReader } from '../../../src/exports/records/index.ts'
import type { CellType } from '../../../src/exports/sheet/index.ts'

function kindOf(type: CellType, ...fields: string[]) {
  return decideKind(type, scanOf(type, ...fields)).kind
}

function scanOf(type: CellType, ...fields: string[]) {
  const scans = fields.map((field) => {
    const scan = emptyScan()
    const reader = new RecordReader(Buffer.from(`${field}\n`))
    reader.begin()
    reader.next()
    scanField(scan, type, reader)
    return scan
  })
  return scans.reduce(addScans, emptyScan())
}

test('the type of numbers is the smallest that keeps all of their digits', () => {
  expect(kindOf('auto', '1', '-9223372036854775807')).toEqual({ is: 'int64' })
  expect(kindOf('auto', '-9223372036854775808')).toEqual({ is: 'int64' })
  expect(kindOf('auto', '-9223372036854775809')).toMatchObject({ is: 'decimal' })
  expect(kindOf('auto', '9223372036854775808')).toEqual({ is: 'decimal', precision: 19, scale: 0 })
  expect(kindOf('auto', '1', '0.25', '1e3')).toEqual({ is: 'double' })
  expect(kindOf('auto', '0.1', '12345678901234567.5')).toEqual({ is: 'decimal', precision: 18, scale: 1 })
  expect(kindOf('auto', '1'.repeat(39))).toEqual({ is: 'text' })
  expect(kindOf('auto', '1e400')).toEqual({ is: 'text' })
  expect(kindOf('auto', '1e-400')).toEqual({ is: 'text' })
  expect(kindOf('auto', '0e-400')).toEqual({ is: 'double' })
  expect(kindOf('integer', '1', '"2"')).toEqual({ is: 'int64' })
  expect(kindOf('integer', '1', '"02"')).toEqual({ is: 'text' })
  expect(kindOf('money', '1')).toEqual({ is: 'double' })
})

test('numbers that a double keeps are doubles, however they are written, and others have all of their digits', () => {
  expect(kindOf('auto', '0.30000000000000004', `${Math.PI / 1e7}`, '1e21')).toEqual({ is: 'double' })
  expect(kindOf('money', '123456789.19000001')).toEqual({ is: 'double' })
  expect(kindOf('number', '12345678901234567.5', '1.5e3', '2E-2')).toEqual({
    is: 'decimal',
    precision: 19,
    scale: 2,
  })
  expect(kindOf('integer', '1.0', '2e3', '"3.00"')).toEqual({ is: 'int64' })
  expect(kindOf('integer', '1.5')).toEqual({ is: 'double' })
  expect(kindOf('auto', '1.0')).toEqual({ is: 'double' })
})

test('an empty text has no type where one is asked for, and a link is a text', () => {
  for (const type of ['integer', 'money', 'date', 'boolean'] as const)
    expect(kindOf(type, '""', 'null')).toEqual(kindOf(type))
  expect(kindOf('integer', '""', '7')).toEqual({ is: 'int64' })
  expect(decideKind('link', scanOf('link', '"https://a.example"', '""'))).toEqual({ kind: { is: 'text' } })
})

test('dates are read in all forms that the other formats read, and an instant has a date', () => {
  const forms = [
    '"2024/02/29"',
    '20240229',
    '"20240229"',
    '1709210096',
    '1709210096000',
    '"2024-02-29T08:00:00Z"',
  ]
  for (const form of forms) expect(kindOf('date', form), form).toEqual({ is: 'date' })
  expect(kindOf('datetime', '1709210096', '"1709210096123"', '"2024/02/29 08:00Z"')).toEqual({
    is: 'timestamp',
    utc: true,
  })
  expect(readTime('1709210096')?.micros).toBe(1_709_210_096_000_000n)
  expect(kindOf('date', '7')).toEqual({ is: 'text' })
  expect(kindOf('date', '"2024-02/29"')).toEqual({ is: 'text' })
})

test('values of one type have it, different ones are text, and nothing at all is what the template says', () => {
  expect(kindOf('auto', 'true', 'null', '')).toEqual({ is: 'boolean' })
  expect(kindOf('auto', 'j"{""a"":1}"')).toEqual({ is: 'json' })
  expect(kindOf('auto', '"{}"', 'j"{}"')).toEqual({ is: 'text' })
  expect(kindOf('auto', 'true', '1')).toEqual({ is: 'text' })
  expect(kindOf('string', '1')).toEqual({ is: 'text' })
  expect(kindOf('boolean', '1')).toEqual({ is: 'text' })
  expect(kindOf('auto', 'null')).toEqual({ is: 'text' })
  expect(kindOf('integer')).toEqual({ is: 'int64' })
  expect(kindOf('datetime')).toEqual({ is: 'timestamp', utc: true })
})

test('times with and without an offset are not mixed up', () => {
  expect(kindOf('datetime', '"2024-01-01T00:00:00Z"', '"2024-01-01 00:00:00+08"')).toEqual({
    is: 'timestamp',
    utc: true,
  })
  expect(kindOf('datetime', '"2024-01-01T00:00:00"', '"2024-01-01"')).toEqual({ is: 'timestamp', utc: false })
  expect(kindOf('datetime', '"2024-01-01T00:00:00"', '"2024-01-01T00:00:00Z"')).toEqual({ is: 'text' })
  expect(kindOf('date', '"2024-01-01"', '"2024-02-30"')).toEqual({ is: 'text' })
})

test('a time is read to the microsecond, and cut to it if it has more', () => {
  expect(readTime('1970-01-01T00:00:00.000001Z')?.micros).toBe(1n)
  expect(readTime('1970-01-01T08:00:00+08:00')?.micros).toBe(0n)
  expect(readTime('1969-12-31T23:59:59.999999Z')?.micros).toBe(-1n)
  expect(readTime('0099-01-01')?.micros).toBe(BigInt(Date.parse('0099-01-01')) * 1000n)
  expect(readTime('1970-01-01T00:00:00.0000019Z')?.micros).toBe(1n)
  expect(readTime('1970-01-01T24:00:00Z')).toBeUndefined()
  expect(readTime('2023-02-29')).toBeUndefined()
})

test('a mail address needs somebody to write to', () => {
  const links = ['"mailto:"', '"mailto:?subject=x"', '"mailto:a@example.com"', '"https://a.example"']
  expect(scanOf('link', ...links).strays).toBe(2)
})
