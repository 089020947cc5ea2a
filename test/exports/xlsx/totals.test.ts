import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseTemplate, planSheet } from '../../../src/exports/template/index.ts'
import { readWorkbooks, type SeenSheet } from './foreign-reader.ts'
import { Digits, type Row, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

function planned(template: unknown, more: object = {}) {
  return planSheet({ name: 'Sheet1', template: parseTemplate(template)!, ...more })
}

/** Formula and cached value, by cell. */
function totals({ cells }: SeenSheet): Record<string, unknown> {
  const found = Object.entries(cells).filter(([, { type }]) => type === 'f')
  return Object.fromEntries(found.map(([at, { value, cached }]) => [at, [value, cached]]))
}

const COLUMNS = [
  { name: 'what', title: 'What' },
  { name: 'sum', type: 'money', totals: 'sum' },
  { name: 'mean', type: 'number', totals: 'avg' },
  { name: 'first', type: 'date', totals: 'min' },
  { name: 'last', type: 'datetime', totals: 'max' },
  { name: 'some', totals: 'count' },
  { name: 'whole', type: 'integer', totals: 'avg' },
]

test('the last row has a total of each column that asks for one, as a formula and as a value', async () => {
  const rows: Row[] = [
    ['a', 0.1, '3', '2026-03-01', '2026-03-01T10:00:00', 'x', 1],
    ['b', 0.2, 'none', '2026-01-31', '2026-01-31T08:30:00', '', 2],
    ['c', new Digits('-12.5e0'), 5, null, null, false, null],
    ['d', 'n/a', null, 'soon', 'later', null, 2],
  ]
  const { files, warnings } = await bench.write({
    sheets: [{ plan: planned(COLUMNS), segments: [bench.spool(rows, { slice: 2 })] }],
  })
  const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
  expect(totals(sheet)).toEqual({
    B6: ['=SUBTOTAL(109,B2:B5)', -12.2],
    C6: ['=SUBTOTAL(101,C2:C5)', 4],
    D6: ['=SUBTOTAL(105,D2:D5)', { date: '2026-01-31T00:00:00' }],
    E6: ['=SUBTOTAL(104,E2:E5)', { date: '2026-03-01T10:00:00' }],
    F6: ['=SUBTOTAL(103,F2:F5)', 2],
    G6: ['=SUBTOTAL(101,G2:G5)', 1.66666666666667],
  })
  expect(sheet.cells.A6).toMatchObject({ value: 'Total', look: { bold: true } })
  expect(sheet.cells.B6!.look).toMatchObject({ bold: true, format: '#,##0.00', align: 'center' })
  expect(sheet.cells.F6!.look.format).toBe('General')
  expect(sheet.filter).toBe('A1:G5')
  expect(warnings).toEqual([
    'sheet "Sheet1": in column B 1 value is no number, and the sum below it leaves them out',
    'sheet "Sheet1": in column C 1 value is no number, and the avg below it leaves them out',
    'sheet "Sheet1": in column D 1 value is no number, and the min below it leaves them out',
    'sheet "Sheet1": in column E 1 value is no number, and the max below it leaves them out',
  ])
})

test('the title of the totals is in the first column, or where that has a total in the first without one', async () => {
  const sum = { name: 'sum', type: 'money', totals: 'sum' }
  const day = { name: 'day', type: 'date' }
  const what = { name: 'what', title: 'What' }
  const titleOf = async (columns: object[]) => {
    const row: Row = columns.map(() => 1)
    const { files } = await bench.write({
      sheets: [{ plan: planned(columns), segments: [bench.spool([row])] }],
    })
    const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
    return Object.keys(sheet.cells).filter((at) => sheet.cells[at]!.value === 'Total')
  }
  expect(await titleOf([day, sum, what])).toEqual(['A3'])
  expect(await titleOf([sum, day, what])).toEqual(['C3'])
  expect(await titleOf([sum, day])).toEqual(['B3'])
  expect(await titleOf([sum])).toEqual([])
})

test('a sum of many parts is exact to the digits that a spreadsheet shows, and its column wide enough', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n): Row => [n % 2 === 0 ? 999_999.1 : 0.01])
  const plan = planned([{ name: 'n', type: 'money', totals: 'sum' }])
  const { files } = await bench.write({
    sheets: [{ plan, segments: [bench.spool(rows, { slice: 100 })], widths: [8] }],
  })
  const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
  expect(sheet.cells.A5002!.cached).toBe(2_499_997_775)
  expect(sheet.widths.A).toBeGreaterThan('2,499,997,775.00'.length)
})

