import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FixedArea, FixedCell, SheetPlan } from '../../../src/exports/sheet/index.ts'
import { parseTemplate, planSheet, templateFromKeys } from '../../../src/exports/template/index.ts'
import type { SheetRequest } from '../../../src/exports/template/plan-sheet.ts'
import { fitHeights } from '../../../src/exports/xlsx/parts/index.ts'
import { ERRORS, isAppError, parseKeepingOrder } from '../../../src/kernel/index.ts'

function plan(template: unknown, rest: Partial<SheetRequest> = {}): SheetPlan {
  return planSheet({ name: 'Sheet1', template: parseTemplate(template)!, theme: 'plain', ...rest })
}

/** Heights of the top area where every column is 12 characters wide. */
function topHeights(sheet: SheetPlan): (number | undefined)[] {
  return fitHeights(
    sheet.top,
    sheet.columns.map(() => 12),
    15,
  ).heights
}

function columns(count: number): unknown[] {
  return Array.from({ length: count }, (_, i) => ({ name: `c${i}` }))
}

/** `row,column rows×columns value`, one line a cell. */
function shown(cells: FixedCell[]): string[] {
  return cells.map(
    (cell) => `${cell.row},${cell.column} ${cell.rowSpan}x${cell.columnSpan} ${JSON.stringify(cell.value)}`,
  )
}

/** The area without the row of column headers below it. */
function headerCells(sheet: SheetPlan): FixedCell[] {
  return sheet.top.cells.filter((cell) => cell.row < sheet.top.rows - 1)
}

function expectSound(area: FixedArea, width: number): void {
  const taken = new Set<string>()
  for (const cell of area.cells) {
    expect(cell.rowSpan).toBeGreaterThan(0)
    expect(cell.columnSpan).toBeGreaterThan(0)
    expect(cell.row + cell.rowSpan).toBeLessThanOrEqual(area.rows)
    expect(cell.column + cell.columnSpan).toBeLessThanOrEqual(width)
    for (let row = cell.row; row < cell.row + cell.rowSpan; row += 1) {
      for (let column = cell.column; column < cell.column + cell.columnSpan; column += 1) {
        const place = `${row},${column}`
        expect(taken.has(place)).toBe(false)
        taken.add(place)
      }
    }
  }
  expect(area.heights).toHaveLength(area.rows)
}

test('numbers stay on one line, texts and links wrap', () => {
  const { columns } = plan([{ name: 'n' }, { name: 't' }, { name: 'u', type: 'link' }], {
    numeric: new Set([0]),
  })
  expect(columns.map(({ style }) => [style.wrap ?? false, style.align])).toEqual([
    [false, 'center'],
    [true, 'center'],
    [true, 'center'],
  ])
  const own = plan([{ name: 'u', type: 'link', wrap: true, align: 'left' }])
  expect(own.columns[0]!.style).toMatchObject({ wrap: true, align: 'left' })
  const found = planSheet({ name: 's', template: templateFromKeys(['n', 't']), numeric: new Set([0]) })
  expect(found.columns.map(({ style }) => style.wrap ?? false)).toEqual([false, true])
})

