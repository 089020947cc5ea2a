import { expect, test } from 'vitest'
import { formatTraceparent, parseTraceparent } from '../../src/kernel/trace/trace-context.ts'

const GOOD = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

test('a traceparent is read and written as it came', () => {
  expect(formatTraceparent(parseTraceparent(GOOD)!)).toBe(GOOD)
  expect(parseTraceparent(GOOD.replace(/01$/, '00'))?.sampled).toBe(false)
  expect(parseTraceparent(GOOD.replace(/^00/, '01').concat('-more'))?.sampled).toBe(true)
})

test.each<[unknown, string]>([
  ['', 'nothing'],
  [undefined, 'no text'],
  [GOOD.replace(/^00/, 'ff'), 'a version that must not be'],
  [`${GOOD}-more`, 'more than version 00 has'],
  [GOOD.toUpperCase(), 'capitals'],
  [GOOD.replace(/-0af\w+-/, `-${'0'.repeat(32)}-`), 'no trace'],
  [GOOD.replace(/-b7\w+-/, `-${'0'.repeat(16)}-`), 'no span'],
  [GOOD.slice(1), 'too short'],
])('%s is no traceparent: %s', (text, _why) => {
  expect(parseTraceparent(text)).toBeUndefined()
})
