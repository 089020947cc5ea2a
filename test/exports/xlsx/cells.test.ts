import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Book, CellType } from '../../../src/exports/xlsx/index.ts'
import { readWorkbooks, type SeenCell } from './foreign-reader.ts'
import { column, Digits, plan, type Row, type SpoolValue, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

/** One column of values, as openpyxl sees it. */
async function column1(
  type: CellType,
  values: SpoolValue[],
  more: Partial<Book> = {},
): Promise<(SeenCell | undefined)[]> {
  const rows = values.map((value): Row => [value])
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0, type)]), segments: [bench.spool(rows)] }],
    ...more,
  })
  const [sheets] = readWorkbooks(files.map(({ path }) => path))
  return values.map((_, n) => sheets![0]!.cells[`A${n + 1}`])
}

const shown = (cells: (SeenCell | undefined)[]) =>
  cells.map((cell) => (cell ? [cell.type, cell.value] : null))

test('values keep the types that they have in the spool', async () => {
  const values = [
    1,
    -2.5,
    'x',
    '12',
    true,
    false,
    null,
    undefined,
    '',
    new Digits('1e21'),
    new Digits('1.10'),
    '0012',
  ]
  expect(shown(await column1('auto', values))).toEqual([
    ['n', 1],
    ['n', -2.5],
    ['s', 'x'],
    ['s', '12'],
    ['b', true],
    ['b', false],
    null,
    null,
    null,
    ['n', 1e21],
    ['n', 1.1],
    ['s', '0012'],
  ])
})

test('a number of more than 15 digits is a text with every digit', async () => {
  const digits = [
    '12345678901234567890',
    '-1234567890.1234567',
    '123456789012345',
    '0.00000000000000123',
    '1e400',
  ]
  expect(
    shown(
      await column1(
        'number',
        digits.map((text) => new Digits(text)),
      ),
    ),
  ).toEqual([
    ['s', '12345678901234567890'],
    ['s', '-1234567890.1234567'],
    ['n', 123456789012345],
    ['n', 1.23e-15],
    ['s', '1e400'],
  ])
})

test('numeric texts become numbers under a numeric type, and what does not fit stays text', async () => {
  const values = [
    '12',
    ' -3.50 ',
    '+7',
    '007',
    '1e3',
    '.5',
    '1,000',
    '12%',
    'abc',
    '',
    '12345678901234567',
    '5.',
    '-',
  ]
  expect(shown(await column1('number', values))).toEqual([
    ['n', 12],
    ['n', -3.5],
    ['n', 7],
    ['n', 7],
    ['n', 1000],
    ['n', 0.5],
    ['s', '1,000'],
    ['s', '12%'],
    ['s', 'abc'],
    null,
    ['s', '12345678901234567'],
    ['n', 5],
    ['s', '-'],
  ])
})

test('an integer column takes whole numbers only', async () => {
  const cells = await column1('integer', [3, '4', 1.5, '2.5', new Digits('2.0'), new Digits('1e3')])
  expect(shown(cells)).toEqual([
    ['n', 3],
    ['n', 4],
    ['s', '1.5'],
    ['s', '2.5'],
    ['n', 2],
    ['n', 1000],
  ])
  expect(cells[0]!.look.format).toBe('0')
})

test('money and percent are numbers with a format of their own', async () => {
  const [money] = await column1('money', ['1234.5'])
  const [percent] = await column1('percent', [0.125])
  expect([money!.value, money!.look.format]).toEqual([1234.5, '#,##0.00'])
  expect([percent!.value, percent!.look.format]).toEqual([0.125, '0.00%'])
})

test('a string column holds nothing but texts', async () => {
  expect(shown(await column1('string', [1, true, null, 'x', new Digits('1.10')]))).toEqual([
    ['s', '1'],
    ['s', 'true'],
    null,
    ['s', 'x'],
    ['s', '1.10'],
  ])
})

test('a boolean column understands texts', async () => {
  expect(shown(await column1('boolean', [true, 'TRUE', 'false', 'yes', 2]))).toEqual([
    ['b', true],
    ['b', true],
    ['b', false],
    ['s', 'yes'],
    ['n', 2],
  ])
})

