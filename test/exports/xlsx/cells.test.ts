import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CellType } from '../../../src/exports/sheet/index.ts'
import type { Book } from '../../../src/exports/xlsx/write-workbook.ts'
import { Office, SOFFICE } from '../libreoffice/office.ts'
import { readParts, readWorkbooks, type SeenCell } from './foreign-reader.ts'
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
  const [sheets] = await readWorkbooks(files.map(({ path }) => path))
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

test('only long integers become texts; fractions are rounded to 15 digits', async () => {
  const seen = [
    ['12345678901234567890', ['s', '12345678901234567890']],
    ['1234567890123456.5', ['s', '1234567890123456.5']],
    ['-1234567890.1234567', ['n', -1234567890.12346]],
    ['0.30000000000000004', ['n', 0.3]],
    ['95.18810000000001', ['n', 95.1881]],
    ['1.2345678901234567e+30', ['n', 1.23456789012346e30]],
    ['123456789012345', ['n', 123456789012345]],
    ['12.3400000000000000', ['n', 12.34]],
    ['-0.05000000000000000000', ['n', -0.05]],
    ['12.00000000000000000000', ['n', 12]],
    ['100.0000000000000000', ['n', 100]],
    ['0.00000000000000000000', ['n', 0]],
    ['0.00000000000000123', ['n', 1.23e-15]],
    ['1e400', ['s', '1e400']],
    ['1e-310', ['s', '1e-310']],
  ] as const
  for (const type of ['auto', 'number', 'money', 'percent', 'integer'] as const)
    expect(
      shown(
        await column1(
          type,
          seen.map(([text]) => new Digits(text)),
        ),
      ),
    ).toEqual(seen.map(([, cell]) => cell))
  const texts = seen.map(([text]) => text)
  expect(shown(await column1('money', texts))).toEqual(seen.map(([, cell]) => cell))
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

test('an integer column shows a number that is not whole as it is', async () => {
  const cells = await column1('integer', [3, '4', 1.5, '2.5', new Digits('2.0'), new Digits('1e3')])
  expect(shown(cells)).toEqual([
    ['n', 3],
    ['n', 4],
    ['n', 1.5],
    ['n', 2.5],
    ['n', 2],
    ['n', 1000],
  ])
  expect(cells.map((cell) => cell!.look.format)).toEqual(['0', '0', 'General', 'General', '0', '0'])
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
  const cells = await column1('date', [...values, '2024-1-1', 20240230, '2024-05-06T23:30:00'])
  expect(shown(cells)).toEqual([
    ['d', { date: '2024-02-29T00:00:00' }],
    ['d', { date: '1900-01-01T00:00:00' }],
    ['d', { date: '1900-02-28T00:00:00' }],
    ['d', { date: '1900-03-01T00:00:00' }],
    ['d', { date: '9999-12-31T00:00:00' }],
    ['s', '1899-12-31'],
    ['s', '2023-02-29'],
    ['s', '2024-1-1'],
    ['n', 20240230],
    ['d', { date: '2024-05-06T00:00:00' }],
  ])
  expect(cells[0]!.look.format).toBe('yyyy-mm-dd')
  expect(cells[8]!.look.format).toBe('General')
})

test('dates with slashes, of eight digits, and seconds or milliseconds since 1970 are read', async () => {
  const values = [
    '2026/02/28',
    '2026/02/28 08:30:15',
    '2026/02-28',
    '20260228',
    20260228,
    '20260230',
    1772238615,
    '1772238615',
    999999999,
    1772238615250,
    '177223861525',
    17722386152,
    '0123456789',
    -177223861,
    new Digits('1772238615.5'),
  ]
  const cells = await column1('datetime', values, { timezone: 'Asia/Shanghai' })
  expect(shown(cells)).toEqual([
    ['d', { date: '2026-02-28T00:00:00' }],
    ['d', { date: '2026-02-28T08:30:15' }],
    ['s', '2026/02-28'],
    ['d', { date: '2026-02-28T00:00:00' }],
    ['d', { date: '2026-02-28T00:00:00' }],
    ['s', '20260230'],
    ['d', { date: '2026-02-28T08:30:15' }],
    ['d', { date: '2026-02-28T08:30:15' }],
    ['d', { date: '2001-09-09T09:46:39' }],
    ['d', { date: '2026-02-28T08:30:15' }],
    ['d', { date: '1975-08-14T12:51:01' }],
    ['n', 17722386152],
    ['s', '0123456789'],
    ['n', -177223861],
    ['n', 1772238615.5],
  ])
  expect(cells[11]!.look.format).toBe('General')
})

test('what is empty, does not fit its type, is cut or is longest is counted by column', async () => {
  const rows: Row[] = [
    [1, 'one', '2026-01-02', true, '中文😀"quoted"', 1],
    ['2', null, 'soon', 'yes', 'x'.repeat(33_000), new Digits('12345678901234567')],
    ['many', undefined, 12, 7, '', 'text'],
    [new Digits('12345678901234567'), '', true, false, null, 0.1],
    [1.5, 'three', '', 'true', 'a\u0001b', true],
  ]
  const types: CellType[] = ['integer', 'string', 'date', 'boolean', 'auto', 'auto']
  const book = {
    sheets: [
      {
        plan: plan(types.map((type, field) => column(field, type))),
        segments: [bench.spool(rows, { slice: 2 })],
      },
    ],
  }
  const { counts, warnings } = await bench.write(book)
  expect(counts).toEqual([
    [
      { nulls: 0, misfits: 3, long: 1, rounded: 0, escaped: 0, cuts: 0, longest: 17 },
      { nulls: 3, misfits: 0, long: 0, rounded: 0, escaped: 0, cuts: 0, longest: 5 },
      { nulls: 1, misfits: 3, long: 0, rounded: 0, escaped: 0, cuts: 0, longest: 4 },
      { nulls: 0, misfits: 2, long: 0, rounded: 0, escaped: 0, cuts: 0, longest: 3 },
      { nulls: 2, misfits: 0, long: 0, rounded: 0, escaped: 0, cuts: 1, longest: 33_000 },
      { nulls: 0, misfits: 1, long: 1, rounded: 0, escaped: 0, cuts: 0, longest: 17 },
    ],
  ])
  expect(warnings).toEqual([expect.stringContaining('cut there'), expect.stringContaining('control')])
  // Rows that are written anew in another file count once.
  const split = await bench.write({ ...book, maxRows: 1 })
  expect(split.counts).toEqual(counts)
})

test('numbers that lose cents are counted, and no others', async () => {
  const lost = ['99999999999999.99', '-12345678901234.56', '999999999999999.5', '12345678901234.055']
  const kept = [
    '0.30000000000000004',
    '119.00000000000001',
    '1234567890123.45',
    '1234567890123.4567',
    '12345678901234.5',
    '12345678901234.5001',
    '12345678901234.4999',
    '123456789012345.00',
    '123456789012345.0001',
    '1.234567890123456e+20',
    '12345678901234567890',
  ]
  for (const type of ['money', 'number', 'percent', 'auto'] as const) {
    for (const values of [lost, kept]) {
      const texts: Row[] = type === 'auto' ? [] : values.map((text) => [text])
      const rows: Row[] = [...texts, ...values.map((text) => [new Digits(text)])]
      const { counts } = await bench.write({
        sheets: [{ plan: plan([column(0, type)]), segments: [bench.spool(rows)] }],
      })
      expect(counts[0]![0]!.rounded, type).toBe(values === lost ? rows.length : 0)
    }
  }
})

test('the longest text is counted in characters, whatever their bytes', async () => {
  const texts = ['ab', '中文字', 'éa', '😀😀', 'a"b"c', '中中中中中中中', '😀😀😀😀', 'abcdefgh'] as const
  for (let n = 1; n <= texts.length; n++) {
    const { counts } = await bench.write({
      sheets: [{ plan: plan([column(0)]), segments: [bench.spool(texts.slice(0, n).map((text) => [text]))] }],
    })
    expect(counts[0]![0]!.longest).toBe(Math.max(...texts.slice(0, n).map(({ length }) => length)))
  }
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
    ['d', { date: '2024-07-01T12:00:00' }],
    ['d', { date: '2024-07-01T17:30:00' }],
    ['s', '2024-07-01T25:00:00Z'],
  ])
  expect(cells[0]!.look.format).toBe('yyyy-mm-dd hh:mm:ss')
})

