import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CellType } from '../../../src/exports/sheet/index.ts'
import { readWorkbook } from '../../../src/exports/xlsx/index.ts'
import { readWorkbooks } from './foreign-reader.ts'
import { column, plan, type SpoolValue, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

async function book(type: CellType, format: string | undefined, values: SpoolValue[]): Promise<string> {
  const style = format === undefined ? {} : { format }
  const { files } = await bench.write({
    sheets: [
      { plan: plan([column(0, type, { style })]), segments: [bench.spool(values.map((value) => [value]))] },
    ],
  })
  return files[0]!.path
}

const LAST = '2026-12-31T23:59:59.999Z'

test.each([
  [undefined, '2026-12-31T23:59:59', '2026-12-31 23:59:59'],
  ['yyyy-mm-dd hh:mm', '2026-12-31T23:59:59', '2026-12-31 23:59'],
  ['yyyy-mm-dd "at" hh', '2026-12-31T23:59:59', '2026-12-31 at 23'],
  ['d. mmmm yyyy', '2026-12-31T23:59:59', '31. December 2026'],
  ['[Red]yyyy-mm-dd hh:mm:ss.0', '2026-12-31T23:59:59.900000', '2026-12-31 23:59:59.9'],
  ['yyyy-mm-dd hh:mm:ss.000', '2026-12-31T23:59:59.999000', '2026-12-31 23:59:59.999'],
])(
  'a datetime cell under %s ends with what it shows, and never on the next day',
  async (format, held, seen) => {
    const path = await book('datetime', format, [LAST, 1_798_761_599_999])
    const [sheets] = await readWorkbooks([path])
    const [preview] = await readWorkbook(path)
    for (const cell of ['A1', 'A2']) expect(sheets![0]!.cells[cell]!.value).toEqual({ date: held })
    expect(preview!.rows.map(({ cells }) => cells[0]!.text)).toEqual([seen, seen])
  },
)

test('a date column that shows the time ends with the second too, and one under a plain number format keeps all', async () => {
  const [dates, numbers] = await readWorkbooks([
    await book('date', 'yyyy-mm-dd hh:mm', [LAST]),
    await book('datetime', '0.000000000', ['2026-01-01T00:00:00.500Z']),
  ])
  expect(dates![0]!.cells.A1!.value).toEqual({ date: '2026-12-31T23:59:59' })
  expect(numbers![0]!.cells.A1!.value).toBeCloseTo(46_023 + 0.5 / 86_400, 10)
})
