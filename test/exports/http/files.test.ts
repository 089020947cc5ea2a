import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Download, ExportView } from '../../../src/exports/index.ts'
import { problemOf, sha256, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { newProject } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'
import { readArchive, readWorkbooks, unpack } from '../xlsx/foreign-reader.ts'

const HOUR = 3_600_000

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
      '2,"\'=HYPERLINK(1)","\'-1"\r\n,true,\r\n',
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
  expect(Object.keys(readArchive(path))).toEqual(names)
  unpack(path, folder)
  const parts = readWorkbooks(names.map((name) => join(folder, name))).map(([sheet]) => {
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

test('small data comes at once in sync mode, more than that is refused with the reason', async () => {
  const { business, client, config } = await startExports('embedded', { env: { WHARF_SYNC_MAX_ROWS: '200' } })
  const ask = (body: unknown) =>
    client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body })
  const source = business.source({ total: 150 })
  const answer = await ask({ source_url: source.url, file_name: '今天', page_size: 100 })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-disposition')).toBe(
    `attachment; filename="__.csv"; filename*=UTF-8''${encodeURIComponent('今天')}.csv`,
  )
  expect((await answer.text()).split('\r\n')).toHaveLength(152)
  const big = business.source({ total: 201 })
  const problem = await problemOf(ask({ source_url: big.url }))
  expect(problem).toMatchObject({ status: 413, code: 'SOURCE_TOO_LARGE' })
  expect(problem.detail).toMatch(/201 rows.*200/)
  const broken = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
  expect(await problemOf(ask({ source_url: broken.url }))).toMatchObject({
    status: 502,
    code: 'SOURCE_STATUS',
  })
  expect(await problemOf(ask({ source_url: 'http://10.0.0.1/' }))).toMatchObject({ code: 'ADDRESS_REFUSED' })
  await until('nothing is left behind', () => readdirSync(join(config.WHARF_DATA_DIR, 'sync')).length === 0)
  const list = await client.ask('GET', `/api/projects/${client.project.id}/exports`, {
    key: client.project.key,
  })
  expect(await list.json()).toMatchObject({ items: [] })
})

test('a preview shows the first rows and the laid-out header, and stores nothing', async () => {
  const { address, client } = await startExports()
  const answer = await client.ask('POST', '/api/exports/preview', {
    key: client.project.key,
    body: { source_url: `${address}/samples/orders?rows=1000`, type: 'excel', title: 'T' },
  })
  expect(answer.status).toBe(200)
  const { tables } = (await answer.json()) as {
    tables: { total: number; columns: object[]; rows: unknown[][]; top: object }[]
  }
  expect(tables).toHaveLength(1)
  expect(tables[0]).toMatchObject({ total: 1000, rows: { length: 20 }, columns: { length: 10 } })
  expect(tables[0]?.rows[0]?.[0]).toBe('W0000000001')
  expect(JSON.stringify(tables[0]?.top)).toContain('收入 Income')
  const list = await client.ask('GET', `/api/projects/${client.project.id}/exports`, {
    key: client.project.key,
  })
  expect(await list.json()).toMatchObject({ items: [] })
})

