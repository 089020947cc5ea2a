import { parseTemplate, planSheet, templateFromKeys } from '../../../src/exports/template/index.ts'
import type { SheetRequest } from '../../../src/exports/template/plan-sheet.ts'
import type { SheetInput } from '../../../src/exports/xlsx/index.ts'
import type { Row, setup } from '../xlsx/spool-fixture.ts'

interface Golden {
  template?: unknown
  /** Without a template: the columns. */
  keys?: string[]
  rows?: Row[]
  groups?: Record<string, Row[]>
  widths: number[]
  numeric?: number[]
  more?: Partial<SheetRequest>
}

const CITIES = ['Oslo', '上海', 'Reykjavík', '北京', 'São Paulo', 'Kiel', '広島', 'Lagos']
const cities = (count: number) =>
  Array.from({ length: count }, (_, n): Row => [n + 1, CITIES[n % 8]!, 1200 * (n + 1) + 0.5, n % 3 === 0])
const LONG =
  'A woman and a robot cross the desert in a truck that was never meant to carry either of them; what they find is water.'
const ORDERS = [
  { name: 'id', title: 'Order' },
  {
    title: 'Customer',
    children: [
      { name: 'name', title: 'Name' },
      { name: 'city', title: 'City' },
    ],
  },
  {
    title: 'Amounts',
    children: [
      {
        title: 'Income',
        children: [
          { name: 'amount', title: 'Amount', type: 'money' },
          { name: 'rate', title: 'Discount', type: 'percent' },
        ],
      },
      {
        name: 'balance',
        title: 'Balance',
        type: 'money',
        condition_style: [{ condition: '< 0', color: 'red', bold: true }],
      },
    ],
  },
]
const orders = Array.from(
  { length: 12 },
  (_, n): Row => [
    `W${1001 + n}`,
    n % 2 === 0 ? 'Anna Novak' : '王伟',
    CITIES[n % 8]!,
    80.19 * (n + 1),
    0.03,
    47.29 - n * 10,
  ],
)
const REGIONS = {
  ceil: [
    { name: '__row__', title: 'Region' },
    { name: 'item', title: 'Item' },
    { name: 'sum', title: 'Sum', type: 'money' },
  ],
  row: [
    {
      title: 'North',
      children: [
        { name: 'oslo', title: 'Oslo' },
        { name: 'kiel', title: 'Kiel', row_count: 2 },
      ],
    },
    { name: 'rome', title: 'Rome' },
  ],
}
const regions = {
  oslo: [
    ['chairs', 10],
    ['tables', 20.5],
  ],
  kiel: [['lamps', 30]],
  rome: [
    ['sofas', 40],
    ['beds', 4100],
  ],
} as Record<string, Row[]>

