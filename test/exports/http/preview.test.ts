import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Preview, TablePreview } from '../../../src/exports/index.ts'
import { cellReference } from '../../../src/exports/xlsx/cell-reference.ts'
import type { BusinessSystem } from '../../support/business-system.ts'
import { type ExportClient, problemOf, startExports } from '../../support/export-client.ts'
import type { SeenSheet } from '../xlsx/foreign-reader.ts'

async function previewOf(client: ExportClient, body: object): Promise<Preview> {
  const answer = await client.ask('POST', '/api/exports/preview', { key: client.project.key, body })
  const preview = (await answer.json()) as Preview
  expect(answer.status, JSON.stringify(preview)).toBe(200)
  return preview
}

/** Value and look of each data cell of the file, in openpyxl's words, and of the preview in the same. */
function compared({ top, data, styles }: TablePreview, { cells }: SeenSheet) {
  const shown = data.flatMap(({ row, cells: seen }) =>
    seen.map(({ column, value, formula, type, style: number, text }) => {
      const style = styles[number]!
      const look = {
        bold: style.bold ?? false,
        color: style.color ?? null,
        bgColor: style.bgColor ?? null,
        align: style.align ?? null,
        wrap: style.wrap ?? false,
        format: style.format ?? 'General',
      }
      const plain = formula === undefined ? (type === 'date' ? { date: text } : value) : `=${formula}`
      return [cellReference(row, column), { value: plain, look }] as const
    }),
  )
  const found = Object.keys(Object.fromEntries(shown)).map((at) => {
    const { value, look } = cells[at]!
    const { bold, color, bgColor, align, wrap, format } = look
    const date = value !== null && typeof value === 'object' && { date: value.date.slice(0, 10) }
    return [at, { value: date || value, look: { bold, color, bgColor, align, wrap, format } }] as const
  })
  const below = Object.keys(cells).filter((at) => Number(at.replace(/\D/g, '')) > top.rows)
  return { shown: Object.fromEntries(shown), found: Object.fromEntries(found), below }
}

const rows = Array.from({ length: 12 }, (_, n) => ({
  id: n === 3 ? 12345678901234567n : n,
  name: ['Anna', ' 王伟 ', 'x < "y" & z', 'two\r\nlines', '_x0041_'][n % 5],
  amount: n % 4 === 0 ? null : (n - 5) * 119.37 * 1.19,
  rate: n / 40,
  day: `2026-03-${String(n + 1).padStart(2, '0')}`,
  ok: n % 3 === 0,
  url: n % 2 ? `https://example.com/${n}?a=1&b=2#c` : 'none',
  extra: 1,
}))
const json = (value: unknown) =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `@${part}@` : part)).replace(
    /"@(\d+)@"/g,
    '$1',
  )

function sourceOf(business: BusinessSystem, answer: string): string {
  return business.at('/rows', (_, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(answer)
  })
}

const TEMPLATE = [
  { name: 'id', title: 'No.' },
  { name: 'name', title: 'Name', align: 'left' },
  {
    title: 'Money',
    children: [
      {
        name: 'amount',
        type: 'money',
        format: '#,##0.00;[Red]-#,##0.00',
        totals: 'sum',
        condition_style: [{ condition: '> 200', color: 'green', bold: true, bg_color: 'yellow' }],
      },
      { name: 'rate', type: 'percent', totals: 'avg' },
    ],
  },
  { name: 'day', type: 'date' },
  { name: 'ok', type: 'boolean' },
  { name: 'url', type: 'link' },
]