test('a file can be had in ranges, and asked whether it has changed', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 100 })
  const { task_id, file } = await client.run({ source_url: source.url, file_name: 'naïve 报表 "1"' })
  const whole = await client.bytes(task_id)
  const get = (headers: Record<string, string>, method = 'GET') =>
    client.ask(method, `/api/exports/${task_id}/file`, { key: client.project.key, headers })
  const plain = await get({})
  await plain.arrayBuffer()
  const etag = plain.headers.get('etag') ?? ''
  expect(plain.headers.get('accept-ranges')).toBe('bytes')
  expect(plain.headers.get('content-length')).toBe(String(file?.size))
  const disposition = plain.headers.get('content-disposition') ?? ''
  expect(disposition).toContain(`filename*=UTF-8''${encodeURIComponent(file?.name ?? '')}`)
  expect(disposition).toMatch(/^attachment; filename="[\x20-\x7e]+\.csv"/)

  const ranges: [string, number, number][] = [
    ['bytes=0-9', 0, 9],
    ['bytes=10-', 10, whole.length - 1],
    ['bytes=-7', whole.length - 7, whole.length - 1],
    ['bytes=5-999999', 5, whole.length - 1],
    ['bytes=-999999', 0, whole.length - 1],
  ]
  for (const [range, start, end] of ranges) {
    const part = await get({ range })
    expect({ range, status: part.status, is: part.headers.get('content-range') }).toEqual({
      range,
      status: 206,
      is: `bytes ${start}-${end}/${whole.length}`,
    })
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(start, end + 1))
  }
  for (const range of [`bytes=${whole.length}-`, 'bytes=9-3', 'bytes=-0']) {
    const refused = await get({ range })
    expect({ range, at: refused.headers.get('content-range') }).toEqual({
      range,
      at: `bytes */${whole.length}`,
    })
    expect(await problemOf(refused)).toMatchObject({ status: 416, code: 'RANGE_NOT_SATISFIABLE' })
  }
  for (const range of ['bytes=0-1,4-5', 'lines=1-2', 'bytes=a-b']) {
    const all = await get({ range })
    expect({ range, status: all.status, size: (await all.arrayBuffer()).byteLength }).toEqual({
      range,
      status: 200,
      size: whole.length,
    })
  }
  expect((await get({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206)
  const changed = await get({ range: 'bytes=0-1', 'if-range': '"another"' })
  expect([changed.status, (await changed.arrayBuffer()).byteLength]).toEqual([200, whole.length])
  const beyond = await get({ range: `bytes=${whole.length}-`, 'if-range': '"another"' })
  expect([beyond.status, (await beyond.arrayBuffer()).byteLength]).toEqual([200, whole.length])
  expect((await get({ 'if-none-match': etag })).status).toBe(304)
  expect((await get({ 'if-none-match': `"x", W/${etag}` })).status).toBe(304)
  expect((await get({ 'if-none-match': '"x"' })).status).toBe(200)
  const head = await get({}, 'HEAD')
  expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
    200,
    String(whole.length),
    etag,
  ])
  expect((await get({ range: 'bytes=0-9' }, 'HEAD')).headers.get('content-length')).toBe('10')
})

test('the download address works without a key, for a while, for its own task, unchanged', async () => {
  const clock = new FastClock(1)
  const { wharf, business, client } = await startExports('embedded', { clock })
  const source = business.source({ total: 1 })
  const first = await client.run({ source_url: source.url })
  const second = await client.run({ source_url: source.url })
  const address = new URL(first.download_url ?? '')
  const open = (url: URL | string) => wharf.ask('GET', String(url))
  const answer = await open(address)
  expect(answer.status).toBe(200)
  expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(first.file?.sha256)

  const other = new URL(second.download_url ?? '')
  other.search = address.search
  expect(await problemOf(open(other))).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  const ticket = address.searchParams.get('ticket') ?? ''
  const [version, payload = '', signature] = ticket.split('.')
  const later = Buffer.from(JSON.stringify([first.task_id, Date.now() + 1e12])).toString('base64url')
  for (const forged of [
    `${version}.${later}.${signature}`,
    `${version}.${payload}.${signature?.slice(1)}`,
    `${version}.${payload}`,
    'x',
  ]) {
    address.searchParams.set('ticket', forged)
    expect(await problemOf(open(address))).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' })
  }
  address.searchParams.delete('ticket')
  expect(await problemOf(open(address))).toMatchObject({ status: 401 })
  const asKey = { key: ticket }
  for (const [method, path] of [
    ['POST', '/retry'],
    ['DELETE', ''],
    ['POST', '/ticket'],
    ['GET', '/downloads'],
  ] as const) {
    const refused = await wharf.ask(method, `/api/exports/${first.task_id}${path}`, asKey)
    expect(await problemOf(refused)).toMatchObject({ status: 403 })
  }
  expect(
    await problemOf(wharf.ask('POST', '/api/exports', { ...asKey, body: { source_url: source.url } })),
  ).toMatchObject({ status: 403 })
  const shown = (await (await wharf.ask('GET', `/api/exports/${first.task_id}`, asKey)).json()) as ExportView
  expect(shown.download_url, 'a ticket does not renew itself').toBe(first.download_url)
  clock.advance(HOUR)
  expect(await problemOf(open(first.download_url ?? ''))).toMatchObject({ status: 401 })
  const renewed = await client.task(first.task_id)
  expect((await open(renewed.download_url ?? '')).status).toBe(200)
})

