import { describe, expect, test } from 'vitest'
import {
  csvHeader,
  csvRowLabels,
  parseTemplate,
  type Template,
  templateFromKeys,
} from '../../../src/exports/template/index.ts'
import { ERRORS, isAppError, parseKeepingOrder } from '../../../src/kernel/index.ts'

function parse(input: unknown, keys?: string[]): Template {
  const template = parseTemplate(input, keys ? { keys } : {})
  if (!template) throw new Error('nothing was declared')
  return template
}

function refusal(input: unknown): { message: string; path: unknown } {
  try {
    parseTemplate(input)
  } catch (error) {
    if (isAppError(error, ERRORS.TEMPLATE_INVALID))
      return { message: error.message, path: error.details.path }
    throw error
  }
  throw new Error('accepted')
}

const RECHARGES = [
  { name: 'source', title: '来源方式' },
  {
    name: 'recharge',
    title: '充值',
    children: [
      { name: 'recharge_num', title: '充值笔数' },
      {
        name: '_',
        title: '其中',
        children: [
          { name: 'wechat', title: '微信支付' },
          { name: 'alipay', title: '支付宝' },
        ],
      },
    ],
  },
]

describe('the shapes of a template', () => {
  test('a list of nodes names the fields by its leaves alone', () => {
    const template = parse(RECHARGES)
    expect(template.fields).toEqual(['source', 'recharge_num', 'wechat', 'alipay'])
    expect(template.leaves.map((leaf) => leaf.title)).toEqual(['来源方式', '充值笔数', '微信支付', '支付宝'])
    expect(csvHeader(template)).toEqual(['来源方式', '充值笔数', '微信支付', '支付宝'])
  })

  test('a list may be an object with numbers for keys, at every level', () => {
    const [source, recharge] = RECHARGES
    const children = Object.fromEntries(Object.entries(recharge!.children!))
    expect(parse({ 0: source, 1: { ...recharge, children } })).toEqual(parse(RECHARGES))
    expect(parse({ ceil: { 0: source, 4: { ...recharge, children } } })).toEqual(parse(RECHARGES))
  })

  test('the short form keeps its order, and a title may be left out', () => {
    const template = parse({ name: '姓名', id: null, col: 'Colour', row: 'Row' })
    expect(template.fields).toEqual(['name', 'id', 'col', 'row'])
    expect(csvHeader(template)).toEqual(['姓名', 'id', 'Colour', 'Row'])
  })

  test('keys that look like integers keep their place when the text is read with care', () => {
    const text = '{"name": "N", "2024" : "Y", "x": "say \\"3\\": \\\\", "7": null}'
    expect(parse(JSON.parse(text)).fields).toEqual(['7', '2024', 'name', 'x'])
    const kept = parseKeepingOrder(text)
    expect(parse(kept).fields).toEqual(['name', '2024', 'x', '7'])
    expect(csvHeader(parse(kept))).toEqual(['N', 'Y', 'say "3": \\', '7'])
    expect(parse(JSON.parse(JSON.stringify(kept)))).toEqual(parse(kept))
    expect(parse(parseKeepingOrder('{"1": {"name": "b"}, "0": {"name": "a"}}')).fields).toEqual(['b', 'a'])
  })

  test('"ceil" and "col" both name the columns, in any of their forms', () => {
    expect(parse({ ceil: [{ name: 'a' }] }).fields).toEqual(['a'])
    expect(parse({ col: { a: 'A', b: 'B' } }).fields).toEqual(['a', 'b'])
    expect(parse({ col: { title: 'G', children: [{ name: 'x' }] } }).fields).toEqual(['x'])
  })

  test('nothing at all leaves it to the keys of the first row', () => {
    for (const nothing of [undefined, null, [], {}, '']) expect(parseTemplate(nothing)).toBeNull()
    expect(parse([], ['x', '_row_head_'])).toEqual(templateFromKeys(['x', '_row_head_']))
    expect(csvHeader(templateFromKeys(['x', 'y']))).toEqual(['x', 'y'])
  })

  test('a column whose name is missing or "_" stays, but shows no field', () => {
    const template = parse([{ title: 'Signature' }, { name: '_', title: 'Stamp' }, { name: 'a' }])
    expect(template.fields).toEqual(['a'])
    expect(template.leaves.map((leaf) => leaf.name)).toEqual([null, null, 'a'])
  })

  test('two columns may show the same field', () => {
    const template = parse([{ name: 'a' }, { name: 'b' }, { name: 'a', title: 'again' }])
    expect(template.fields).toEqual(['a', 'b'])
    expect(template.leaves).toHaveLength(3)
  })

  test('a name such as "constructor" is a name like any other', () => {
    expect(parse([{ name: 'constructor' }, { name: '__proto__' }]).fields).toEqual([
      'constructor',
      '__proto__',
    ])
  })
})