/** Letter by letter in both readers; where a workbook cannot hold a text as it is, what stands for it. */
const TEXTS: [given: string, seen?: string][] = [
  ['a & b < c > d "e"'],
  [' led by a blank'],
  ['trailing\n'],
  ['\ttab'],
  ['two\r\nlines', 'two\nlines'],
  ['one\rtwo\vthree\r\n\r\n', 'one\ntwo\nthree\n\n'],
  ['\u0000\u0001\u001f', '\u2400\u2401\u241f'],
  ['_x0041_ and _x00'],
  ['_x000D__x000d_ & _x0001_'],
  ['\ufffe\uffff', '\ufffd\ufffd'],
  ['中文 😀'],
  ['"'],
  ['""quoted""'],
  [',\n",'],
  ['</v></c>'],
  [']]>'],
]

test('texts come back as they were, whatever they hold, in openpyxl', async () => {
  const given = TEXTS.map(([text]) => text)
  expect(shown(await column1('auto', given))).toEqual(TEXTS.map(([text, seen = text]) => ['s', seen]))
})

test.runIf(SOFFICE !== undefined)('and in LibreOffice, titles and row headers included', async () => {
  const texts = TEXTS.map(([text]) => text)
  const top = {
    rows: texts.length,
    heights: [],
    cells: texts.map((value, row) => ({ row, column: 0, rowSpan: 1, columnSpan: 1, value, style: {} })),
  }
  const labels = texts.map((title) => [{ level: 0, levels: 1, groups: 1, title, style: {} }])
  const rowHeads = { columns: [0], groups: labels.map((labels, n) => ({ name: `${n}`, labels })) }
  const segments = texts.map((text, n) => bench.spool([[text]], { group: `${n}` }))
  const sheet = { plan: plan([column(null), column(0)], { top, rowHeads }), segments }
  const { files, warnings } = await bench.write({ sheets: [sheet] })
  const office = new Office()
  try {
    const rows = (await office.values(files[0]!.path)).Sheet1!
    const seen = TEXTS.map(([text, seen = text]) => `"${seen.replaceAll('"', '""')}"`)
    expect(rows.map(([first]) => first)).toEqual([...seen, ...seen])
    expect(rows.slice(texts.length).map(([, second]) => second)).toEqual(seen)
  } finally {
    office.close()
  }
  expect(warnings).toEqual([
    expect.stringMatching(/: 1 text has control characters, .* the first in B23$/),
    expect.stringMatching(/: 1 text has U\+FFFE or U\+FFFF, .* the first in B26$/),
  ])
})