test('a preview is the file: every cell has its value, its look and what is shown of it', async () => {
  const { business, client, config } = await startExports()
  const url = sourceOf(business, json({ total: rows.length, data: rows }))
  for (const more of [{ template: TEMPLATE, title: 'T', footer: 'end' }, {}, { theme: 'plain' }]) {
    const body = { source_url: url, type: 'excel', file_name: 'orders', ...more }
    const { task_id } = await client.run(body)
    const [sheet] = await client.sheets(task_id)
    const preview = await previewOf(client, body)
    const { shown, found, below } = compared(preview.tables[0]!, sheet!)
    expect(shown).toEqual(found)
    expect(Object.keys(shown).length).toBeGreaterThanOrEqual(below.length - ('footer' in more ? 1 : 0))
    expect(preview.tables[0]!.widths).toHaveLength(Object.keys(sheet!.widths).length)
    const { tables, warnings } = (await (await client.get(task_id, '/report')).json()) as Preview & {
      tables: object[]
    }
    expect(preview.tables[0]!.report).toEqual(tables[0])
    expect(preview.warnings).toEqual(warnings)
  }
  const { tables } = await previewOf(client, { source_url: url, type: 'excel', template: TEMPLATE })
  const [{ data, styles, report }] = tables as [TablePreview]
  const texts = data.map(({ cells }) => cells.map(({ text }) => text))
  expect(texts[1]).toEqual(['1', ' 王伟 ', '-568.20', '2.50%', '2026-03-02', 'FALSE', rows[1]!.url])
  expect(texts[3]![0]).toBe('12345678901234567')
  expect(data[1]!.cells[2]).toMatchObject({ type: 'number', color: 'FF0000' })
  expect(data[1]!.cells[6]!.link).toBe(rows[1]!.url)
  expect(styles[data[7]!.cells[2]!.style]).toMatchObject({ color: '008000', bgColor: 'FFFF00', bold: true })
  expect(data.at(-1)!.cells[2]).toMatchObject({ formula: 'SUBTOTAL(109,C3:C14)' })
  expect(report).toMatchObject({ written: 12, left_out: ['extra'] })
  expect([report.columns[0]!.misfits, report.columns[2]!.nulls]).toEqual([1, 3])
  expect(readdirSync(join(config.WHARF_DATA_DIR, 'sync'))).toEqual([])
})

test('a preview of row headers has their labels and subtotals, and fails as the export would', async () => {
  const { business, client } = await startExports()
  const data = { oslo: [{ n: 1 }, { n: 2 }], kiel: [{ n: 3 }] }
  const url = sourceOf(business, json({ total: 3, data }))
  const row = [{ title: 'North', children: [{ name: 'oslo' }, { name: 'kiel' }] }]
  const ceil = [{ name: 'n', type: 'number', totals: 'sum' }]
  const body = { source_url: url, type: 'excel', template: { ceil, row, subtotals: true } }
  const [table] = (await previewOf(client, body)).tables as [TablePreview]
  expect(table.data.map(({ cells }) => cells.map(({ text, rowSpan }) => `${text}×${rowSpan}`))).toEqual([
    ['North×4', 'oslo×2', '1×1'],
    ['2×1'],
    ['oslo subtotal×1', '3×1'],
    ['kiel×1', '3×1'],
    ['North subtotal×1', '6×1'],
    ['Total×1', '6×1'],
  ])
  const wrong = { ...body, template: { ceil, row: [{ name: 'oslo' }] } }
  const refused = client.ask('POST', '/api/exports/preview', { key: client.project.key, body: wrong })
  expect(await problemOf(refused)).toMatchObject({ code: 'SOURCE_ROW_HEAD_UNKNOWN' })
})

test('previews of other files have their records, and no more rows than a sample', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    total: 300,
    row: (n) => ({ id: n, text: n === 1 ? 'a;"b"\n=1+1' : `row ${n}` }),
  })
  const texts = async (more: object) => {
    const { tables } = await previewOf(client, { source_url: source.url, ...more })
    const [{ top, data }] = tables as [TablePreview]
    expect(data).toHaveLength(20)
    const titles = top.cells.map(({ value }) => value)
    return [titles, ...data.slice(0, 2).map(({ cells }) => cells.map(({ text }) => text))]
  }
  const template = [{ name: 'id', title: 'Id' }, { name: 'text', title: 'Text' }, { name: 'none' }]
  const csv = { delimiter: ';', encoding: 'gb18030', quote: 'minimal' }
  expect(await texts({ template, csv })).toEqual([
    ['Id', 'Text', 'none'],
    ['0', 'row 0', ''],
    ['1', 'a;"b"\n=1+1', ''],
  ])
  for (const type of ['jsonl', 'parquet'])
    expect(await texts({ type, template })).toEqual([
      ['id', 'text'],
      ['0', 'row 0'],
      ['1', 'a;"b"\n=1+1'],
    ])
})
