import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CellType } from '../../../src/exports/sheet/index.ts'
import { readableText } from '../../../src/exports/xlsx/xml-text.ts'
import { readWorkbooks, type SeenCell } from './foreign-reader.ts'
import { column, Digits, plan, type SpoolValue, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

const LONG = /[eE]/

const digits = fc.oneof(
  fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String),
  fc.tuple(fc.integer({ min: -99_999_999, max: 99_999_999 }), fc.nat(9_999_999)).map(([a, b]) => `${a}.${b}`),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.constantFrom(
    '0',
    '-0',
    '0.0',
    '1e5',
    '1E+5',
    '-1.5e-7',
    '0.000000000000000000001',
    '100000000000000000000',
  ),
)
const awkward = fc.constantFrom(
  ' a',
  'a ',
  '\n',
  '\r\n',
  '_x0041_',
  '__x000D_',
  '&lt;',
  '""',
  '"',
  ',',
  '\ufffe',
  'null',
  '12',
  '-1.5',
  '1e3',
  'true',
)
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.array(fc.oneof(awkward, fc.string({ maxLength: 3 })), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.string({
    unit: fc.constantFrom('\u0000', '\u000b', '_', 'x', '0', 'D', '\r', '\n', ' ', 'é', '中', '"'),
    maxLength: 12,
  }),
)
const value: fc.Arbitrary<SpoolValue> = fc.oneof(
  text,
  digits.map((written) => new Digits(written)),
  fc.constantFrom(true, false, null, undefined),
)
const type = fc.constantFrom<CellType>('auto', 'string', 'number', 'integer', 'boolean')
const book = fc.integer({ min: 1, max: 5 }).chain((width) =>
  fc.record({
    types: fc.array(type, { minLength: width, maxLength: width }),
    rows: fc.array(fc.array(value, { minLength: width, maxLength: width }), { maxLength: 8 }),
    slice: fc.integer({ min: 1, max: 4 }),
    top: fc.nat(3),
  }),
)

/** What a reader should see of a value; null: no cell. */
function expected(found: SpoolValue, as: CellType): string | number | boolean | null {
  if (found === null || found === undefined || found === '') return null
  if (typeof found === 'boolean') return as === 'string' ? String(found) : found
  if (found instanceof Digits) return as === 'string' ? found.text : (numberOf(found.text) ?? found.text)
  const written = String(found)
  const shown = readableText(written)
  if (as === 'number' || as === 'integer') return numberOf(written) ?? shown
  if (as === 'boolean' && /^(true|false)$/i.test(written)) return written.toLowerCase() === 'true'
  return shown
}

function numberOf(written: string): number | null {
  if (!/^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$/.test(written)) return null
  if (/^\s*[+-]?0*[1-9]\d{15,}(\.\d*)?\s*$/.test(written)) return null
  const [mantissa = ''] = written.split(LONG)
  const long = mantissa.replace(/\D/g, '').replace(/^0+/, '').length > 15
  const number = long ? Number(Number(written).toPrecision(15)) : Number(written)
  return Number.isFinite(number) && (number === 0 || Math.abs(number) >= 2.2250738585072014e-308)
    ? number
    : null
}

function seen(cell: SeenCell | undefined): unknown {
  // JSON knows no difference between 0 and -0, and neither does Excel.
  return cell === undefined ? null : cell.value === 0 ? 0 : cell.value
}

test('any rows come back from a workbook as they went in', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(book, { minLength: 40, maxLength: 60 }), async (books) => {
      const written = await Promise.all(
        books.map(({ types, rows, slice, top }) =>
          bench.write({
            sheets: [
              {
                plan: plan(
                  types.map((as, field) => column(field, as)),
                  { top: { rows: top, heights: [], cells: [] } },
                ),
                segments: [bench.spool(rows, { slice })],
              },
            ],
          }),
        ),
      )
      const read = await readWorkbooks(written.map(({ files }) => files[0]!.path))
      books.forEach(({ types, rows, top }, n) => {
        const { cells } = read[n]![0]!
        const back = rows.map((_, y) => types.map((_, x) => seen(cells[`${'ABCDE'[x]}${top + y + 1}`])))
        const want = rows.map((row) =>
          row.map((item, x) => expected(item, types[x]!)).map((item) => (item === 0 ? 0 : item)),
        )
        expect(back).toEqual(want)
      })
    }),
    { numRuns: 4, endOnFailure: true },
  )
})
