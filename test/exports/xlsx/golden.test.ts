import { afterAll, beforeAll, expect, test } from 'vitest'
import { readParts } from './foreign-reader.ts'
import { column, Digits, plan, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

test('every part of a workbook is, letter by letter, what it was before', async () => {
  const head = { bold: true, align: 'center', vAlign: 'middle', bgColor: 'D9D9D9' } as const
  const area = (value: string, columnSpan: number) => ({
    rows: 1,
    heights: [24],
    cells: [{ row: 0, column: 0, rowSpan: 1, columnSpan, value, style: head }],
  })
  const columns = [
    column(0, 'integer'),
    column(1, 'money', { conditions: [{ when: { op: '<', value: 0 }, style: { color: 'FF0000' } }] }),
    column(2, 'datetime'),
    column(3, 'string', { style: { wrap: true }, width: 20 }),
  ]
  const segments = [
    bench.spool([
      [1, -2.5, '2024-02-29T08:00:00Z', 'a & b'],
      [2, new Digits('12345678901234567890'), 'soon', ' blank'],
      [3, null, undefined, true],
    ]),
  ]
  const sheet = plan(columns, { name: '订单', top: area('Orders', 4), bottom: area('end', 1), rowHeight: 18 })
  const { files } = await bench.write({
    sheets: [{ plan: sheet, segments, widths: [1, 20, 20, 6] }],
    timezone: 'Asia/Shanghai',
  })
  const parts = readParts(files[0]!.path)
  expect(Object.keys(parts)).toEqual([
    '_rels/.rels',
    'docProps/app.xml',
    'docProps/core.xml',
    'xl/theme/theme1.xml',
    'xl/styles.xml',
    'xl/worksheets/sheet1.xml',
    'xl/workbook.xml',
    'xl/_rels/workbook.xml.rels',
    '[Content_Types].xml',
  ])
  const text = Object.entries(parts).map(([name, xml]) => `== ${name}\n${xml.replaceAll('><', '>\n<')}\n`)
  await expect(text.join('\n')).toMatchFileSnapshot('./golden/workbook.txt')
})
