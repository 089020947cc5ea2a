import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256, startExports } from '../../support/export-client.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'
import { readArchive, readWorkbooks, type SeenSheet, unpack } from '../xlsx/foreign-reader.ts'

test('a CSV file is exactly what was promised: mark, header, quotes, guarded formulas, every digit', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    instead: (_, response) => {
      response.end(`{"total": 3, "data": [
        {"id": 12345678901234567890, "name": "a,\\"b\\"\\nc", "sum": -1.10},
        {"id": 2, "name": "=HYPERLINK(1)", "sum": "-1"},
        {"id": null, "name": true, "extra": 1}]}`)
      return true
    },
  })
  const template = [
    { name: 'id', title: 'No.' },
    { title: 'G', children: [{ name: 'name', title: '姓名' }, { name: 'sum' }] },
  ]
  const view = await client.run({ source_url: source.url, template })
  const bytes = await client.bytes(view.task_id)
  expect(bytes.toString()).toBe(
    '\ufeff"No.","姓名","sum"\r\n12345678901234567890,"a,""b""\nc",-1.10\r\n' +
      '2,"\'=HYPERLINK(1)","-1"\r\n,true,\r\n',
  )
  expect(view.file).toEqual({
    name: expect.any(String),
    size: bytes.length,
    sha256: sha256(bytes),
    rows: 3,
    parts: 1,
  })
  const bare = await client.run({ source_url: source.url, template, bom: false })
  expect((await client.bytes(bare.task_id)).subarray(0, 5).toString()).toBe('"No."')
})

test('without a template no key is lost, whichever row has it first', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    total: 250,
    row: (n) => ({ id: n, ...(n === 120 && { b: 'x' }), ...(n > 200 && { _row_head_: 'r' }), last: 1 }),
  })
  const body = { source_url: source.url, page_size: 100 }
  const csv = await client.run({ ...body, bom: false })
  const lines = (await client.bytes(csv.task_id)).toString().split('\r\n')
  expect([lines[0], lines[1], lines[121], lines[250]]).toEqual([
    '"id","last","b","_row_head_"',
    '0,1,,',
    '120,1,"x",',
    '249,1,,"r"',
  ])
  const key = client.project.key
  const sync = await client.ask('POST', '/api/exports?mode=sync', { key, body: { ...body, bom: false } })
  expect(await sync.text()).toBe(lines.join('\r\n'))
  const other = await client.run({ ...body, csv: { delimiter: ';', bom: false } })
  expect((await client.bytes(other.task_id)).toString()).toBe(lines.join('\r\n').replaceAll(',', ';'))

  const path = join(temporaryFolder(), 'all.xlsx')
  const excel = await client.run({ ...body, type: 'excel' })
  writeFileSync(path, await client.bytes(excel.task_id))
  const [[sheet]] = (await readWorkbooks([path])) as [[SeenSheet]]
  const row = (n: number) => ['A', 'B', 'C', 'D'].map((letter) => sheet.cells[`${letter}${n}`]?.value ?? null)
  expect([row(1), row(2), row(122), row(251)]).toEqual([
    ['id', 'last', 'b', '_row_head_'],
    [0, 1, null, null],
    [120, 1, 'x', null],
    [249, 1, null, 'r'],
  ])
})

test('rows that come twice fail the export or are told, as the request says, also at once', async () => {
  const { business, client } = await startExports()
  const deaf = business.source({ total: 250, row: (n) => ({ id: n % 100 }) })
  const twins = business.source({ total: 250, row: (n) => ({ id: n === 249 ? 0 : n }) })
  const end = async (body: object) => {
    const view = await client.ended((await client.start({ page_size: 100, ...body })).task_id)
    return [view.status, view.error?.code ?? view.warnings.join()]
  }
  expect(await end({ source_url: deaf.url })).toEqual(['failed', 'SOURCE_PAGE_REPEATED'])
  expect(await end({ source_url: deaf.url, on_duplicates: 'warn' })).toEqual([
    'succeeded',
    '1 page has the same rows as an earlier page',
  ])
  const keyed = { source_url: twins.url, key: ['id'] }
  expect(await end(keyed)).toEqual([
    'succeeded',
    expect.stringMatching(/^1 row repeats the id .* row 250, like row 1$/),
  ])
  expect(await end({ ...keyed, on_duplicates: 'fail' })).toEqual(['failed', 'SOURCE_ROWS_REPEATED'])
  const sync = await client.ask('POST', '/api/exports?mode=sync', {
    key: client.project.key,
    body: { ...keyed, on_duplicates: 'fail' },
  })
  expect([sync.status, await sync.json()]).toMatchObject([502, { code: 'SOURCE_ROWS_REPEATED' }])
})