describe('row headers', () => {
  const row = [
    {
      title: 'North',
      children: [
        { name: 'n1', title: 'One' },
        { name: 'n2', row_count: 3 },
      ],
    },
    { name: 'south', title: 'South' },
  ]

  test.each(['__row__', '_row_header', '_row_head_'])('stand in the column named %s', (name) => {
    const template = parse({ ceil: [{ name: 'a' }, { name, title: 'Area' }], row })
    expect(template.leaves.map((leaf) => leaf.rowHead)).toEqual([false, true])
    expect(template.fields).toEqual(['a'])
  })

  test('have an empty corner above them unless it is given a title', () => {
    const corner = (node: object) => parse({ ceil: [{ name: '__row__', ...node }], row }).leaves[0]!.title
    expect(corner({})).toBe('')
    expect(corner({ title: 'Area' })).toBe('Area')
  })

  test('come first when no column is kept for them', () => {
    const template = parse({ ceil: [{ name: 'a' }], row })
    expect(template.leaves.map((leaf) => leaf.rowHead)).toEqual([true, false])
  })

  test('give way to an ordinary column when there are none', () => {
    const template = parse({ ceil: [{ name: '_row_head_', title: 'Area' }, { name: 'a' }] })
    expect(template.fields).toEqual(['_row_head_', 'a'])
  })

  test('leave the columns to the data when only they are declared', () => {
    for (const only of [{ ceil: [], row }, { ceil: null, row }, { row }]) {
      expect(parse(only, ['_row_head_', 'a', 'b']).fields).toEqual(['a', 'b'])
      expect(parse(only).fields).toEqual([])
    }
    expect(parseTemplate({ ceil: [] })).toBeNull()
    expect(parse({ ceil: [], row: [] }, ['a']).fields).toEqual(['a'])
  })

  test('are the first columns of a CSV file, one a level', () => {
    const template = parse({ ceil: [{ name: 'a' }, { name: '__row__', title: 'Area' }], row })
    expect(csvHeader(template)).toEqual(['Area', '', 'a'])
    expect([...csvRowLabels(template)]).toEqual([
      ['n1', ['North', 'One']],
      ['n2', ['North', 'n2']],
      ['south', ['South', '']],
    ])
  })

  test('cannot share a name, nor stand in two columns', () => {
    expect(refusal({ ceil: [{ name: 'a' }], row: [{ name: 'x' }, { name: 'x' }] }).message).toContain(
      'template.row: two row headers are named "x"',
    )
    expect(refusal({ ceil: [{ name: '__row__' }, { name: '_row_head_' }], row }).message).toContain(
      'only one column',
    )
  })
})

describe('titles of a CSV file', () => {
  test('carry the titles of their groups where they would be the same', () => {
    const template = parse([
      {
        title: 'Recharge',
        children: [
          { name: 'a', title: 'Count' },
          { name: 'b', title: 'Sum' },
        ],
      },
      { title: 'Refund', children: [{ name: 'c', title: 'Count' }] },
    ])
    expect(csvHeader(template)).toEqual(['Recharge / Count', 'Sum', 'Refund / Count'])
  })
})

describe('a template that is refused', () => {
  const deep = (levels: number): unknown =>
    levels === 0 ? { name: 'x' } : { title: 'g', children: [deep(levels - 1)] }

  test.each<[unknown, string, string]>([
    [[{ name: 'a' }, {}], 'template[1]', 'a node needs a name or a title'],
    [[{ name: '_' }], 'template[0]', 'a node needs a name or a title'],
    [['a'], 'template[0]', 'expected a node'],
    ['a', 'template', 'expected a list of nodes'],
    [{ ceil: 5, row: [] }, 'template.ceil', 'expected a list of nodes'],
    [{ ceil: [], col: [] }, 'template', 'both name the columns'],
    [{ a: { title: 'A' } }, 'template.a', 'expected a title'],
    [[{ name: 'a', type: 'currency' }], 'template[0].type', 'expected one of auto, string'],
    [[{ name: 'a', align: 'middle' }], 'template[0].align', 'expected one of left, center, right'],
    [[{ name: 'a', 'v-align': 'center' }], 'template[0].v-align', 'expected one of top, middle, bottom'],
    [[{ name: 'a', color: 'purple-ish' }], 'template[0].color', 'expected a colour'],
    [[{ name: 'a', bg_color: 'FFF0' }], 'template[0].bg_color', 'expected a colour'],
    [[{ name: 'a', bold: 'yes' }], 'template[0].bold', 'expected true or false'],
    [[{ name: 'a', width: 300 }], 'template[0].width', 'up to 255'],
    [[{ title: 'g', width: 9, children: [{ name: 'a' }] }], 'template[0].width', 'its columns'],
    [
      [{ name: 'a', condition_style: [{ condition: '> 0' }] }],
      'template[0].condition_style[0]',
      'changes nothing',
    ],
    [[{ name: 'a', height: -1 }], 'template[0].height', 'up to 409'],
    [[{ name: 'a', children: 'b' }], 'template[0].children', 'expected a list of nodes'],
    [[{ name: { a: 1 } }], 'template[0].name', 'expected a text'],
    [[{ name: 'a', condition_style: {} }], 'template[0].condition_style.condition', 'missing'],
    ...["> '01.06.2026'", "= 'unknown' or not < ''", '<= 7'].map((condition): [unknown, string, string] => [
      [{ name: 'a', type: 'date', condition_style: { condition, bold: true } }],
      'template[0].condition_style.condition',
      'is no date; write it as',
    ]),
    [[{ name: 'a', condition_style: [7] }], 'template[0].condition_style[0]', 'expected an object'],
    [
      { ceil: [{ name: 'a' }], row: [{ name: 'r', row_count: 1.5 }] },
      'template.row[0].row_count',
      'whole number',
    ],
    [[deep(15), deep(16)], `template[1]${'.children[0]'.repeat(16)}`, '16 levels deep'],
    [Array.from({ length: 16_385 }, () => ({ name: 'a' })), 'template[16384]', '16384 leaves'],
  ])('%# names the place', (input, path, message) => {
    const refused = refusal(input)
    expect(refused.path).toBe(path)
    expect(refused.message).toContain(`${path}: `)
    expect(refused.message).toContain(message)
  })

  test('earlier and later are asked of dates in a column of dates, and equal to anything', () => {
    for (const condition of [
      "> '2026-06-01'",
      '< 20260601 and >= 1780000000',
      "= 'unknown' or > '2026/06/01 10:30'",
    ])
      expect(
        parseTemplate([{ name: 'a', type: 'datetime', condition_style: { condition, bold: true } }]),
      ).not.toBeNull()
  })

  test('names the position inside a condition', () => {
    const node = { name: 'a', condition_style: [{ condition: '>=0 or' }] }
    const refused = refusal({ ceil: [{ name: 'x' }, { title: 'g', children: [node] }] })
    expect(refused.message).toBe(
      'template.ceil[1].children[0].condition_style[0].condition, position 7: expected a comparison such as >= 0, found the end',
    )
  })
})