test('texts of several lines are inline strings, in data and titles: LibreOffice shows others as one line', async () => {
  const title = { row: 0, column: 0, rowSpan: 1, columnSpan: 1, value: 'a\nb', style: {} }
  const rows: Row[] = [['two\r\nlines'], ['"three"\nlines & more\nhere'], ['one line']]
  const top = { rows: 1, heights: [], cells: [title] }
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0)], { top }), segments: [bench.spool(rows)] }],
  })
  const xml = readParts(files[0]!.path)['xl/worksheets/sheet1.xml'] ?? ''
  const kinds = [...xml.matchAll(/ t="(\w+)">(?:<is><t[^>]*>|<v>)([^<]*)</g)].map(([, kind, text]) => [
    kind,
    text,
  ])
  expect(kinds).toEqual([
    ['inlineStr', 'a\nb'],
    ['inlineStr', 'two\nlines'],
    ['inlineStr', '"three"\nlines &amp; more\nhere'],
    ['str', 'one line'],
  ])
})

test('control characters are pictured, and the file says so', async () => {
  const rows: Row[] = [['fine\r\n'], ['bad\u0007'], ['\u0000']]
  const { warnings } = await bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool(rows)] }],
  })
  expect(warnings).toEqual([
    'sheet "Sheet1": 2 texts have control characters, which a workbook cannot hold; they are shown as \u2400 to \u241f, the first in A2',
  ])
})

test('rows are as high as their wrapped texts need, East Asian widths counted', async () => {
  const wrapping = column(0, 'auto', { style: { wrap: true }, width: 20 })
  const rows: Row[] = [
    ['short'],
    ['two\nlines'],
    ['word '.repeat(12)],
    ['字'.repeat(30)],
    ['7'.repeat(57)],
    ['a\r\n'.repeat(99)],
    [12],
    [' led by a blank\nand broken'],
  ]
  // Wide enough for the buffer to run over in the middle of it all.
  const filler = Array.from(
    { length: 4000 },
    (_, n): Row => [n % 2 === 0 ? 'one\ntwo\nthree' : '0'.repeat(285)],
  )
  const { files } = await bench.write({
    sheets: [{ plan: plan([wrapping, column(1)]), segments: [bench.spool([...rows, ...filler])] }],
  })
  const { heights } = (await readWorkbooks([files[0]!.path]))[0]![0]!
  expect(rows.map((_, n) => heights[`${n + 1}`])).toEqual([undefined, 30, 45, 60, 45, 409, undefined, 30])
  const rest = filler.map((_, n) => heights[`${rows.length + n + 1}`])
  expect(rest).toEqual(filler.map((_, n) => (n % 2 === 0 ? 45 : 225)))
})