/** Small workbooks that show, between them, everything that a sheet may look like. */
export const GOLDEN: Record<string, Golden> = {
  'no-template': {
    keys: ['id', 'city', 'income', 'open'],
    rows: cities(12),
    widths: [2, 9, 8, 5],
    numeric: [0, 2],
  },
  'no-template-plain': {
    keys: ['id', 'city', 'income', 'open'],
    rows: cities(12),
    widths: [2, 9, 8, 5],
    numeric: [0, 2],
    more: { theme: 'plain' },
  },
  'three-levels': {
    template: ORDERS,
    rows: orders,
    widths: [5, 10, 9, 8, 4, 8],
    more: { title: 'Orders 订单' },
  },
  'three-levels-plain': {
    template: ORDERS,
    rows: orders,
    widths: [5, 10, 9, 8, 4, 8],
    more: { title: 'Orders 订单', theme: 'plain' },
  },
  'row-headers': { template: REGIONS, groups: regions, widths: [6, 5], more: { title: 'Stock by region' } },
  'title-summary-header': {
    template: ORDERS,
    rows: orders.slice(0, 5),
    widths: [5, 10, 9, 8, 4, 8],
    more: {
      title: '加油站订单月报',
      summary:
        'All orders of <b>March</b>, refunds <font color="red">not included</font>.<br>数据截至 2026-03-31。',
      header: { 油站: '钓鱼岛', Period: '2026-03', 操作员: '松林', Rows: 5 },
      footer: { 签名: '', 日期: '' },
    },
  },
  'long-texts': {
    keys: ['title', 'plot', 'note'],
    rows: [
      ['Sand', LONG, 'ok'],
      [
        '水',
        '沙漠里有一个女人和一个机器人，他们开着一辆从来不是为他们准备的卡车穿越沙漠，最后找到了水。'.repeat(
          2,
        ),
        'first line\nsecond line\r\nthird',
      ],
      ['Short', 'short', ''],
    ],
    widths: [5, 60, 11],
  },
  'own-styles': {
    template: [
      { name: 'id', title: 'Id', bg_color: 'yellow', align: 'left' },
      { name: 'city', title: 'City', color: 'blue', bold: true, 'v-align': 'top' },
      {
        name: 'income',
        title: 'Income',
        type: 'money',
        align: 'right',
        condition_style: { condition: '> 9000', bg_color: 'cyan', color: 'red' },
      },
      { name: 'open', title: 'Open', bg_color: true, height: 28 },
    ],
    rows: cities(9),
    widths: [2, 9, 8, 5],
  },
  types: {
    template: ['date', 'datetime', 'percent', 'money', 'integer', 'boolean', 'string'].map((type) => ({
      name: type,
      title: type,
      type,
    })),
    rows: [
      ['2026-02-28', '2026-02-28T22:30:00Z', 0.125, -1234567.891, 42, true, '007'],
      ['soon', null, 1.5, 0, 2.5, false, 17],
      [null, null, null, null, null, null, null],
    ],
    widths: [10, 20, 5, 12, 3, 5, 4],
  },
  wide: {
    template: Array.from({ length: 18 }, (_, n) => ({ name: `c${n}`, title: `Column number ${n + 1}` })),
    rows: Array.from({ length: 6 }, (_, y): Row => Array.from({ length: 18 }, (_, x) => x * 1000 + y)),
    widths: Array(18).fill(5),
    more: { title: 'A wide sheet prints in landscape' },
  },
  empty: {
    template: ORDERS,
    rows: [],
    widths: [],
    more: { title: 'No orders', summary: 'Nothing was sold.' },
  },
  links: {
    template: [
      { name: 'site', title: 'Site', align: 'left' },
      { name: 'url', title: 'Address', type: 'link', align: 'left' },
      { name: 'seen', title: 'Seen', type: 'date' },
    ],
    rows: [
      ['Example', 'https://example.com/a b?x=1&y="2"#part', '2026-02-28'],
      [
        'Long',
        `https://example.com/catalogue/${'a-long-way/'.repeat(6)}film-17?ref=export&lang=en`,
        '2026-02-28',
      ],
      ['Mail', 'mailto:someone@example.com', null],
      ['None', null, null],
    ],
    widths: [7, 60, 10],
  },
  totals: {
    template: [
      { name: 'id', title: 'No.', align: 'left' },
      { name: 'city', title: 'City', totals: 'count' },
      { name: 'income', title: 'Income', type: 'money', align: 'right', totals: 'sum' },
      { name: 'day', title: 'Day', type: 'date', totals: 'max' },
    ],
    rows: cities(9).map(([id, city, income], n): Row => [id, city, income, `2026-03-0${9 - n}`]),
    widths: [2, 9, 8, 10],
    more: { title: 'Income by city', footer: { Checked: '', Date: '' } },
  },
  subtotals: {
    template: {
      ...REGIONS,
      ceil: [
        { name: '__row__', title: '地区' },
        { name: 'item', title: 'Item' },
        { name: 'sum', title: 'Sum', type: 'money', totals: 'sum' },
      ],
      subtotals: true,
    },
    groups: regions,
    widths: [6, 5],
  },
  watermark: {
    template: ORDERS,
    rows: orders,
    widths: [5, 10, 9, 8, 4, 8],
    more: {
      title: 'Orders 订单',
      watermark: [
        '松林 (Sales, key reports)',
        '2026-03-31 08:00:00 UTC · 0195f0a2-0000-7000-8000-000000000001',
      ],
    },
  },
  'deep-tree': {
    template: {
      ceil: [
        {
          title: 'A',
          children: [
            {
              title: 'B',
              children: [
                {
                  title: 'C',
                  children: [
                    { name: 'a', title: 'a' },
                    { name: 'b', title: 'b' },
                  ],
                },
                { name: 'c', title: 'c' },
              ],
            },
          ],
        },
      ],
      row: [
        {
          title: '华东',
          children: [
            {
              title: '上海',
              children: [
                { name: 'x', title: '浦东' },
                { name: 'y', title: '徐汇' },
              ],
            },
            { name: 'z', title: '杭州' },
          ],
        },
      ],
    },
    groups: {
      x: [[1, 2, 3]],
      y: [
        [4, 5, 6],
        [7, 8, 9],
      ],
      z: [[10, 11, 12]],
    },
    widths: [2, 2, 2],
  },
}

export function goldenSheet(
  { template, keys, rows, groups, widths, numeric, more }: Golden,
  bench: ReturnType<typeof setup>,
): SheetInput {
  const plan = planSheet({
    name: 'golden',
    template: keys ? templateFromKeys(keys) : parseTemplate(template)!,
    numeric: new Set(numeric),
    ...more,
  })
  const segments = groups
    ? Object.entries(groups).map(([group, found]) => bench.spool(found, { group }))
    : [bench.spool(rows ?? [])]
  return { plan, segments, widths }
}
