/** The row that every export workload uses: number, text, Chinese name, date, three decimals, status, phone, note. */
export interface OrderRow {
  id: number
  order_no: string
  customer: string
  created_at: string
  amount: number
  discount: number
  tax: number
  status: string
  phone: string
  note: string
}

const SURNAMES = [...'王李张刘陈杨黄赵周吴']
const GIVEN = ['伟', '芳', '秀英', '敏', '静', '丽', '强', '磊', '洋', '艳']
const STATUSES = ['paid', 'pending', 'refunded', 'cancelled']

/** Deterministic, so that runs can be compared. */
export function orderRow(id: number): OrderRow {
  const mixed = Math.imul(id + 1, 0x9e3779b1) >>> 0
  return {
    id,
    order_no: `ORD${String(mixed).padStart(17, '0')}`,
    customer: `${SURNAMES[mixed % 10]}${GIVEN[(mixed >>> 4) % 10]}`,
    created_at: new Date(1_700_000_000_000 + id * 61_000).toISOString().slice(0, 19).replace('T', ' '),
    amount: (mixed % 1_000_000) / 100,
    discount: (mixed % 997) / 100,
    tax: (mixed % 89) / 1_000,
    status: STATUSES[mixed % 4]!,
    phone: `138${String(mixed % 100_000_000).padStart(8, '0')}`,
    note: id % 3 === 0 ? 'left at door, "gate 4" & <code>' : 'none, thanks',
  }
}

export const ORDER_FIELDS = Object.keys(orderRow(0))