test('each part of a split file has the totals of its own rows, and the footer stands below those of the last', async () => {
  const rows = Array.from({ length: 25 }, (_, n): Row => [n])
  const plan = planned([{ name: 'n', type: 'number', totals: 'sum' }], { footer: 'end' })
  const { files } = await bench.write({
    sheets: [{ plan, segments: [bench.spool(rows, { slice: 7 })] }],
    maxRows: 10,
  })
  const sheets = (await readWorkbooks(files.map(({ path }) => path))).map(([sheet]) => sheet!)
  expect(sheets.map(totals)).toEqual([
    { A12: ['=SUBTOTAL(109,A2:A11)', 45] },
    { A12: ['=SUBTOTAL(109,A2:A11)', 145] },
    { A7: ['=SUBTOTAL(109,A2:A6)', 110] },
  ])
  expect(sheets[2]!.cells.A8!.value).toBe('end')
})

test('without rows there is nothing to sum up', async () => {
  const { files } = await bench.write({ sheets: [{ plan: planned(COLUMNS), segments: [] }] })
  const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
  expect(totals(sheet)).toEqual({})
  expect([sheet.cells.A2!.value, sheet.cells.B2!.value, sheet.cells.C2!.value]).toEqual(['Total', 0, null])
})

const TREE = {
  subtotals: true,
  ceil: [
    { name: 'item', title: 'Item' },
    { name: 'n', title: 'N', type: 'number', totals: 'sum' },
  ],
  row: [
    {
      title: 'North',
      children: [
        { name: 'oslo', title: 'Oslo' },
        { name: 'kiel', title: 'Kiel', row_count: 2 },
      ],
    },
    { title: 'South', children: [{ name: 'rome', title: 'Rome' }] },
    { name: 'nowhere', title: 'Nowhere' },
  ],
}
const groupRows = (name: string, from: number, count: number) =>
  bench.spool(
    Array.from({ length: count }, (_, n): Row => [`${name} ${n}`, from + n]),
    { group: name, slice: 2 },
  )

test('each row header over more than one row has a subtotal, which no total counts twice', async () => {
  const segments = [groupRows('oslo', 1, 3), groupRows('kiel', 10, 1), groupRows('rome', 100, 2)]
  const { files } = await bench.write({ sheets: [{ plan: planned(TREE), segments }] })
  const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
  const titles = Object.fromEntries(
    Object.entries(sheet.cells)
      .filter(([at, { value }]) => /^[AB]/.test(at) && value !== null)
      .map(([at, { value }]) => [at, value]),
  )
  expect(titles).toEqual({
    A2: 'North',
    B2: 'Oslo',
    B5: 'Oslo subtotal',
    B6: 'Kiel',
    B8: 'Kiel subtotal',
    A9: 'North subtotal',
    A10: 'South',
    B10: 'Rome',
    B12: 'Rome subtotal',
    A13: 'Nowhere',
    A14: 'Total',
  })
  expect(totals(sheet)).toEqual({
    D5: ['=SUBTOTAL(109,D2:D4)', 6],
    D8: ['=SUBTOTAL(109,D6:D7)', 10],
    D9: ['=SUBTOTAL(109,D2:D8)', 16],
    D12: ['=SUBTOTAL(109,D10:D11)', 201],
    D14: ['=SUBTOTAL(109,D2:D13)', 217],
  })
  expect(sheet.merges).toEqual(
    ['A1:B1', 'A2:A8', 'B2:B4', 'B6:B7', 'A9:B9', 'A10:A12', 'B10:B11', 'A13:B13', 'A14:B14'].sort(),
  )
})