describe('column headers', () => {
  const tree = [
    { name: 'source', title: '来源方式' },
    {
      title: '充值',
      bg_color: true,
      children: [
        { name: 'num', title: '笔数' },
        { title: '其中', children: [{ name: 'wx' }, { name: 'ali' }] },
      ],
    },
  ]

  test('merge groups over their leaves, and leaves down to the last row', () => {
    const sheet = plan(tree)
    expect(sheet.top.rows).toBe(3)
    expect(shown(sheet.top.cells)).toEqual([
      '0,0 3x1 "来源方式"',
      '0,1 1x3 "充值"',
      '1,1 2x1 "笔数"',
      '1,2 1x2 "其中"',
      '2,2 1x1 "wx"',
      '2,3 1x1 "ali"',
    ])
    expect(sheet.columns.map((column) => column.field)).toEqual([0, 1, 2, 3])
  })

  test('are bold and centred, and a node paints its own header cell and data cells, not its children', () => {
    const sheet = plan([
      {
        title: 'g',
        bg_color: '#abc',
        children: [{ name: 'x', color: 'red', align: 'left', 'v-align': 'top' }],
      },
    ])
    expect(sheet.top.cells.map((cell) => cell.style)).toEqual([
      { bold: true, wrap: true, align: 'center', vAlign: 'middle', bgColor: 'AABBCC' },
      { bold: true, wrap: true, align: 'left', vAlign: 'top', color: 'FF0000' },
    ])
    expect(sheet.columns[0]!.style).toEqual({ color: 'FF0000', align: 'left', vAlign: 'top', wrap: true })
  })

  test('pass on type, format, width, height and condition styles', () => {
    const sheet = plan([
      { name: 'a', type: 'money', width: '20', height: 18, bold: true, bg_color: true },
      { name: 'b', type: 'date', format: 'dd.mm.yyyy', height: 30 },
      { name: 'c', condition_style: { condition: '<0', color: 'FFFEFE', bold: 1, bg_color: 'yellow' } },
    ])
    expect(sheet.rowHeight).toBe(30)
    expect(sheet.columns).toEqual([
      {
        field: 0,
        type: 'money',
        width: 20,
        style: { bold: true, bgColor: 'D9D9D9', align: 'center', vAlign: 'middle', format: '#,##0.00' },
        conditions: [],
      },
      {
        field: 1,
        type: 'date',
        style: { align: 'center', vAlign: 'middle', format: 'dd.mm.yyyy' },
        ownFormat: true,
        conditions: [],
      },
      {
        field: 2,
        type: 'auto',
        style: { align: 'center', vAlign: 'middle', wrap: true },
        conditions: [
          { when: { op: '<', value: 0 }, style: { color: 'FFFEFE', bold: true, bgColor: 'FFFF00' } },
        ],
      },
    ])
  })

  test('never overlap, whatever the tree', () => {
    const { nodes } = fc.letrec<{ nodes: unknown[] }>((tie) => ({
      nodes: fc.array(
        fc.oneof(
          { depthSize: 'small' },
          fc.record({ name: fc.constant('x') }),
          fc.record({ title: fc.constant('g'), children: tie('nodes') }),
        ),
        { minLength: 1, maxLength: 4 },
      ),
    }))
    fc.assert(
      fc.property(nodes, (template) => {
        const sheet = plan(template)
        expectSound(sheet.top, sheet.columns.length)
        const area = sheet.top.cells.reduce((sum, cell) => sum + cell.rowSpan * cell.columnSpan, 0)
        expect(area).toBe(sheet.top.rows * sheet.columns.length)
      }),
      { numRuns: 200 },
    )
  })
})

describe('row headers', () => {
  const row = [
    {
      title: 'North',
      bg_color: true,
      children: [
        { name: 'n1', title: 'One' },
        { name: 'n2', row_count: 3 },
      ],
    },
    { name: 'south', title: 'South' },
  ]

  test('take one column a level, and their header spans them', () => {
    const sheet = plan({ ceil: [{ name: 'a' }, { name: '__row__', title: 'Area' }, { name: 'b' }], row })
    expect(sheet.columns.map((column) => column.field)).toEqual([0, null, null, 1])
    expect(shown(sheet.top.cells)).toEqual(['0,0 1x1 "a"', '0,1 1x2 "Area"', '0,3 1x1 "b"'])
    expect(sheet.rowHeads?.columns).toEqual([1, 2])
  })

  test('are labels at the group where they begin', () => {
    const sheet = plan({ ceil: [{ name: 'a' }], row })
    const style = { bold: true, wrap: true, align: 'center', vAlign: 'middle' }
    expect(sheet.rowHeads).toEqual({
      columns: [0, 1],
      groups: [
        {
          name: 'n1',
          labels: [
            { level: 0, levels: 1, groups: 2, title: 'North', style: { ...style, bgColor: 'D9D9D9' } },
            { level: 1, levels: 1, groups: 1, title: 'One', style },
          ],
        },
        { name: 'n2', reserve: 3, labels: [{ level: 1, levels: 1, groups: 1, title: 'n2', style }] },
        { name: 'south', labels: [{ level: 0, levels: 2, groups: 1, title: 'South', style }] },
      ],
    })
  })
})

describe('title and summary', () => {
  test('span the table, at most 20 columns', () => {
    const sheet = plan(columns(30), { title: 'Report', summary: 'a <b>bold</b> word' })
    expect(shown(sheet.top.cells.slice(0, 2))).toEqual([
      '0,0 1x20 "Report"',
      '1,0 1x20 [{"text":"a "},{"text":"bold","bold":true},{"text":" word"}]',
    ])
    expect(sheet.top.cells[0]!.style).toMatchObject({ bold: true, size: 16 })
    expect(plan(columns(3), { title: 'Report' }).top.cells[0]!.columnSpan).toBe(3)
  })

  test('give no row when they say nothing', () => {
    expect(plan(columns(2), { title: '', summary: ' <p></p> ', header: {}, footer: [] }).top.rows).toBe(1)
  })

  test('a summary grows with its text, up to a limit', () => {
    const height = (summary: string) => topHeights(plan(columns(4), { summary }))[0] ?? 15
    expect(height('a<br>b')).toBeGreaterThan(height('a'))
    expect(height('字'.repeat(100))).toBeGreaterThan(height('x'.repeat(100)))
    expect(height('a<br>'.repeat(500))).toBe(180)
  })
})

