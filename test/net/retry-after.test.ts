import { expect, test } from 'vitest'
import { parseRetryAfter } from '../../src/net/index.ts'

test.each([
  ['120', 120],
  ['0', 0],
  [' 5 ', 5],
  ['999999', 3_600],
  ['Tue, 01 Jan 2030 00:02:00 GMT', 120],
  ['Tuesday, 01-Jan-30 00:02:00 GMT', 120],
  ['Tue Jan  1 00:02:00 2030', 120],
  ['Mon, 31 Dec 2029 23:59:00 GMT', 0],
  ['Wed, 01 Jan 2031 00:00:00 GMT', 3_600],
  ['-5', undefined],
  ['1.5', undefined],
  ['soon', undefined],
  ['Tue, soon', undefined],
  ['2030-01-01', undefined],
  ['', undefined],
  [null, undefined],
])('Retry-After "%s" means %s seconds', (header, seconds) => {
  expect(parseRetryAfter(header, Date.UTC(2030, 0, 1))).toBe(seconds)
})