test('a CSV file comes in the dialect that was asked for, and says which characters it lacks', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    total: 250,
    row: (n) => ({
      _row_head_: n % 2 ? 's' : 'n',
      at: '2026-02-28T20:30:00Z',
      sum: n + 0.5,
      name: `订单 ${n}`,
    }),
  })
  const template = {
    ceil: [
      { name: '__row__', title: '地区' },
      { name: 'at', type: 'datetime', format: 'd.m.yyyy hh:mm' },
      { name: 'sum' },
      { name: 'name' },
    ],
    row: [
      {
        title: '中国',
        children: [
          { name: 'n', title: '北' },
          { name: 's', title: '南' },
        ],
      },
    ],
  }
  const body = { source_url: source.url, template, page_size: 100, timezone: 'Asia/Shanghai' }
  const csv = { delimiter: ';', encoding: 'gb18030', line_end: 'lf', decimal: ',', quote: 'minimal' }
  const view = await client.run({ ...body, csv })
  const lines = new TextDecoder('gb18030').decode(await client.bytes(view.task_id)).split('\n')
  expect(lines).toHaveLength(252)
  expect(lines.slice(0, 2)).toEqual(['地区;;at;sum;name', '中国;北;1.3.2026 04:30;0,5;订单 0'])
  expect(lines.at(-2)).toBe('中国;南;1.3.2026 04:30;249,5;订单 249')
  const latin = { ...body, csv: { encoding: 'windows-1252' } }
  expect((await client.run(latin)).warnings).toEqual([
    '1252 characters are not in windows-1252 and shown as "?", the first being "地" (U+5730)',
  ])
  const atOnce = await client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body: latin })
  expect(atOnce.headers.get('content-type')).toBe('text/csv; charset=windows-1252')
  expect(
    Buffer.from(await atOnce.arrayBuffer())
      .toString('latin1')
      .split('\r\n')[1],
  ).toBe('"??","?","1.3.2026 04:30",0.5,"?? 0"')
})

test('an Excel file opens in another program with its title, header tree, types and footer', async () => {
  const { address, client } = await startExports()
  const view = await client.run({
    source_url: `${address}/samples/orders?rows=120`,
    type: 'excel',
    title: 'Orders 订单',
    summary: '<b>bold</b> text',
    page_size: 100,
  })
  expect(view.file?.name).toMatch(/\.xlsx$/)
  const [sheet] = await client.sheets(view.task_id)
  const cells = sheet?.cells ?? {}
  expect(cells.A1?.value).toBe('Orders 订单')
  expect(cells.A1?.look.bold).toBe(true)
  expect(sheet?.merges).toContain('A1:J1')
  const values = Object.values(cells).map(({ value }) => value)
  for (const text of [
    '客户 Customer',
    '收入 Income',
    '示例数据，仅供演示。 Sample data, for demonstration only.',
  ])
    expect(values).toContain(text)
  const first = Object.entries(cells)
    .find(([, { value }]) => value === 'W0000000001')?.[0]
    .slice(1)
  expect(cells[`D${first}`]).toMatchObject({ type: 'n', value: 1 })
  expect(cells[`H${first}`]).toMatchObject({ type: 'd', value: { date: '2026-01-01T00:00:00' } })
  expect(cells[`J${first}`]).toMatchObject({ type: 'b', value: true })
})

test('an empty source gives a file with its header', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 0 })
  const template = [{ name: 'id', title: 'No.' }, { name: 'name' }]
  const csv = await client.run({ source_url: source.url, template })
  expect(csv).toMatchObject({ file: { rows: 0 }, progress: { fetched: 0, total: 0 } })
  expect(await client.lines(csv.task_id)).toEqual(['"No.","name"'])
  const excel = await client.run({ source_url: source.url, template, type: 'excel', title: 'Nothing' })
  const [sheet] = await client.sheets(excel.task_id)
  expect(Object.values(sheet?.cells ?? {}).map(({ value }) => value)).toEqual(['Nothing', 'No.', 'name'])
  const bare = await client.run({ source_url: source.url })
  expect((await client.bytes(bare.task_id)).toString()).toBe('\ufeff')
})

