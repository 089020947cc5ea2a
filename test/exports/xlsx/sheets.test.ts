import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CellStyle, FixedCell } from '../../../src/exports/sheet/index.ts'
import { parseTemplate, planSheet, templateFromKeys } from '../../../src/exports/template/index.ts'
import { readWorkbooks } from './foreign-reader.ts'
import { column, EMPTY, plan, type Row, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

function cell(row: number, at: number, value: FixedCell['value'], more: Partial<FixedCell> = {}): FixedCell {
  return { row, column: at, rowSpan: 1, columnSpan: 1, value, style: {}, ...more }
}

async function open(sheets: Parameters<typeof bench.write>[0]['sheets']) {
  const { files } = await bench.write({ sheets })
  expect(files).toHaveLength(1)
  return (await readWorkbooks([files[0]!.path]))[0]!
}

test('an export without rows has its header and its footer', async () => {
  const top = { rows: 1, heights: [], cells: [cell(0, 0, 'Name')] }
  const bottom = { rows: 1, heights: [], cells: [cell(0, 0, 'signed')] }
  const [sheet] = await open([{ plan: plan([column(0)], { top, bottom }), segments: [] }])
  expect(sheet!.cells.A1!.value).toBe('Name')
  expect(sheet!.cells.A2!.value).toBe('signed')
  expect(sheet!.freeze).toBe('A2')
})

test('a sheet may have no columns and no rows at all', async () => {
  const [sheet] = await open([{ plan: plan([]), segments: [] }])
  expect(sheet!.cells).toEqual({})
})

test('fixed areas stand above and below the data, merged, with their heights', async () => {
  const top = {
    rows: 3,
    heights: [30, undefined, 18.5],
    cells: [
      cell(0, 0, 'Orders', {
        columnSpan: 3,
        style: { bold: true, size: 16, align: 'center', vAlign: 'middle' },
      }),
      cell(1, 0, 'Key', { rowSpan: 2 }),
      cell(1, 1, 'Sums', { columnSpan: 2 }),
      cell(2, 1, 'net'),
      cell(2, 2, 42),
    ],
  }
  const bottom = { rows: 2, heights: [], cells: [cell(1, 0, ' total ', { columnSpan: 2 }), cell(1, 2, true)] }
  const columns = [column(0), column(1), column(2)]
  const rows: Row[] = [
    ['a', 1, 2],
    ['b', 3, 4],
  ]
  const [sheet] = await open([
    { plan: plan(columns, { top, bottom, rowHeight: 22 }), segments: [bench.spool(rows)] },
  ])
  expect(sheet!.merges).toEqual(['A1:C1', 'A2:A3', 'A7:B7', 'B2:C2'])
  expect(sheet!.heights).toEqual({ 1: 30, 3: 18.5, 4: 22, 5: 22 })
  expect(sheet!.freeze).toBe('A4')
  expect(sheet!.cells.A1!.look).toMatchObject({ bold: true, size: 16, align: 'center', vAlign: 'center' })
  expect(sheet!.cells.C3!.value).toBe(42)
  expect(sheet!.cells.C5!.value).toBe(4)
  expect(sheet!.cells.A7!.value).toBe(' total ')
  expect(sheet!.cells.C7!.value).toBe(true)
})

test('rich text keeps its text and opens without complaint', async () => {
  const runs = [
    { text: 'bold ', bold: true },
    { text: '<red>\n', color: 'FF0000' },
    { text: 'plain' },
    { text: '' },
  ]
  const top = { rows: 1, heights: [], cells: [cell(0, 0, runs, { style: { wrap: true } }), cell(0, 1, [])] }
  const [sheet] = await open([{ plan: plan([column(0)], { top }), segments: [] }])
  expect(sheet!.cells.A1!.value).toBe('bold <red>\nplain')
  expect(sheet!.cells.A1!.look.wrap).toBe(true)
})

test('a column style reaches every cell, and its background the empty ones too', async () => {
  const style: CellStyle = {
    italic: true,
    underline: true,
    size: 9,
    color: 'ff00aa',
    bgColor: '00FF00',
    align: 'right',
    vAlign: 'top',
    wrap: true,
    format: '0.000',
  }
  const columns = [column(0, 'auto', { style }), column(1, 'auto', { style: { bold: true } })]
  const [sheet] = await open([
    { plan: plan(columns), segments: [bench.spool([[1.5, null], [null, 'x'], ['']])] },
  ])
  const expected = {
    italic: true,
    underline: true,
    bold: false,
    size: 9,
    color: 'FF00AA',
    bgColor: '00FF00',
    align: 'right',
    vAlign: 'top',
    wrap: true,
    format: '0.000',
  }
  for (const at of ['A1', 'A2', 'A3']) expect(sheet!.cells[at]!.look).toEqual(expected)
  expect(sheet!.cells.A2!.value).toBeNull()
  expect(sheet!.cells.B1).toBeUndefined()
  expect(sheet!.cells.B2!.look.bold).toBe(true)
})

test('a format that Excel could not read is left out', async () => {
  const columns = ['0.00"open', '[Red', 'a;b;c;d;e', '¥#,##0.00;[Red]-¥#,##0.00', '"是";;"否"'].map(
    (format) => column(0, 'money', { style: { format } }),
  )
  const [sheet] = await open([{ plan: plan(columns), segments: [bench.spool([[1]])] }])
  expect(['A1', 'B1', 'C1', 'D1', 'E1'].map((at) => sheet!.cells[at]!.look.format)).toEqual([
    '#,##0.00',
    '#,##0.00',
    '#,##0.00',
    '¥#,##0.00;[Red]-¥#,##0.00',
    '"是";;"否"',
  ])
})

test('the first condition that holds decides the look of a cell', async () => {
  const amount = column(0, 'number', {
    style: { color: '111111', bold: true },
    conditions: [
      { when: { op: '>=', value: 100 }, style: { color: 'FF0000' } },
      {
        when: { op: 'or', left: { op: '<', value: 0 }, right: { op: '=', value: 7 } },
        style: { bgColor: 'FFFF00', format: '0.0' },
      },
    ],
  })
  const status = column(1, 'auto', {
    conditions: [
      { when: { op: 'in', values: ['已退款', 'late "x"'] }, style: { color: '0000FF' } },
      { when: { op: 'like', pattern: 'pa%' }, style: { italic: true } },
      { when: { op: '=', value: null }, style: { bgColor: 'EEEEEE' } },
    ],
  })
  const rows: Row[] = [
    [100, '已退款'],
    ['250', 'late "x"'],
    [-1, 'paid'],
    [7, null],
    [50, 'other'],
    [null, '已退款'],
  ]
  const [sheet] = await open([{ plan: plan([amount, status]), segments: [bench.spool(rows)] }])
  const { cells } = sheet!
  const colors = rows.map((_, n) => cells[`A${n + 1}`]?.look.color)
  expect(colors).toEqual(['FF0000', 'FF0000', '111111', '111111', '111111', undefined])
  expect(rows.map((_, n) => cells[`A${n + 1}`]?.look.bgColor)).toEqual([
    null,
    null,
    'FFFF00',
    'FFFF00',
    null,
    undefined,
  ])
  expect(cells.A3!.look).toMatchObject({ bold: true, format: '0.0' })
  expect([1, 2, 6].map((row) => cells[`B${row}`]!.look.color)).toEqual(['0000FF', '0000FF', '0000FF'])
  expect(cells.B3!.look.italic).toBe(true)
  expect(cells.B4).toMatchObject({ value: null, look: { bgColor: 'EEEEEE' } })
  expect(cells.B5!.look.color).toBeNull()
})

test('columns are as wide as the plan says, or as their content needs', async () => {
  const top = { rows: 1, heights: [], cells: [cell(0, 3, '客户名称与联系电话')] }
  const columns = [column(0, 'auto', { width: 33 }), column(1), column(2), column(3), column(4)]
  const [sheet] = await open([{ plan: plan(columns, { top }), segments: [], widths: [5, 18, 900, 3] }])
  const { widths } = sheet!
  expect(widths.A).toBeCloseTo(33.71, 2)
  expect(widths.B).toBeCloseTo(20.71, 2)
  expect(widths.C).toBeCloseTo(60.71, 2)
  expect(widths.D).toBeCloseTo(20.71, 2)
  expect(widths.E).toBeCloseTo(9.14, 2)
})

test('sheet names are made fit for Excel and kept apart', async () => {
  const names = ['a/b:c', 'A_B_C', '', "'quoted'", '很'.repeat(40), '很'.repeat(40), 'History', '&<"']
  const sheets = await open(
    names.map((name) => ({ plan: plan([column(0)], { name }), segments: [bench.spool([[name]])] })),
  )
  expect(sheets.map(({ name }) => name)).toEqual([
    'a_b_c',
    'A_B_C (2)',
    'Sheet3',
    '_quoted_',
    '很'.repeat(31),
    `${'很'.repeat(27)} (2)`,
    'History_',
    '&<"',
  ])
  expect(sheets.map(({ cells }) => cells.A1?.value ?? '')).toEqual(names)
})

test('row headers are merged over their groups, and reserved rows stay free', async () => {
  const style: CellStyle = { bgColor: 'DDDDDD' }
  const label = (level: number, groups: number, title: string, levels = 1) => ({
    level,
    levels,
    groups,
    title,
    style,
  })
  const rowHeads = {
    columns: [0, 1],
    groups: [
      { name: 'wx', labels: [label(0, 2, 'Online'), label(1, 1, '微信')] },
      { name: 'ali', reserve: 3, labels: [label(1, 1, 'Ali')] },
      { name: 'cash', labels: [label(0, 1, 'Cash', 2)] },
      { name: 'none', labels: [label(0, 1, 'None', 2)] },
    ],
  }
  // Only where there is a row is there a value that can be missing.
  const missing = { when: { op: '=', value: null }, style: { bgColor: 'FF0000' } } as const
  const columns = [column(null), column(null), column(0), column(1, 'auto', { conditions: [missing] })]
  const segments = [
    bench.spool(
      [
        ['w1', 1],
        ['w2', 2],
      ],
      { group: 'wx', slice: 1 },
    ),
    bench.spool([['a1', 3]], { group: 'ali' }),
    bench.spool([['c1', null]], { group: 'cash' }),
  ]
  const bottom = { rows: 1, heights: [], cells: [cell(0, 0, 'end')] }
  const [sheet] = await open([{ plan: plan(columns, { rowHeads, bottom }), segments }])
  expect(sheet!.merges).toEqual(['A1:A5', 'A6:B6', 'A7:B7', 'B1:B2', 'B3:B5'])
  const values = Object.fromEntries(Object.entries(sheet!.cells).map(([at, { value }]) => [at, value]))
  expect(values).toEqual({
    A1: 'Online',
    B1: '微信',
    C1: 'w1',
    D1: 1,
    C2: 'w2',
    D2: 2,
    B3: 'Ali',
    C3: 'a1',
    D3: 3,
    A6: 'Cash',
    C6: 'c1',
    D6: null,
    A7: 'None',
    A8: 'end',
  })
})

test('rows of a group that no row header names are refused', async () => {
  const rowHeads = { columns: [0], groups: [{ name: 'a', labels: [] }] }
  const sheet = {
    plan: plan([column(null), column(0)], { rowHeads }),
    segments: [bench.spool([[1]], { group: 'b' })],
  }
  await expect(bench.write({ sheets: [sheet] })).rejects.toThrow('"b"')
})

test('a sheet without a fixed area has nothing frozen', async () => {
  const [sheet] = await open([{ plan: plan([column(0)], { top: EMPTY }), segments: [bench.spool([[1]])] }])
  expect(sheet!.freeze).toBeNull()
})

test('a link column has links, where its texts are addresses', async () => {
  const rows: Row[] = [
    ['https://example.com/a b?x=1&y="2"#part'],
    ['mailto:a@example.com'],
    ['javascript:alert(1)'],
    ['no address'],
    [`https://example.com/${'x'.repeat(3000)}`],
    [12],
    [null],
  ]
  const [sheet] = await open([
    { plan: plan([column(0, 'link')]), segments: [bench.spool(rows, { slice: 1 })] },
  ])
  expect(sheet!.links).toEqual({
    A1: ['https://example.com/a%20b?x=1&y=%222%22', 'part'],
    A2: ['mailto:a@example.com', null],
  })
  expect(sheet!.cells.A1!.value).toBe(rows[0]![0])
})

test.each(['business', 'plain'] as const)('what is no link does not look like one (%s)', async (theme) => {
  const template = parseTemplate([
    { name: 'a', type: 'link' },
    { name: 'b', type: 'link', color: 'FF0000' },
  ])!
  const rows: Row[] = [
    ['https://example.com/', 'https://example.com/'],
    ['no address', 'no address'],
    [12, true],
  ]
  const [sheet] = await open([
    { plan: planSheet({ name: 's', template, theme }), segments: [bench.spool(rows)] },
  ])
  const look = (cell: string) => {
    const { underline, color } = sheet!.cells[cell]!.look
    return { underline, color }
  }
  const { color } = look('A2')
  expect(look('A2')).toEqual({ underline: true, color: expect.stringMatching(/0563C1$/) })
  for (const cell of ['A3', 'A4']) {
    expect(look(cell).underline).toBe(false)
    expect(look(cell).color).not.toBe(color)
  }
  // A colour of the template's own stays.
  expect(look('B2')).toEqual({ underline: true, color: expect.stringMatching(/FF0000$/) })
  for (const cell of ['B3', 'B4'])
    expect(look(cell)).toEqual({ underline: false, color: expect.stringMatching(/FF0000$/) })
})

test('a planned sheet has frozen headers, a filter and a print set-up', async () => {
  const template = {
    ceil: [{ name: 'a' }, { title: 'g', children: [{ name: 'b' }, { name: 'c' }] }],
    row: [{ title: 'North', children: [{ name: 'oslo' }] }, { name: 'rome' }],
  }
  const title = 'Sales & <more>'
  const tree = planSheet({ name: title, title, template: parseTemplate(template)! })
  const flat = planSheet({
    name: 'flat',
    template: templateFromKeys(Array.from({ length: 12 }, (_, n) => `k${n}`)),
  })
  const [first, second] = await open([
    { plan: tree, segments: ['oslo', 'rome'].map((group) => bench.spool([[1, 2, 3]], { group })) },
    { plan: flat, segments: [bench.spool([[1], [2]])] },
  ])
  expect([first!.freeze, first!.filter, first!.titles]).toEqual(['C4', 'C3:E5', ['$2:$3', '$A:$B']])
  expect(first!.page).toEqual(['portrait', 1, 'Sales && <more>', '&P / &N'])
  expect([second!.freeze, second!.filter, second!.titles]).toEqual(['A2', 'A1:L3', ['$1:$1', null]])
  expect(second!.page[0]).toBe('landscape')
})

test('on pages side by side, title and summary are on the first, and the first column is on each', async () => {
  const keys = Array.from({ length: 16 }, (_, n) => ({ name: `k${n}`, type: 'link' }))
  const wide = planSheet({ name: 'w', title: 'T', summary: 'S', footer: 'F', template: parseTemplate(keys)! })
  const row: Row = keys.map(() => `https://example.com/${'x'.repeat(30)}`)
  const widths = keys.map(() => 50)
  const [sheet] = await open([{ plan: wide, segments: [bench.spool([row])], widths }])
  expect(sheet!.page[1]).toBe(3)
  expect(sheet!.titles).toEqual(['$3:$3', '$A:$A'])
  expect(sheet!.merges).toEqual(['A1:E1', 'A2:E2', 'A5:E5'])
  // Every address is whole.
  expect(Object.values(sheet!.widths).every((width) => width > 50)).toBe(true)
  expect(sheet!.cells.A4!.look.wrap).toBe(true)
})

test('a sheet without columns has room for its title', async () => {
  const title = {
    row: 0,
    column: 0,
    rowSpan: 1,
    columnSpan: 1,
    value: 'Nothing',
    style: { wrap: true, size: 16 },
  }
  const top = { rows: 1, heights: [], cells: [title] }
  const { files } = await bench.write({ sheets: [{ plan: plan([], { top }), segments: [] }] })
  const [[sheet] = []] = await readWorkbooks([files[0]!.path])
  expect([sheet?.widths.A, sheet?.heights['1']]).toEqual([expect.closeTo(60.7, 0), 22])
})