describe('the header area', () => {
  test('spreads five pairs as three and two, on one grid', () => {
    const sheet = plan(columns(12), { header: { a: 1, b: 'x', c: null, d: true, e: '' } })
    expect(shown(headerCells(sheet))).toEqual([
      '0,0 1x2 "a"',
      '0,2 1x2 1',
      '0,4 1x2 "b"',
      '0,6 1x2 "x"',
      '0,8 1x2 "c"',
      '0,10 1x2 null',
      '1,0 1x2 "d"',
      '1,2 1x2 true',
      '1,4 1x2 "e"',
      '1,6 1x2 ""',
    ])
  })

  test.each([
    [8, 1, [1]],
    [8, 4, [4]],
    [8, 5, [3, 2]],
    [8, 6, [3, 3]],
    [8, 7, [4, 3]],
    [8, 9, [3, 3, 3]],
    [8, 10, [4, 4, 2]],
    [5, 3, [2, 1]],
    [3, 3, [1, 1, 1]],
    [1, 2, [1, 1]],
    [100, 8, [4, 4]],
  ])('puts, in %i columns, %i pairs into rows of %j', (width, count, expected) => {
    const header = Array.from({ length: count }, (_, i) => [`l${i}`, i])
    const rows: number[] = []
    for (const cell of headerCells(plan(columns(width), { header }))) {
      if (typeof cell.value === 'string') rows[cell.row] = (rows[cell.row] ?? 0) + 1
    }
    expect(rows).toEqual(expected)
  })

  test('keeps rows as they are given, each over the whole width', () => {
    const header = [{ 油站: '钓鱼岛', 日期: '4月3日' }, { 操作员: '松林' }]
    const expected = [
      '0,0 1x1 "油站"',
      '0,1 1x2 "钓鱼岛"',
      '0,3 1x1 "日期"',
      '0,4 1x2 "4月3日"',
      '1,0 1x3 "操作员"',
      '1,3 1x3 "松林"',
    ]
    expect(shown(headerCells(plan(columns(6), { header })))).toEqual(expected)
    expect(shown(headerCells(plan(columns(6), { header: { 0: header[0], 1: header[1] } })))).toEqual(expected)
    const pairs = header.map((row) => Object.entries(row))
    expect(shown(headerCells(plan(columns(6), { header: pairs })))).toEqual(expected)
  })

  test('shows label and value in one cell where there is one column only', () => {
    expect(shown(headerCells(plan(columns(1), { header: { a: 1, b: null } })))).toEqual([
      '0,0 1x1 "a: 1"',
      '1,0 1x1 "b: "',
    ])
  })

  test('keeps labels like 2024 in order when they come as pairs, or were read with care', () => {
    const labels = (header: unknown) =>
      headerCells(plan(columns(8), { header })).flatMap((cell) => (cell.column % 4 === 0 ? [cell.value] : []))
    expect(
      labels([
        ['total', 1],
        ['2024', 2],
      ]),
    ).toEqual(['total', '2024'])
    expect(labels(parseKeepingOrder('{"total": 1, "2024": 2}'))).toEqual(['total', '2024'])
  })

  test('gives a row the height that its longest value needs', () => {
    const sheet = plan(columns(8), { header: [{ short: 'x' }, { long: '字'.repeat(100), other: 'x' }] })
    // A Chinese character takes a little more than two digits of the default font.
    expect(topHeights(sheet)).toEqual([undefined, 15 * Math.ceil(215 / 23), undefined])
  })

  test('is refused with its place when a value is none', () => {
    const refused = (header: unknown): string => {
      try {
        plan(columns(4), { header })
      } catch (error) {
        if (isAppError(error, ERRORS.TEMPLATE_INVALID)) return error.message
        throw error
      }
      return 'accepted'
    }
    expect(refused({ a: { b: 1 } })).toContain('header.a: expected a text')
    expect(refused([{ a: 1 }, 'x'])).toContain('header[1]: expected {label: value}')
    expect(refused([[{ a: 1 }, ['b', [2]]]])).toContain('header[0][1][1]: expected a text')
    expect(refused(7)).toContain('header: expected')
  })

  test('holds every pair, inside the width, with no cell over another', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null))
    const pair = fc.tuple(fc.string({ minLength: 1 }), value)
    const header = fc.oneof(
      fc.array(pair, { minLength: 1, maxLength: 30 }),
      fc.array(fc.array(pair, { minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 5 }),
    )
    fc.assert(
      fc.property(header, fc.integer({ min: 1, max: 40 }), (pairs, width) => {
        const sheet = plan(columns(width), { title: 't', header: pairs, footer: pairs })
        expectSound(sheet.top, width)
        expectSound(sheet.bottom, Math.min(20, width))
        const flat = (typeof pairs[0]![0] === 'string' ? pairs : pairs.flat()) as [string, unknown][]
        const texts = sheet.bottom.cells.map((cell) => String(cell.value))
        for (const [label] of flat) {
          expect(texts.some((text) => text === label || text.startsWith(`${label}: `))).toBe(true)
        }
        const cells = sheet.bottom.cells.length
        expect(cells).toBeGreaterThanOrEqual(flat.length)
        expect(cells).toBeLessThanOrEqual(2 * flat.length)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the footer', () => {
  test('as an object is laid out like the header, as a text like the summary', () => {
    const pairs = plan(columns(4), { footer: { 签名: '', 日期: '' } }).bottom
    expect(shown(pairs.cells)).toEqual(['0,0 1x1 "签名"', '0,1 1x1 ""', '0,2 1x1 "日期"', '0,3 1x1 ""'])
    const text = plan(columns(4), { footer: '<i>end</i>' }).bottom
    expect(shown(text.cells)).toEqual(['0,0 1x4 [{"text":"end","italic":true}]'])
  })
})

test('a plan is plain data, so that it can cross into a worker', () => {
  const sheet = planSheet({ name: 's', template: templateFromKeys(['a']), title: 't', header: { a: 1 } })
  expect(structuredClone(sheet)).toEqual(sheet)
})

describe('the business theme', () => {
  const themed = (template: unknown, rest: Partial<SheetRequest> = {}) =>
    plan(template, { theme: 'business', ...rest })

  test('draws borders and fills, in a font with Chinese glyphs, a shade for each level of the trees', () => {
    const sheet = themed({
      ceil: [{ title: 'a', children: [{ title: 'b', children: [{ name: 'c' }] }, { name: 'd' }] }],
      row: [{ title: 'North', children: [{ name: 'oslo' }] }, { name: 'rome' }],
    })
    const styles = [
      ...sheet.top.cells.map(({ style }) => style),
      ...sheet.rowHeads!.groups.flatMap(({ labels }) => labels.map(({ style }) => style)),
    ]
    for (const { border, font, bgColor } of styles) {
      expect([border, font, bgColor]).toEqual([expect.any(String), 'Microsoft YaHei', expect.any(String)])
    }
    const fill = (title: string) => sheet.top.cells.find(({ value }) => value === title)!.style.bgColor
    expect(new Set(['a', 'b', 'c'].map(fill)).size).toBe(3)
    expect(fill('c')).toBe(fill('d'))
    expect(sheet.rowHeads!.groups[0]!.labels.map(({ style }) => style.bgColor)).toHaveLength(2)
    expect(sheet.columns.every(({ style }) => style.border !== undefined)).toBe(true)
  })

  test('gives way to what the template says, the default alignment included', () => {
    const [column] = themed([{ name: 'a', bg_color: 'yellow', color: 'red', bold: true }]).columns
    expect(column!.style).toMatchObject({
      bgColor: 'FFFF00',
      color: 'FF0000',
      bold: true,
      align: 'center',
      vAlign: 'middle',
    })
    const head = (node: object) => themed([{ name: 'a', ...node }]).top.cells[0]!.style
    expect(head({ bg_color: 'cyan', align: 'left' })).toMatchObject({ bgColor: '00FFFF', align: 'left' })
    expect(head({ bg_color: false }).bgColor).toBe('none')
    expect(head({ title: 'A' })).toMatchObject({ align: 'center', bold: true })
  })

  test('without a template numbers go to the right with their title, texts to the left', () => {
    const template = templateFromKeys(['id', 'name'])
    const sheet = planSheet({ name: 's', template, numeric: new Set([0]) })
    expect(sheet.columns.map(({ style }) => style.align)).toEqual(['right', 'left'])
    expect(sheet.top.cells.map(({ style }) => style.align)).toEqual(['right', 'left'])
  })

  test('sets the labels of the header area apart from their values', () => {
    const [label, value] = themed(columns(2), { header: { Source: 'ERP' } }).top.cells
    expect(label!.style.bgColor).not.toBe(value!.style.bgColor)
    expect([label!.style.align, value!.style.align]).toEqual(['right', 'left'])
  })
})

test('long texts wrap unless the node says otherwise; numbers and dates never need to', () => {
  const wraps = (node: object) => plan([{ name: 'a', ...node }]).columns[0]!.style.wrap ?? false
  expect([wraps({}), wraps({ type: 'string' }), wraps({ wrap: false }), wraps({ type: 'money' })]).toEqual([
    true,
    true,
    false,
    false,
  ])
  expect(wraps({ type: 'date', wrap: true })).toBe(true)
})