test('dates are real dates, with the leap day that Excel makes up in 1900', async () => {
  const values = [
    '2024-02-29',
    '1900-01-01',
    '1900-02-28',
    '1900-03-01',
    '9999-12-31',
    '1899-12-31',
    '2023-02-29',
  ]
  const cells = await column1('date', [...values, '2024-1-1', 20240229, '2024-05-06T23:30:00'])
  expect(shown(cells)).toEqual([
    ['d', { date: '2024-02-29T00:00:00' }],
    ['d', { date: '1900-01-01T00:00:00' }],
    ['d', { date: '1900-02-28T00:00:00' }],
    ['d', { date: '1900-03-01T00:00:00' }],
    ['d', { date: '9999-12-31T00:00:00' }],
    ['s', '1899-12-31'],
    ['s', '2023-02-29'],
    ['s', '2024-1-1'],
    ['n', 20240229],
    ['d', { date: '2024-05-06T00:00:00' }],
  ])
  expect(cells[0]!.look.format).toBe('yyyy-mm-dd')
  expect(cells[8]!.look.format).toBe('General')
})

test('instants are shown on the clock of the time zone, summer time included', async () => {
  const values = [
    '2024-03-31T00:59:59Z',
    '2024-03-31T01:00:00Z',
    '2024-07-01T12:00:00+08:00',
    '2024-07-01 12:00',
    '2024-07-01T12:00:00.250',
    '2024-07-01T12:00:00-0330',
    '2024-07-01T25:00:00Z',
  ]
  const cells = await column1('datetime', values, { timezone: 'Europe/Berlin' })
  expect(shown(cells)).toEqual([
    ['d', { date: '2024-03-31T01:59:59' }],
    ['d', { date: '2024-03-31T03:00:00' }],
    ['d', { date: '2024-07-01T06:00:00' }],
    ['d', { date: '2024-07-01T12:00:00' }],
    ['d', { date: '2024-07-01T12:00:00.250000' }],
    ['d', { date: '2024-07-01T17:30:00' }],
    ['s', '2024-07-01T25:00:00Z'],
  ])
  expect(cells[0]!.look.format).toBe('yyyy-mm-dd hh:mm:ss')
})

test('texts come back as they were, whatever they hold', async () => {
  const values = [
    'a & b < c > d "e"',
    ' led by a blank',
    'trailing\n',
    '\ttab',
    'two\r\nlines',
    '\u0000\u0001\u001f',
    '_x0041_ and _x00',
    '\ufffe\uffff',
    '中文 😀',
    '"',
    '""quoted""',
    ',\n",',
    '</v></c>',
    ']]>',
  ]
  expect(shown(await column1('auto', values))).toEqual(values.map((value) => ['s', value]))
})

test('bytes that are no UTF-8 become replacement characters', async () => {
  const bytes = Buffer.from([0x22, 0x61, 0xff, 0xed, 0xa0, 0x80, 0x22, 0x0a])
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool(bytes)] }],
  })
  const [sheets] = readWorkbooks([files[0]!.path])
  expect(sheets![0]!.cells.A1!.value).toMatch(/^a\ufffd+$/)
})

test('a text longer than a cell may be is cut between characters and reported', async () => {
  const limit = 'x'.repeat(32_767)
  const pairs = `a${'😀'.repeat(16_383)}😀`
  const rows: Row[] = [[limit], [`${limit}y`], [pairs], ['&'.repeat(40_000)], ['中'.repeat(20_000)]]
  const { files, warnings } = await bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool(rows)] }],
  })
  const [sheets] = readWorkbooks([files[0]!.path])
  const values = rows.map((_, n) => sheets![0]!.cells[`A${n + 1}`]!.value)
  expect(values).toEqual([limit, limit, `a${'😀'.repeat(16_383)}`, '&'.repeat(32_767), '中'.repeat(20_000)])
  expect(warnings).toEqual([
    'sheet "Sheet1": 3 texts were longer than 32,767 characters and cut there, the first in A2',
  ])
})

test('columns may take the fields of the spool in any order, and lack some', async () => {
  const columns = [column(2), column(0), column(null), column(7), column(0)]
  const { files } = await bench.write({
    sheets: [
      {
        plan: plan(columns),
        segments: [
          bench.spool([
            [1, 'b,\n', 'c'],
            [4, 'e', 'f'],
          ]),
        ],
      },
    ],
  })
  const { cells } = readWorkbooks([files[0]!.path])[0]![0]!
  expect(Object.fromEntries(Object.entries(cells).map(([at, { value }]) => [at, value]))).toEqual({
    A1: 'c',
    B1: 1,
    E1: 1,
    A2: 'f',
    B2: 4,
    E2: 4,
  })
})

test('a damaged spool is an error, not a short file', async () => {
  const segment = bench.spool([[1], [2]])
  for (const rows of [1, 3]) {
    segment.slices[0]!.rows = rows
    const book = bench.write({ sheets: [{ plan: plan([column(0)]), segments: [segment] }] })
    await expect(book).rejects.toMatchObject({ code: 'SPOOL_DAMAGED' })
  }
})
