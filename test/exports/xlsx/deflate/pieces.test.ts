import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32, inflateRawSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeRandom, makeRow } from '../../../../bench/exports/xlsx/rows.ts'
import { compileCondition } from '../../../../src/exports/condition/index.ts'
import { type EncodedPiece, makeRecipe, PieceEncoder } from '../../../../src/exports/xlsx/encode/index.ts'
import { StyleBook } from '../../../../src/exports/xlsx/parts/index.ts'
import { DEFLATE_END, deflateInto, emptyBlock } from '../../../../src/exports/xlsx/zip/deflate-block.ts'
import { column, plan } from '../spool-fixture.ts'

type Value = string | number

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wharf-pieces-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Encodes rows as one piece, or as many small ones, which are left to zlib. */
function setup(rows: Value[][]) {
  const path = join(folder, 'spool.csv')
  const lines = rows.map((row) => `${row.map(spoolField).join(',')}\n`)
  writeFileSync(path, lines.join(''))
  const columns = rows[0]!.map((_, field) => column(field))
  const recipe = makeRecipe(plan(columns), { styles: new StyleBook(), timezone: 'UTC', widths: [] })
  const encoder = new PieceEncoder(compileCondition)
  const encode = (first: number, end: number) => {
    const bytes = (from: number, to: number) => Buffer.byteLength(lines.slice(from, to).join(''))
    const source = { path, offset: bytes(0, first), bytes: bytes(first, end), skip: 0, toEnd: true }
    return encoder.encode({ recipe, source, rows: end - first, firstRow: 990 + first, heads: [] })
  }
  return {
    whole: () => encode(0, rows.length),
    inSmallPieces: (size: number) =>
      Buffer.concat(
        rows.flatMap((_, n) => (n % size === 0 ? [plainOf(encode(n, Math.min(n + size, rows.length)))] : [])),
      ),
  }
}

function spoolField(value: Value): string {
  return typeof value === 'number' ? String(value) : `"${value.replaceAll('"', '""')}"`
}

function plainOf(piece: EncodedPiece): Buffer {
  const plain = inflateRawSync(Buffer.concat([...piece.chunks, DEFLATE_END]))
  expect(plain.length).toBe(piece.plainBytes)
  expect(crc32(plain)).toBe(piece.crc)
  expect(piece.chunks.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(piece.bytes)
  return plain
}

/** Size of a piece in terms of what zlib makes of the same XML. */
function comparedToZlib(piece: EncodedPiece): number {
  const block = emptyBlock()
  deflateInto(block, plainOf(piece))
  return piece.bytes / block.bytes
}

function orders(count: number): Value[][] {
  const random = makeRandom()
  return Array.from({ length: count }, (_, n) => makeRow(n, random))
}

const WORDS = 'all is well that ends and the quick brown fox jumps over a lazy dog while rain falls'.split(
  ' ',
)

function prose(count: number, words: number): Value[][] {
  const random = makeRandom()
  const text = () => Array.from({ length: words }, () => WORDS[Math.floor(random() * WORDS.length)]).join(' ')
  return Array.from({ length: count }, (_, n) => [n, text()])
}

test('a large piece holds the same XML as many small ones', () => {
  const { whole, inSmallPieces } = setup(orders(8000))
  const piece = whole()
  expect(piece.plainBytes).toBeGreaterThan(3_000_000)
  expect(plainOf(piece).equals(inSmallPieces(100))).toBe(true)
})

test('ordinary rows take no more room than with zlib', () => {
  expect(comparedToZlib(setup(orders(8000)).whole())).toBeLessThan(1)
})

test('texts with blanks around them take hardly more room than with zlib', () => {
  const padded = orders(8000).map((row) => row.map((value) => String(value).padEnd(20)))
  expect(comparedToZlib(setup(padded).whole())).toBeLessThan(1.02)
})

test('long texts, in which only a search finds what repeats, take hardly more room than with zlib', () => {
  for (const words of [10, 40, 400])
    expect(comparedToZlib(setup(prose(200_000 / words, words)).whole())).toBeLessThan(1.1)
})

test('rows that change their nature midway come back, and take hardly more room than with zlib', () => {
  const rows = [...prose(4000, 40), ...orders(8000).map(([id, number]) => [id!, number!]), ...prose(4000, 40)]
  const { whole, inSmallPieces } = setup(rows)
  const piece = whole()
  expect(plainOf(piece).equals(inSmallPieces(100))).toBe(true)
  expect(comparedToZlib(piece)).toBeLessThan(1.1)
})

test('a piece is the same bytes whatever its thread did before', () => {
  const { whole } = setup(orders(3000))
  const first = whole()
  setup(prose(2000, 40)).whole()
  const { whole: again } = setup(orders(3000))
  expect(Buffer.concat(again().chunks).equals(Buffer.concat(first.chunks))).toBe(true)
})
