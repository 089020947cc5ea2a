import { once } from 'node:events'
import { createWriteStream } from 'node:fs'

const FAMILY = [...'王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗']
const GIVEN = [...'伟芳娜敏静丽强磊军洋勇艳杰娟涛明超秀霞平刚桂英华玉兰']
const STATUS = ['paid', 'pending', 'refunded', 'cancelled']
const NOTES = [
  'call before "noon", please',
  'R&D <urgent>',
  'deliver to the back door',
  'a < b & c',
  'gift, no bill',
  '',
]
const SLICE = 4 << 20

export interface BenchSpool {
  path: string
  rows: number
  slices: { offset: number; bytes: number; rows: number }[]
  widths: number[]
}

export const FIELDS = [
  'id',
  'order_no',
  'name',
  'date',
  'amount',
  'discount',
  'rate',
  'status',
  'phone',
  'note',
]

/** The same rows every time: a linear congruential generator with a fixed seed. */
export function makeRandom(): () => number {
  let seed = 20_240_229
  return () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return seed / 0x1_0000_0000
  }
}

export function makeRow(n: number, random: () => number): (string | number)[] {
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)]!
  const day = new Date(Date.UTC(2020, 0, 1) + Math.floor(random() * 1800) * 86_400_000)
  return [
    n + 1,
    `ORD${String(Math.floor(random() * 1e8)).padStart(8, '0')}${String(n).padStart(9, '0')}`,
    pick(FAMILY) + pick(GIVEN) + pick(GIVEN),
    day.toISOString().slice(0, 10),
    Math.floor(random() * 1e7) / 100,
    Math.floor(random() * 1e4) / 100,
    Math.floor(random() * 1e4) / 1e4,
    pick(STATUS),
    `1${String(Math.floor(random() * 1e10)).padStart(10, '0')}`,
    `${pick(NOTES)}${random() < 0.5 ? ` #${Math.floor(random() * 1e5)}` : ''}`,
  ]
}

/** Writes a spool of `rows` rows, with the index that its maker would keep. */
export async function makeSpool(path: string, rows: number): Promise<BenchSpool> {
  const file = createWriteStream(path)
  const random = makeRandom()
  const slices: BenchSpool['slices'] = []
  let batch: string[] = []
  let pending = { bytes: 0, rows: 0 }
  let offset = 0
  const flush = async () => {
    if (!file.write(batch.join(''))) await once(file, 'drain')
    slices.push({ offset, ...pending })
    offset += pending.bytes
    batch = []
    pending = { bytes: 0, rows: 0 }
  }
  for (let n = 0; n < rows; n += 1) {
    const line = `${makeRow(n, random).map(spoolField).join(',')}\n`
    batch.push(line)
    pending.bytes += Buffer.byteLength(line)
    pending.rows += 1
    if (pending.bytes >= SLICE) await flush()
  }
  if (pending.rows > 0) await flush()
  file.end()
  await once(file, 'close')
  return { path, rows, slices, widths: [7, 20, 6, 10, 8, 5, 6, 9, 11, 34] }
}

function spoolField(value: string | number): string {
  return typeof value === 'number' ? String(value) : `"${value.replaceAll('"', '""')}"`
}