test('a text that no row is tall enough for is seen from its beginning, whatever the alignment', async () => {
  const red = { when: { op: '=', value: 'red\n'.repeat(40) }, style: { bgColor: 'FF0000' } } as const
  const style = { wrap: true, vAlign: 'middle' as const }
  const wrapping = column(0, 'auto', { style, width: 20, conditions: [red] })
  const rows: Row[] = [
    ['short'],
    [`${'a\n'.repeat(26)}a`],
    ['a\n'.repeat(40)],
    ['red\n'.repeat(40)],
    ['字'.repeat(2_000)],
    ['word '.repeat(9_000)],
  ]
  const title = { row: 0, column: 0, rowSpan: 1, columnSpan: 1, value: 'long '.repeat(200), style }
  const top = { rows: 1, heights: [], cells: [title] }
  const { files, warnings, counts } = await bench.write({
    sheets: [{ plan: plan([wrapping], { top }), segments: [bench.spool(rows)] }],
  })
  const { cells } = (await readWorkbooks([files[0]!.path]))[0]![0]!
  const looks = [1, 2, 3, 4, 5, 6, 7].map((row) => cells[`A${row}`])
  expect(looks.map((cell) => cell?.look.vAlign)).toEqual([
    'top',
    'center',
    'center',
    'top',
    'top',
    'top',
    'top',
  ])
  expect(looks.map((cell) => cell?.value).slice(1, 5)).toEqual(rows.slice(0, 4).map(([text]) => text))
  expect(looks.map((cell) => cell?.look.bgColor !== null).slice(1)).toEqual([
    false,
    false,
    false,
    true,
    false,
    false,
  ])
  expect(warnings).toEqual([expect.stringMatching(/: 1 text was longer .* the first in A7$/)])
  expect(counts).toMatchObject([[{ cuts: 1, misfits: 0 }]])
})

test('letters take the room that they have in print: narrow ones little, capitals much', async () => {
  const prose =
    `The committee met again on Tuesday afternoon in order to discuss whether the little library at the corner of the street should
still be kept open during the winter, although nearly nobody had been visiting it after five o'clock; the librarian replied that it is
precisely this quiet hour which the remaining readers like best.`.replaceAll('\n', ' ')
  const texts = [
    prose,
    prose.toUpperCase(),
    'ill '.repeat(60),
    'MWW '.repeat(60),
    'Ж '.repeat(60),
    'e\u0301'.repeat(60),
  ]
  const { files } = await bench.write({
    sheets: [
      {
        plan: plan([column(0, 'auto', { style: { wrap: true }, width: 40 })]),
        segments: [bench.spool(texts.map((text): Row => [text]))],
      },
    ],
  })
  const { heights } = (await readWorkbooks([files[0]!.path]))[0]![0]!
  expect(texts.map((_, n) => heights[`${n + 1}`]! / 15)).toEqual([8, 10, 4, 10, 3, 2])
})

test('bytes that are no UTF-8 become replacement characters', async () => {
  const bytes = Buffer.from([0x22, 0x61, 0xff, 0xed, 0xa0, 0x80, 0x22, 0x0a])
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool(bytes)] }],
  })
  const [sheets] = await readWorkbooks([files[0]!.path])
  expect(sheets![0]!.cells.A1!.value).toMatch(/^a\ufffd+$/)
})

test('a text longer than a cell may be is cut between characters and reported', async () => {
  const limit = 'x'.repeat(32_767)
  const pairs = `a${'😀'.repeat(16_383)}😀`
  const rows: Row[] = [[limit], [`${limit}y`], [pairs], ['&'.repeat(40_000)], ['中'.repeat(20_000)]]
  const { files, warnings } = await bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool(rows)] }],
  })
  const [sheets] = await readWorkbooks([files[0]!.path])
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
  const { cells } = (await readWorkbooks([files[0]!.path]))[0]![0]!
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
