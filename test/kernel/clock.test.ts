import { expect, test } from 'vitest'
import { readIsoTime } from '../../src/kernel/index.ts'

test('dates and times of ISO 8601 are read', () => {
  expect(readIsoTime('2030-01-31')).toBe(Date.UTC(2030, 0, 31))
  expect(readIsoTime('2030-01-31T12:00Z')).toBe(Date.UTC(2030, 0, 31, 12))
  expect(readIsoTime('2030-01-31T12:00:05.250+02:00')).toBe(Date.UTC(2030, 0, 31, 10, 0, 5, 250))
  expect(readIsoTime('2028-02-29')).toBe(Date.UTC(2028, 1, 29))
})

test.each([
  '',
  '40',
  '90',
  '2030',
  'May 2030',
  '01.02.2030',
  '2030-1-1',
  '2027-02-29',
  '2027-13-01',
  '2030-01-01T25:00Z',
  '2030-01-01Z',
  ' 2030-01-01',
])('nothing is guessed from %j', (text) => expect(readIsoTime(text)).toBeUndefined())