test('a row header that is cut by a limit has a subtotal in each part', async () => {
  const segments = [groupRows('oslo', 1, 5), groupRows('kiel', 10, 2), groupRows('rome', 100, 1)]
  const { files } = await bench.write({ sheets: [{ plan: planned(TREE), segments }], maxRows: 3 })
  const sheets = (await readWorkbooks(files.map(({ path }) => path))).map(([sheet]) => sheet!)
  expect(sheets.map(totals)).toEqual([
    {
      D5: ['=SUBTOTAL(109,D2:D4)', 6],
      D6: ['=SUBTOTAL(109,D2:D5)', 6],
      D7: ['=SUBTOTAL(109,D2:D6)', 6],
    },
    {
      D4: ['=SUBTOTAL(109,D2:D3)', 9],
      D6: ['=SUBTOTAL(109,D5:D5)', 10],
      D7: ['=SUBTOTAL(109,D2:D6)', 19],
      D8: ['=SUBTOTAL(109,D2:D7)', 19],
    },
    {
      D3: ['=SUBTOTAL(109,D2:D2)', 11],
      D4: ['=SUBTOTAL(109,D2:D3)', 11],
      D7: ['=SUBTOTAL(109,D2:D6)', 111],
    },
  ])
  // Nobody takes the total of a part for that of all rows.
  expect(sheets.map(({ cells }, n) => cells[['A7', 'A8', 'A7'][n]!]!.value)).toEqual([
    'Total (part 1)',
    'Total (part 2)',
    'Total (part 3)',
  ])
  const named = sheets.map(({ cells }) =>
    Object.values(cells)
      .map(({ value }) => value)
      .filter((value) => typeof value === 'string' && value.includes('subtotal'))
      .sort(),
  )
  expect(named).toEqual([
    ['North subtotal (part 1)', 'Oslo subtotal (part 1)'],
    ['Kiel subtotal (part 2)', 'North subtotal (part 2)', 'Oslo subtotal (part 2)'],
    ['Kiel subtotal (part 3)', 'North subtotal (part 3)'],
  ])
  // A row header that is whole in one part is named as ever.
  const apart = [groupRows('oslo', 1, 2), groupRows('kiel', 10, 2), groupRows('rome', 100, 3)]
  const { files: parts } = await bench.write({
    sheets: [{ plan: planned(TREE), segments: apart }],
    maxRows: 2,
  })
  const [[first]] = (await readWorkbooks([parts[0]!.path])) as [[SeenSheet]]
  expect([first.cells.B4?.value, first.cells.A5?.value]).toEqual(['Oslo subtotal', 'North subtotal (part 1)'])
})

test.for([
  [[{ name: 'a', type: 'date', totals: 'sum' }], 'template[0].totals'],
  [[{ name: 'a', type: 'string', totals: 'avg' }], 'template[0].totals'],
  [[{ name: 'a', totals: 'total' }], 'template[0].totals'],
  [[{ title: 'g', totals: 'sum', children: [{ name: 'a' }] }], 'template[0].totals'],
  [{ ...TREE, row: undefined }, 'template.subtotals'],
  [{ ...TREE, ceil: [{ name: 'n' }] }, 'template.subtotals'],
  [{ row: TREE.row, subtotals: true }, 'template.subtotals'],
] as const)('totals that mean nothing are refused with their place: %j', ([template, place]) => {
  expect(() => parseTemplate(JSON.parse(JSON.stringify(template)), { keys: ['n'] })).toThrow(place)
})

test('a row is as high as the label that has it alone needs', async () => {
  const title =
    'Everything that was sold by the branch office of the northern region and of the islands before it '
  const template = {
    ceil: [{ name: 'item', type: 'number' }],
    row: [
      { name: 'a', title },
      { name: 'b', title },
    ],
  }
  const rows = (group: string, count: number) =>
    bench.spool(
      Array.from({ length: count }, (_, n): Row => [n]),
      { group },
    )
  const { files } = await bench.write({
    sheets: [{ plan: planned(template), segments: [rows('a', 1), rows('b', 3)] }],
  })
  const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
  expect(sheet.heights['2']).toBeGreaterThan(25)
  expect(sheet.heights['3']).toBeUndefined()
})

test('titles of totals are in the language of the template', () => {
  const titleOf = (title: string) => planned([{ name: 'a', title, totals: 'count' }]).totals?.title
  expect(['Amount', '金额', 'きんがく'].map(titleOf)).toEqual(['Total', '合计', '合計'])
})

test('one title in another script does not decide on the language of totals', () => {
  const titleOf = (...titles: string[]) =>
    planned(titles.map((title, index) => ({ name: `c${index}`, title, totals: 'count' }))).totals?.title
  expect(titleOf('Customer', 'Amount', '备注')).toBe('Total')
  expect(titleOf('客户', '金额', 'SKU')).toBe('合计')
  expect(titleOf('客户', '金额', 'SKU 编号', '2026', '%')).toBe('合计')
  expect(titleOf('顧客', '金額', 'きんがく')).toBe('合計')
  expect(titleOf('Sales of 王 Ltd')).toBe('Total')
})

test('digits that no format shows do not widen a column', async () => {
  const plan = planned([{ name: 'n', type: 'money' }])
  const segments = [bench.spool([[new Digits('142.05030000000002')]])]
  const { files } = await bench.write({ sheets: [{ plan, segments, widths: [18] }] })
  const [[sheet]] = (await readWorkbooks([files[0]!.path])) as [[SeenSheet]]
  expect(sheet.widths.A).toBeGreaterThan('-999,999,999,999.99'.length)
  expect(sheet.widths.A).toBeLessThan(24)
})
