import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setCodeLengths, setCodes } from '../../../../src/exports/xlsx/deflate/huffman.ts'

const counts = fc
  .array(fc.oneof(fc.constant(0), fc.nat(5), fc.nat(5000)), { minLength: 2, maxLength: 286 })
  .map((list) => Int32Array.from(list))

function lengthsOf(found: Int32Array, limit: number): Uint8Array {
  const lengths = new Uint8Array(found.length)
  setCodeLengths(lengths, found, limit)
  return lengths
}

test('a code is complete, keeps to its limit, and has a code for every symbol that occurs', () => {
  fc.assert(
    fc.property(counts, fc.integer({ min: 9, max: 15 }), (found, limit) => {
      const lengths = lengthsOf(found, limit)
      const space = lengths.reduce((sum, length) => sum + (length > 0 ? 2 ** -length : 0), 0)
      expect(space).toBe(1)
      expect(Math.max(...lengths)).toBeLessThanOrEqual(limit)
      found.forEach((count, symbol) => {
        if (count > 0) expect(lengths[symbol]).toBeGreaterThan(0)
      })
    }),
  )
})

test('what occurs more often never has the longer code', () => {
  fc.assert(
    fc.property(counts, (found) => {
      const lengths = lengthsOf(found, 15)
      const used = [...found.keys()].filter((symbol) => found[symbol]! > 0)
      used.sort((a, b) => found[a]! - found[b]!)
      for (let n = 1; n < used.length; n += 1) {
        if (found[used[n]!]! > found[used[n - 1]!]!)
          expect(lengths[used[n]!]).toBeLessThanOrEqual(lengths[used[n - 1]!]!)
      }
    }),
  )
})

test('codes are those of the example in the standard', () => {
  const codes = new Int32Array(8)
  setCodes(codes, Uint8Array.of(3, 3, 3, 3, 3, 2, 4, 4))
  const written = [...codes].map((code) =>
    [...(code >>> 4).toString(2).padStart(code & 15, '0')].reverse().join(''),
  )
  expect(written).toEqual(['010', '011', '100', '101', '110', '00', '1110', '1111'])
})
