import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseCondition } from '../../../src/exports/condition/index.ts'
import type { CellType } from '../../../src/exports/sheet/index.ts'
import { readWorkbook } from '../../../src/exports/xlsx/index.ts'
import { column, Digits, plan, type SpoolValue, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

/** The values whose cells are red. */
async function red(type: CellType, condition: string, values: SpoolValue[]): Promise<SpoolValue[]> {
  const conditions = [{ when: parseCondition(condition), style: { bgColor: 'FF0000' } }]
  const { files } = await bench.write({
    timezone: 'Europe/Berlin',
    sheets: [
      {
        plan: plan([column(0, type, { conditions })]),
        segments: [bench.spool(values.map((value) => [value]))],
      },
    ],
  })
  const [sheet] = await readWorkbook(files[0]!.path)
  const rows = sheet!.rows.filter(({ cells }) => sheet!.styles[cells[0]?.style ?? 0]!.bgColor === 'FF0000')
  return rows.map(({ row }) => values[row - 1])
}

const BEFORE = ['2026-05-31', '2026/01/15', '20260115', 20260115, '2026-05-31T21:59:59Z', 1_780_264_799_000]
const SINCE = [
  '2026-06-01',
  '2026/06/01',
  '20260715',
  20260715,
  1_784_073_600_000,
  '1784073600',
  '2026-05-31T23:30:00Z',
  '2026-06-01T00:30:00+02:00',
]

test.each(['date', 'datetime'] as const)(
  'conditions of a %s column compare dates, however they are written',
  async (type) => {
    const values = [...BEFORE, ...SINCE, 'n/a', '', null, true, 7]
    expect(await red(type, ">= '2026-06-01'", values)).toEqual(SINCE)
    expect(await red(type, '>= 20260601', values)).toEqual(SINCE)
    expect(await red(type, "< '2026/06/01'", values)).toEqual(BEFORE)
  },
)

test('the date of the cell is compared, not the instant that it was', async () => {
  const values = ['2026-06-01T10:00:00', '2026-05-31T22:30:00Z', '2026-05-31T21:30:00Z', 'n/a']
  expect(await red('date', '= 2026-06-01', values)).toEqual(values.slice(0, 2))
  expect(await red('date', "!= '2026-06-01'", values)).toEqual(values.slice(2))
  expect(await red('date', "in (2026-06-01, 'n/a')", values)).toEqual([values[0], values[1], 'n/a'])
  expect(await red('datetime', "= '2026-06-01T08:00:00Z'", values)).toEqual(values.slice(0, 1))
  expect(await red('datetime', "= '2026-06-01 10:00:00.5'", ['2026-06-01T10:00:00.500'])).toHaveLength(1)
  // Dates from before 1900 are texts in a workbook, and dates all the same.
  expect(await red('date', "< '1900-01-01'", ['1850-01-01', '18500101', 18500101, 'x'])).toHaveLength(3)
})

test('a pattern looks at a date as the source wrote it', async () => {
  expect(await red('date', "like '2026-06%'", ['2026-06-01', '2026/06/01'])).toEqual(['2026-06-01'])
})

test('ids that are too long for a double are compared digit by digit', async () => {
  const [id, next] = ['123456789012345678', '123456789012345679']
  expect(await red('string', `in (${id})`, [id, next])).toEqual([id])
  for (const type of ['auto', 'integer'] as const) {
    const values = [new Digits(id), new Digits(next)]
    expect(await red(type, `= '${id}'`, values)).toEqual(values.slice(0, 1))
    expect(await red(type, `= ${id}`, values)).toEqual(values.slice(0, 1))
    expect(await red(type, `> ${id}`, values)).toEqual(values.slice(1))
    expect(await red(type, '= 12345678901234568', [new Digits('12345678901234567')])).toEqual([])
  }
})
