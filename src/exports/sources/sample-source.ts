/**
 * The built-in sample source: orders that are the same every time, in two languages, with every type of cell and a
 * header of three levels, so that a newcomer has something to export.
 */
export interface SamplePage {
  total: number
  data: Record<string, unknown>[]
  template: unknown
  header: Record<string, string>
  footer: string
}

const NAMES = ['王伟', '李娜', '张敏', '刘洋', 'Anna Novak', 'John Smith', '陈静', 'Marta Silva']
const CITIES = ['上海', '北京', 'Berlin', '深圳', 'Lisbon', '杭州']
const STATUSES = ['paid', 'pending', 'refunded', 'cancelled'] as const
const FIRST_DAY = Date.UTC(2026, 0, 1)
const MINUTE = 60_000

const TEMPLATE = [
  { name: 'id', title: '订单号 Order', type: 'string', align: 'left' },
  {
    title: '客户 Customer',
    children: [
      { name: 'customer', title: '姓名 Name', align: 'left' },
      { name: 'city', title: '城市 City' },
    ],
  },
  {
    title: '金额 Amounts',
    children: [
      {
        title: '收入 Income',
        children: [
          { name: 'amount', title: '金额 Amount', type: 'money', align: 'right' },
          { name: 'discount', title: '折扣 Discount', type: 'percent' },
        ],
      },
      {
        name: 'balance',
        title: '余额 Balance',
        type: 'money',
        align: 'right',
        condition_style: [{ condition: '< 0', color: 'red', bold: true }],
      },
    ],
  },
  {
    name: 'status',
    title: '状态 Status',
    condition_style: [
      { condition: "= 'refunded' or = 'cancelled'", bg_color: 'FFE0E0' },
      { condition: "= 'paid'", color: 'green' },
    ],
  },
  { name: 'created_at', title: '下单时间 Created', type: 'datetime' },
  { name: 'delivery', title: '送货 Delivery', type: 'date' },
  { name: 'express', title: '加急 Express', type: 'boolean' },
]

export function sampleOrders(rows: number, page: number, pageSize: number): SamplePage {
  const first = page * pageSize
  const count = Math.max(0, Math.min(pageSize, rows - first))
  return {
    total: rows,
    data: Array.from({ length: count }, (_, index) => order(first + index)),
    template: TEMPLATE,
    header: { '来源 Source': 'Wharf sample', '行数 Rows': String(rows) },
    footer: '示例数据，仅供演示。 Sample data, for demonstration only.',
  }
}

function order(n: number): Record<string, unknown> {
  const amount = ((n * 7919) % 100_000) / 100 + 1
  return {
    id: `W${String(n + 1).padStart(10, '0')}`,
    customer: NAMES[(n * 5) % NAMES.length],
    city: CITIES[(n * 7) % CITIES.length],
    amount,
    discount: ((n * 3) % 20) / 100,
    balance: Math.round((((n * 104_729) % 200_000) / 100 - 1000) * 100) / 100,
    status: STATUSES[(n * 11) % STATUSES.length],
    created_at: new Date(FIRST_DAY + n * MINUTE).toISOString(),
    delivery: new Date(FIRST_DAY + n * MINUTE + 3 * 86_400_000).toISOString().slice(0, 10),
    express: n % 3 === 0,
  }
}
