import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { combineCrc32 } from '../../../src/exports/xlsx/zip/crc32-combine.ts'

test('the combined sum is the sum of the joined bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
      const joined = crc32(Buffer.concat([first, second]))
      expect(combineCrc32(crc32(first), crc32(second), second.length)).toBe(joined)
    }),
  )
})

test('lengths beyond 32 bits of bits are no hindrance', () => {
  const zeros = Buffer.alloc(1 << 20)
  let crc = crc32('head')
  let expected = crc
  for (let n = 0; n < 8; n += 1) expected = crc32(zeros, expected)
  crc = combineCrc32(
    crc,
    Array.from({ length: 8 }).reduce<number>((sum) => crc32(zeros, sum), 0),
    8 << 20,
  )
  expect(crc).toBe(expected)
})
