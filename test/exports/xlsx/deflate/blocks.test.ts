import { constants, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BlockCodes } from '../../../../src/exports/xlsx/deflate/block-codes.ts'
import { setBlockCodes, TARGET, writeBlock } from '../../../../src/exports/xlsx/deflate/block-writer.ts'
import { MARKS, markKind, XML } from '../../../../src/exports/xlsx/deflate/index.ts'
import { matchRows } from '../../../../src/exports/xlsx/deflate/row-matcher.ts'

const SYNC = { finishFlush: constants.Z_SYNC_FLUSH }

/** Puts bytes and marks where the encoder would. Gives the number of tokens. */
function findTokens(plain: Uint8Array, marks: readonly number[] = []): number {
  XML.fill(0)
  XML.set(plain)
  MARKS.set(marks)
  return matchRows(plain.length, marks.length)
}

function roundTrip(plain: Uint8Array, marks: readonly number[] = []): { back: Buffer; bytes: number } {
  const count = findTokens(plain, marks)
  const codes = new BlockCodes()
  codes.fit(plain.length, count)
  const bytes = writeBlock(setBlockCodes(codes), plain.length, count)
  return { back: inflateRawSync(TARGET.subarray(0, bytes), SYNC), bytes }
}

function expectBack(plain: Uint8Array, marks: readonly number[] = []): number {
  const { back, bytes } = roundTrip(plain, marks)
  expect(Buffer.compare(back, plain)).toBe(0)
  return bytes
}

interface Cell {
  column: number
  value: string
}

/** XML as the encoder writes it, with its marks. */
function writeRows(rows: readonly Cell[][], opening = '"><v>'): { plain: Buffer; marks: number[] } {
  const marks: number[] = []
  let xml = ''
  let valueEnd = 0
  const mark = (column: number, kind: number, behind: string) => {
    marks.push(valueEnd, xml.length, xml.length + behind.length, markKind(column, kind))
    xml += behind
    valueEnd = xml.length
  }
  rows.forEach((cells, n) => {
    xml += `<row r="${n + 1}`
    mark(0, 0, '">')
    for (const { column, value } of cells) {
      xml += `<c r="${String.fromCharCode(65 + column)}${n + 1}`
      mark(column + 1, 1, opening)
      xml += value
      valueEnd = xml.length
      xml += '</v></c>'
    }
    xml += '</row>'
  })
  return { plain: Buffer.from(xml, 'latin1'), marks }
}

const fewBytes = fc.array(fc.constantFrom(0, 1, 97, 98, 255), { maxLength: 600 })
const anyBytes = fc.oneof(fewBytes, fc.array(fc.nat(255), { maxLength: 600 }))

test('any bytes with any marks come back, however wrong the marks are', () => {
  const block = anyBytes.chain((bytes) => {
    const place = fc.nat(bytes.length)
    const mark = fc.tuple(place, place, place, fc.nat(markKind(3, 3)))
    return fc.record({ bytes: fc.constant(bytes), marks: fc.array(mark, { maxLength: 60 }) })
  })
  fc.assert(
    fc.property(block, ({ bytes, marks }) => {
      expectBack(Uint8Array.from(bytes), marks.flat())
    }),
    { numRuns: 2000 },
  )
})

test('any rows come back', () => {
  const value = fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'b', '0', '9'), maxLength: 12 }),
    fc.constantFrom('paid', 'pending', 'deliver to the back door', 'x'.repeat(300), ''),
  )
  const cell = fc.record({ column: fc.nat(4), value })
  fc.assert(
    fc.property(fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 40 }), (rows) => {
      const { plain, marks } = writeRows(rows)
      expectBack(plain, marks)
    }),
    { numRuns: 500 },
  )
})

test('no bytes at all, one byte, and one byte over and over', () => {
  expectBack(Uint8Array.of())
  expectBack(Uint8Array.of(60))
  expectBack(new Uint8Array(100_000).fill(97))
})

test('bytes that do not shrink hardly grow', () => {
  let seed = 1
  const noise = Uint8Array.from({ length: 200_000 }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed >>> 24
  })
  expect(expectBack(noise)).toBeLessThan(noise.length * 1.02)
})

test('bytes that ask for codes of any length get codes that fit', () => {
  const counts = [1, 1]
  while (counts.length < 24) counts.push(counts.at(-1)! + counts.at(-2)!)
  const plain = Buffer.concat(counts.map((count, byte) => Buffer.alloc(count, byte)))
  expectBack(plain)
})

test('rows longer than a distance can reach come back, and still shrink', () => {
  const cells = Array.from({ length: 26 }, (_, column) => ({ column, value: `${column}`.repeat(1200) }))
  const { plain, marks } = writeRows([cells, cells, cells])
  expect(plain.length / 3).toBeGreaterThan(32_768)
  expect(expectBack(plain, marks)).toBeLessThan(plain.length / 2)
})

test('values as long as a cell may hold come back, as matches and as literals', () => {
  const long = (text: string) => [{ column: 0, value: text.repeat(Math.ceil(32_767 / text.length)) }]
  const { plain, marks } = writeRows([long('ab'), long('ab'), long('the quick brown fox'), long('ab')])
  expectBack(plain, marks)
})

test('markup and equal values cost next to nothing', () => {
  const rows = Array.from({ length: 2000 }, (_, n) => [
    { column: 0, value: n % 3 === 0 ? 'refunded' : 'cancelled' },
    { column: 1, value: 'the same in every row' },
  ])
  const { plain, marks } = writeRows(rows, '" s="4" t="str"><v>')
  expect(expectBack(plain, marks)).toBeLessThan(plain.length / 12)
})

test('blocks that follow one another are one stream', () => {
  const { plain, marks } = writeRows([[{ column: 0, value: 'first' }], [{ column: 0, value: 'second' }]])
  const count = findTokens(plain, marks)
  const codes = new BlockCodes()
  codes.fit(plain.length, count)
  const start = setBlockCodes(codes)
  const blocks = [1, 2, 3].map(() => TARGET.slice(0, writeBlock(start, plain.length, count)))
  const back = inflateRawSync(Buffer.concat([...blocks, Uint8Array.of(3, 0)]))
  expect(back).toEqual(Buffer.concat([plain, plain, plain]))
})

test('codes of another block are refused when they lack a symbol, and only then', () => {
  const codes = new BlockCodes()
  const write = (text: string) => {
    const plain = Buffer.from(text)
    return writeBlock(start, plain.length, findTokens(plain))
  }
  codes.fit(6, findTokens(Buffer.from('abcabc')))
  let start = setBlockCodes(codes)
  expect(write('cab')).toBeGreaterThan(0)
  expect(write('cabd')).toBe(-1)
  codes.fit(4, findTokens(Buffer.from('dddd')))
  start = setBlockCodes(codes)
  expect(write('cabd')).toBeGreaterThan(0)
})