test('the log of downloads tells who fetched the file, and whether it got what it asked for', async () => {
  const { wharf, business, client } = await startExports()
  const source = business.source({ total: 50 })
  const { task_id, download_url, file } = await client.run({ source_url: source.url })
  await client.bytes(task_id)
  await (await wharf.ask('GET', download_url ?? '')).arrayBuffer()
  await (await wharf.ask('GET', download_url ?? '', { headers: { range: 'bytes=0-3' } })).arrayBuffer()
  const seen = await until('all three are written down', async () => {
    const items = await client.items<Download>(task_id, 'downloads')
    return items.length === 3 && items
  })
  expect(seen.map(({ who, bytes, complete, address }) => ({ who, bytes, complete, address }))).toEqual([
    { who: 'project test', bytes: file?.size, complete: true, address: '127.0.0.1' },
    { who: 'ticket', bytes: file?.size, complete: true, address: '127.0.0.1' },
    { who: 'ticket', bytes: 4, complete: true, address: '127.0.0.1' },
  ])
  const stranger = await newProject(wharf)
  expect(
    await problemOf(wharf.ask('GET', `/api/exports/${task_id}/file`, { key: stranger.key })),
  ).toMatchObject({ status: 403 })
})

test('a file past its time is swept, and its address says so ever after', async () => {
  const clock = new FastClock(1)
  const { wharf, business, client, config } = await startExports('embedded', {
    clock,
    env: { WHARF_EXPORT_TTL_HOURS: '2' },
  })
  const source = business.source({ total: 1 })
  const view = await client.run({ source_url: source.url })
  const kept = Date.parse(view.expires_at ?? '') - Date.parse(view.finished_at ?? '')
  expect(kept).toBeGreaterThanOrEqual(2 * HOUR - 1000)
  const files = join(config.WHARF_DATA_DIR, 'files')
  const holds = () =>
    readdirSync(files, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.parentPath.includes('exports'),
    )
  expect(holds().length).toBeGreaterThan(0)
  clock.advance(3 * HOUR)
  expect(await problemOf(client.get(view.task_id, '/file'))).toMatchObject({
    status: 410,
    code: 'EXPORT_EXPIRED',
  })
  await until('the file is swept', () => holds().length === 0)
  const gone = await until('the task says so', async () => {
    const task = await client.task(view.task_id)
    return task.download_url === null && task
  })
  expect(gone).toMatchObject({ status: 'succeeded', file: view.file, expires_at: view.expires_at })
  expect(await problemOf(client.get(view.task_id, '/file'))).toMatchObject({
    status: 410,
    code: 'EXPORT_EXPIRED',
  })
  const { ticket } = (await (
    await wharf.ask('POST', `/api/exports/${view.task_id}/ticket`, { key: client.project.key })
  ).json()) as { ticket: string }
  expect((await wharf.ask('GET', `/api/exports/${view.task_id}/file?ticket=${ticket}`)).status).toBe(410)
})

test('there is no file before the end, and none of a failed export', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 150 })
  source.holdFrom(1)
  const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
  await source.untilHeld()
  const early = await problemOf(client.get(task_id, '/file'))
  expect(early).toMatchObject({
    status: 409,
    code: 'EXPORT_NOT_READY',
    detail: expect.stringContaining('processing'),
  })
  source.release()
  await client.ended(task_id)
  const refused = business.source({ instead: (_, response) => Boolean(response.writeHead(404).end()) })
  const failed = await client.start({ source_url: refused.url })
  await client.ended(failed.task_id)
  expect(await problemOf(client.get(failed.task_id, '/file'))).toMatchObject({
    status: 409,
    detail: expect.stringContaining('failed'),
  })
})
