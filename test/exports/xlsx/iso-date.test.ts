import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readTime } from '../../../src/exports/parquet/read-time.ts'
import { excelSerialMillis, readIsoDate, Timezone } from '../../../src/exports/sheet/index.ts'

const read = (text: string, zone = 'UTC') => {
  const bytes = Buffer.from(text)
  return readIsoDate(bytes, 0, bytes.length, new Timezone(zone))
}

test('every ISO instant is read as JavaScript reads it', () => {
  const dates = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  fc.assert(
    fc.property(dates, (date) => {
      expect(read(date.toISOString())).toBe(date.getTime())
    }),
  )
})

test('the clock of a zone agrees with Intl at every instant', () => {
  const zones = [
    'Asia/Shanghai',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'Africa/Casablanca',
  ]
  const dates = fc.date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(fc.constantFrom(...zones), dates, (timeZone, date) => {
      const shown = new Date(read(date.toISOString(), timeZone)).toISOString().slice(0, 19)
      const parts = new Intl.DateTimeFormat('sv-SE', {
        timeZone,
        dateStyle: 'short',
        timeStyle: 'medium',
      }).format(date)
      expect(shown.replace('T', ' ')).toBe(parts)
    }),
  )
})

test('outer blanks count for nothing, as in numbers', () => {
  const noon = Date.UTC(2024, 1, 29, 12)
  for (const text of [' 2024-02-29T12:00', '2024/02/29 12:00:00   ', '  1709208000 '])
    expect([text, read(text), readTime(text)?.micros]).toEqual([text, noon, BigInt(noon) * 1000n])
  expect(['', '   ', '2024 -02-29'].map((text) => read(text))).toEqual([Number.NaN, Number.NaN, Number.NaN])
})

test('what is no date is none', () => {
  const texts = [
    '2024-02-30',
    '2023-02-29',
    '2024-13-01',
    '2024-00-10',
    '24-01-01',
    '2024/01-01',
    '2024-01-01T',
    '2024-01-01T10',
    '2024-01-01T10:60',
    '2024-01-01T24:00',
    '2024-01-01T10:00:60',
    '2024-01-01T10:00:00.',
    '2024-01-01T10:00:00+8',
    '2024-01-01T10:00:00Zz',
    '2024-01-01x10:00:00',
    '2024-01-011',
    'hello world',
  ]
  expect(texts.filter((text) => !Number.isNaN(read(text)))).toEqual([])
})

test('serials count the leap day that 1900 never had', () => {
  const serial = (text: string) => excelSerialMillis(read(text)) / 86_400_000
  expect(['1900-01-01', '1900-02-28', '1900-03-01', '1970-01-01', '9999-12-31'].map(serial)).toEqual([
    1, 59, 61, 25_569, 2_958_465,
  ])
  expect(serial('1899-12-31')).toBeNaN()
  expect(serial('2024-01-01T12:00:00')).toBe(45_292.5)
})

test('the basic form of ISO 8601 and an offset after a blank are read, in every format', () => {
  const forms: [string, string][] = [
    ['20260228T101010Z', '2026-02-28T10:10:10Z'],
    ['20260228T1010', '2026-02-28T10:10:00Z'],
    ['20260228t101010.5+0200', '2026-02-28T08:10:10.500Z'],
    ['2026-02-28 10:10:10 +02:00', '2026-02-28T08:10:10Z'],
    ['2026-02-28 10:10 Z', '2026-02-28T10:10:00Z'],
  ]
  for (const [text, instant] of forms) {
    expect(read(text), text).toBe(Date.parse(instant))
    expect(readTime(text)?.micros, text).toBe(BigInt(Date.parse(instant)) * 1_000n)
  }
  for (const text of [
    '20260230T101010Z',
    '20260228T10',
    '20260228T1',
    '20260228T10101',
    '20260228T256000',
    '2026-02-28 10:10:10  +02:00',
  ]) {
    expect(read(text), text).toBeNaN()
    expect(readTime(text), text).toBeUndefined()
  }
})