test('several tables become several sheets of one file', async () => {
  const { business, client } = await startExports()
  const [orders, goods] = [
    business.source({ total: 3 }),
    business.source({ total: 2, more: { template: { name: 'Name' } } }),
  ]
  const view = await client.run({
    type: 'excel',
    file_name: 'all',
    sheets: [
      { name: 'Orders', source_url: orders.url, title: 'O' },
      { name: 'Goods/货物', source_url: goods.url },
    ],
  })
  expect(view).toMatchObject({
    file: { name: 'all.xlsx', rows: 5, parts: 1 },
    progress: { fetched: 5, total: 5 },
  })
  const sheets = await client.sheets(view.task_id)
  expect(sheets.map(({ name }) => name)).toEqual(['Orders', 'Goods_货物'])
  expect(sheets[0]?.cells.A1?.value).toBe('O')
  expect(sheets[1]?.cells.A1?.value).toBe('Name')
  expect(sheets[1]?.cells.A3?.value).toBe('row 1')
})

test('a table with row headers has its rows under their heads, in the order of the template', async () => {
  const { business, client } = await startExports()
  const heads = ['north', 'south', 'east']
  const source = business.source({
    total: 6,
    row: (n) => ({ _row_head_: heads[n % 3], sum: n }),
  })
  const template = {
    ceil: [
      { name: '__row__', title: 'Region' },
      { name: 'sum', title: 'Sum' },
    ],
    row: [
      {
        title: 'Sea',
        children: [
          { name: 'north', title: 'N' },
          { name: 'south', title: 'S' },
        ],
      },
      { name: 'east', title: 'E' },
    ],
  }
  const excel = await client.run({ source_url: source.url, template, type: 'excel' })
  const [sheet] = await client.sheets(excel.task_id)
  const cells = sheet?.cells ?? {}
  expect(cells.A2?.value).toBe('Sea')
  expect(sheet?.merges).toEqual(expect.arrayContaining(['A2:A5']))
  const sums = Object.entries(cells)
    .filter(([at, { type }]) => type === 'n' && at.startsWith('C'))
    .map(([, { value }]) => value)
  expect(sums).toEqual([0, 3, 1, 4, 2, 5])
  const csv = await client.run({ source_url: source.url, template })
  const lines = await client.lines(csv.task_id)
  expect(lines.slice(1).map((line) => line.split(',').at(-1))).toEqual(['0', '3', '1', '4', '2', '5'])
  const unknown = await client.start({
    source_url: source.url,
    template: { ...template, row: [{ name: 'north' }] },
  })
  expect(await client.ended(unknown.task_id)).toMatchObject({
    status: 'failed',
    error: { code: 'SOURCE_ROW_HEAD_UNKNOWN', message: expect.stringContaining('south') },
    attempts: 1,
  })
})

test('more rows than a file may have become parts in one zip, each with its header', async () => {
  const { business, client } = await startExports('embedded', { env: { WHARF_EXCEL_MAX_ROWS: '100' } })
  const source = business.source({ total: 250, more: { footer: 'the end' } })
  const view = await client.run({ source_url: source.url, type: 'excel', file_name: '报表', title: 'T' })
  expect(view.file).toMatchObject({ name: '报表.zip', rows: 250, parts: 3 })
  const folder = temporaryFolder()
  const path = join(folder, 'parts.zip')
  writeFileSync(path, await client.bytes(view.task_id))
  const names = ['报表-1.xlsx', '报表-2.xlsx', '报表-3.xlsx']
  expect(Object.keys(readArchive(path))).toEqual([...names, 'manifest.json'])
  unpack(path, folder)
  const parts = (await readWorkbooks(names.map((name) => join(folder, name)))).map(([sheet]) => {
    const column = Array.from({ length: sheet!.rows }, (_, row) => sheet!.cells[`A${row + 1}`]?.value)
    return { head: column.slice(0, 2), ids: column.slice(2, 102), foot: column.slice(102) }
  })
  const numbers = Array.from({ length: 250 }, (_, id) => id)
  expect(parts).toEqual([
    { head: ['T', 'id'], ids: numbers.slice(0, 100), foot: [] },
    { head: ['T', 'id'], ids: numbers.slice(100, 200), foot: [] },
    { head: ['T', 'id'], ids: [...numbers.slice(200), 'the end'], foot: [] },
  ])
  const answer = await client.get(view.task_id, '/file')
  expect(answer.headers.get('content-type')).toBe('application/zip')
})