describe('a field that nobody reads', () => {
  test.each([
    [[{ name: 'a', v_align: 'top' }], 'template[0].v_align: there is no such field; did you mean "v-align"?'],
    [[{ nmae: 'a' }], 'template[0].nmae: there is no such field; did you mean "name"?'],
    [[{ name: 'a', bgColor: true }], 'template[0].bgColor: there is no such field; did you mean "bg_color"?'],
    [
      [{ title: 'G', children: [{ nmae: 'a', title: 'A' }] }],
      'template[0].children[0].nmae: there is no such field; did you mean "name"?',
    ],
    [
      [{ name: 'a', condition_style: { condition: '> 0', colour: 'red' } }],
      'template[0].condition_style.colour: there is no such field; did you mean "color"?',
    ],
    [
      { ceil: [{ name: 'a' }], rows: [{ name: 'r' }] },
      'template.rows: there is no such field; did you mean "row"?',
    ],
    [
      { ceil: [{ name: 'a' }], row: [{ name: 'r', rowcount: 2 }] },
      'template.row[0].rowcount: there is no such field; did you mean "row_count"?',
    ],
    [
      { row: [{ name: 'r', width: 2 }] },
      'template.row[0].width: there is no such field; known are name, title, children, row_count, align, v-align, bold, color, bg_color',
    ],
  ])('%j is refused with its place', (template, message) => {
    expect(refusal(template).message).toBe(message)
  })

  test('may have any name in the short form', () => {
    expect(parse({ v_align: 'A', rows: 'B' }).fields).toEqual(['v_align', 'rows'])
  })
})

describe('a number format', () => {
  test.each([
    '0',
    '#,##0.00',
    '0.00%',
    '0.00E+00',
    'yyyy-mm-dd hh:mm:ss',
    'yyyy"年"m"月"d"日"',
    'h:mm AM/PM',
    '[h]:mm:ss',
    '[Red]-0;[>=100]0',
    '_(* #,##0_);_(* (#,##0)',
    '"kg" 0',
    '0\\x',
    '[$¥-804]#,##0',
    'General',
    '0.0 ¥',
    '# ?/?',
    '[DBNum1]0',
    'aaaa',
    '@',
    '€ 0',
  ])('%s is taken', (format) => {
    expect(parse([{ name: 'a', format }]).leaves[0]!.style.format).toBe(format)
  })

  test.each([
    ['0 kg', 'text such as "k" must be in quotes'],
    ['0"kg', 'a quote or a backslash is left open'],
    ['[Pink]0', '[Pink] means nothing'],
    ['[h', 'a bracket is left open'],
    ['0;0;0;0;0', 'it has more than four sections'],
    ['0'.repeat(256), 'it is longer than 255 characters'],
    ['0\n', 'it has control characters'],
  ])('%j is refused with the reason', (format, reason) => {
    const { message, path } = refusal([{ title: 'x' }, { name: 'a', format }])
    expect([path, message]).toEqual([
      'template[1].format',
      expect.stringContaining(`is no number format: ${reason}`),
    ])
  })
})
