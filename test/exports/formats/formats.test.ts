import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { problemOf, startExports } from '../../support/export-client.ts'
import { readWithArrow, readWithHyparquet } from './parquet-readers.ts'

const ODD = 'quote " slash \\ tab \t line\n\u0000\u001f 汉 😀'

function row(n: number) {
  return {
    id: n,
    name: n === 1 ? ODD : `name ${n}`,
    flag: n % 2 === 0,
    nothing: null,
    tags: { list: [n, 'a "b"'], deep: { x: null } },
    text: '{"looks":"like json"}',
    ...(n === 2 && { late: 'here' }),
  }
}
const KEYS = ['id', 'name', 'flag', 'nothing', 'tags', 'text', 'late']
const template = KEYS.map((name) => ({ name }))

async function setup() {
  const { business, client } = await startExports()
  const sync = async (body: unknown) => {
    const answer = await client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body })
    expect(answer.status).toBe(200)
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  return { business, client, sync }
}

const lines = (bytes: Buffer) =>
  bytes
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

test('JSON lines hold the source’s own values: nested ones as they were, absent keys left out', async () => {
  const { business, client, sync } = await setup()
  const { url: source_url } = business.source({ total: 120, row })
  const { answer, bytes } = await sync({ source_url, type: 'jsonl', template, file_name: 'a.jsonl' })
  expect(answer.headers.get('content-type')).toContain('application/x-ndjson')
  expect(answer.headers.get('content-disposition')).toContain('"a.jsonl"')
  expect(lines(bytes)).toEqual(Array.from({ length: 120 }, (_, n) => row(n)))
  const asked = { source_url, type: 'jsonl', template, file_name: 'orders.jsonl.gz' }
  const gzip = await client.run({ ...asked, compress: 'gzip' })
  expect(gzip.type).toBe('jsonl')
  expect(gzip.file?.name).toBe('orders.jsonl.gz')
  const stored = await client.bytes(gzip.task_id)
  expect(gunzipSync(stored)).toEqual(bytes)
  const zstd = await sync({ ...asked, compress: 'zstd' })
  expect(zstd.answer.headers.get('content-type')).toContain('application/zstd')
  expect(zstdDecompressSync(zstd.bytes)).toEqual(bytes)
})

test('numbers in JSON lines keep every digit, and rows of row headers carry its name', async () => {
  const { business, sync } = await setup()
  const text =
    '{"total":2,"data":[{"_row_head_":"b","n":12345678901234567890},{"_row_head_":"a","n":1.10e3}]}'
  const source_url = business.at('/grouped', (_, response) => response.end(text))
  const asked = {
    source_url,
    type: 'jsonl',
    template: { ceil: [{ name: 'n' }], row: [{ name: 'a' }, { name: 'b' }] },
  }
  const { bytes } = await sync(asked)
  expect(bytes.toString()).toBe(
    '{"_row_head_":"a","n":1.10e3}\n{"_row_head_":"b","n":12345678901234567890}\n',
  )
})

test('a compressed CSV file is the plain one, compressed', async () => {
  const { business, sync } = await setup()
  const { url: source_url } = business.source({ total: 30, row })
  const plain = await sync({ source_url, template })
  const gzip = await sync({ source_url, template, compress: 'gzip', file_name: 'x' })
  expect(gzip.answer.headers.get('content-disposition')).toContain('"x.csv.gz"')
  expect(gunzipSync(gzip.bytes)).toEqual(plain.bytes)
  expect(zstdDecompressSync((await sync({ source_url, template, compress: 'zstd' })).bytes)).toEqual(
    plain.bytes,
  )
})

test('without a template, keys that only later rows have are columns too', async () => {
  const { business, sync } = await setup()
  const { url: source_url } = business.source({
    total: 3,
    row: (n) => (n === 2 ? { b: [1, 'x,y'], a: n } : { a: n }),
  })
  const { bytes } = await sync({ source_url, type: 'jsonl' })
  expect(bytes.toString()).toBe('{"a":0}\n{"a":1}\n{"a":2,"b":[1,"x,y"]}\n')
  const parquet = await sync({ source_url, type: 'parquet' })
  expect((await readWithHyparquet(parquet.bytes)).rows).toEqual([
    { a: 0n, b: null },
    { a: 1n, b: null },
    { a: 2n, b: [1, 'x,y'] },
  ])
})

test('compression and sheets are refused where they have no place', async () => {
  const { business, client } = await setup()
  const { url: source_url } = business.source()
  for (const type of ['excel', 'parquet'])
    expect(await problemOf(client.post({ source_url, type, compress: 'gzip' }))).toMatchObject({
      code: 'REQUEST_INVALID',
      detail: expect.stringMatching(/compress.*csv and jsonl/),
    })
  const sheets = [{ name: 'a', source_url }]
  expect(await problemOf(client.post({ type: 'jsonl', sheets }))).toMatchObject({ code: 'REQUEST_INVALID' })
})

test('options of CSV files are said to change nothing in others', async () => {
  const { business, client } = await setup()
  const { url: source_url } = business.source({ total: 1 })
  const warningsOf = async (body: object) => (await client.run({ source_url, ...body })).warnings
  expect(await warningsOf({ type: 'excel', csv: { delimiter: ';' } })).toEqual([
    'csv is for files of the type csv; it changes nothing in one of the type excel',
  ])
  expect(await warningsOf({ type: 'excel', csv: {}, bom: false })).toEqual([])
})

test('a Parquet file has the types of its content, and two readers find the same values', async () => {
  const { business, client } = await setup()
  const { url: source_url } = business.source({ total: 150, row })
  const view = await client.run({ source_url, type: 'parquet', template, file_name: 'p' })
  expect(view.file).toMatchObject({ name: 'p.parquet', rows: 150 })
  expect(view.warnings).toEqual([])
  const bytes = await client.bytes(view.task_id)
  const { rows } = await readWithHyparquet(bytes)
  expect(rows).toHaveLength(150)
  expect(rows[1]).toEqual({ ...row(1), id: 1n, late: null })
  expect(rows[2]).toMatchObject({ late: 'here', text: '{"looks":"like json"}' })
  const arrow = readWithArrow(bytes)
  expect(arrow.rows).toBe(150)
  expect(arrow.columns).toMatchObject({ id: 'Int64', name: 'Utf8', flag: 'Bool', text: 'Utf8' })
  expect(arrow.value('name', 1)).toBe(ODD)
  expect(JSON.parse(String(arrow.value('tags', 3)))).toEqual(row(3).tags)
})

test('a Parquet file has the types of its template, and tells where a column had to become text', async () => {
  const { business, client } = await setup()
  const columns = [
    { name: 'amount', type: 'money' },
    { name: 'exact', type: 'number' },
    { name: 'count', type: 'integer' },
    { name: 'day', type: 'date' },
    { name: 'at', type: 'datetime' },
    { name: 'local', type: 'datetime' },
    { name: 'ok', type: 'boolean' },
    { name: 'code', type: 'string' },
    { name: 'mixed' },
    { name: 'odd', type: 'number' },
  ]
  const { url: source_url } = business.source({
    total: 3,
    row: (n) => ({
      amount: n === 0 ? '12.50' : n,
      exact: '1234567890123456789.25',
      count: `${n}`,
      day: '2024-02-29',
      at: '2024-02-29T08:30:15.123456+08:00',
      local: '1969-12-31 23:59:59.5',
      ok: n === 0 ? 'true' : false,
      code: n === 0 ? 7 : 'x',
      mixed: n === 0 ? 7 : 'x',
      odd: n === 0 ? 7 : 'n/a',
    }),
  })
  const view = await client.run({ source_url, type: 'parquet', template: columns })
  expect(view.warnings).toEqual([
    'column "mixed" holds values of different types, so it is text in the Parquet file',
    'column "odd" holds values that are not of the type number, so it is text in the Parquet file',
  ])
  const arrow = readWithArrow(await client.bytes(view.task_id))
  expect(arrow.columns).toEqual({
    amount: 'Float64',
    exact: 'Decimal[21e+2]',
    count: 'Int64',
    day: 'Date32<DAY>',
    at: 'Timestamp<MICROSECOND, UTC>',
    local: 'Timestamp<MICROSECOND>',
    ok: 'Bool',
    code: 'Utf8',
    mixed: 'Utf8',
    odd: 'Utf8',
  })
  expect(['amount', 'count', 'code', 'mixed', 'odd'].map((name) => arrow.value(name, 0))).toEqual([
    12.5,
    0n,
    '7',
    '7',
    '7',
  ])
  expect(arrow.value('odd', 1)).toBe('n/a')
  const { rows } = await readWithHyparquet(await client.bytes(view.task_id))
  expect(rows[0]).toMatchObject({ day: new Date('2024-02-29'), ok: true })
  expect(arrow.value('at', 0)).toBe(Date.parse('2024-02-29T00:30:15.123Z') + 0.456)
  expect(arrow.value('local', 0)).toBe(-500)
})

test('values of a Parquet file are those that the other formats show', async () => {
  const { business, sync } = await setup()
  const columns = [
    { name: 'n', type: 'integer' },
    { name: 'exact', type: 'number' },
    { name: 'day', type: 'date' },
    { name: 'link', type: 'link' },
    { name: 'text' },
  ]
  const rows = [
    '{"n":1.0,"exact":1.5e3,"day":"2024-02-29T20:00:00Z","link":"https://a.example","text":""}',
    '{"n":"","exact":-12345678901234567.25,"day":1709210096,"link":"","text":null}',
    '{"n":"2e3","exact":7,"day":"2024/02/28","text":"x"}',
  ]
  const source_url = business.at('/values', (_, response) =>
    response.end(`{"total":3,"data":[${rows.join()}]}`),
  )
  const { bytes } = await sync({ source_url, type: 'parquet', template: columns, timezone: 'Asia/Shanghai' })
  const found = (await readWithHyparquet(bytes)).rows
  expect(found.map(({ n }) => n)).toEqual([1n, null, 2000n])
  const arrow = readWithArrow(bytes)
  expect(arrow.columns.exact).toBe('Decimal[19e+2]')
  expect(found.map(({ exact }) => exact)).toEqual([1500, Number('-12345678901234567.25'), 7])
  expect(found.map(({ day }) => (day as Date).toISOString().slice(0, 10))).toEqual([
    '2024-03-01',
    '2024-02-29',
    '2024-02-28',
  ])
  expect(found.map(({ link }) => link)).toEqual(['https://a.example', '', null])
  expect(found.map(({ text }) => text)).toEqual(['', null, 'x'])
})

test('a Parquet file keeps the smallest integer, zeros with a sign, and times with more digits than it has', async () => {
  const { business, sync } = await setup()
  const rows = ['-0.0', '0', '-0.0', '0', '1.5'].map(
    (zero, n) =>
      `{"least":${n === 0 ? '-9223372036854775808' : 1},"zero":${zero},"at":"2026-11-17T10:00:00.1234567Z"}`,
  )
  const source_url = business.at('/least', (_, response) =>
    response.end(`{"total":5,"data":[${rows.join()}]}`),
  )
  const template = [{ name: 'least' }, { name: 'zero', type: 'number' }, { name: 'at', type: 'datetime' }]
  const { bytes } = await sync({ source_url, type: 'parquet', template })
  const found = (await readWithHyparquet(bytes)).rows
  expect(found[0]!.least).toBe(-9223372036854775808n)
  expect(found.map(({ zero }) => Object.is(zero, -0))).toEqual([true, false, true, false, false])
  expect(readWithArrow(bytes).value('at', 0)).toBe(Date.parse('2026-11-17T10:00:00.123Z') + 0.456)
})

test('a Parquet file without rows has its columns, and one of row headers their names', async () => {
  const { business, sync } = await setup()
  const none = business.source({ total: 0 })
  const empty = await sync({ source_url: none.url, type: 'parquet', template: [{ name: 'a', type: 'date' }] })
  expect(readWithArrow(empty.bytes)).toMatchObject({ rows: 0, columns: { a: 'Date32<DAY>' } })
  const text = '{"total":2,"data":{"b":[{"n":1}],"a":[{"n":2.5}]}}'
  const source_url = business.at('/grouped', (_, response) => response.end(text))
  const grouped = { ceil: [{ name: 'n' }], row: [{ name: 'a' }, { name: 'b' }] }
  const { bytes } = await sync({ source_url, type: 'parquet', template: grouped })
  expect((await readWithHyparquet(bytes)).rows).toEqual([
    { _row_head_: 'a', n: 2.5 },
    { _row_head_: 'b', n: 1 },
  ])
})

test('what a file cannot show as it came is said in every format, in words that are true', async () => {
  const { business, client } = await setup()
  const rows = [
    String.raw`{"id":9223372036854775807,"n":12345678901234567890.5,"tiny":1e-400,"zero":0e-9,"site":"https://a.example","text":"\ud800x","odd":"\ufffe","inf":"-Infinity"}`,
    String.raw`{"id":"12345678901234567890","n":1,"tiny":1,"zero":-0.0,"site":"nowhere","text":"\ud83d\ude00","odd":"a\u0000","inf":"+infinity"}`,
    '{"id":1,"n":"1.5","tiny":1,"zero":0,"site":7,"text":"x","odd":"","inf":"-Infinity()"}',
  ]
  const source_url = business.at('/odd', (_, response) => response.end(`{"total":3,"data":[${rows.join()}]}`))
  const types = { id: 'integer', n: 'number', tiny: 'number', zero: 'number', site: 'link' }
  const named = Object.entries(types).map(([name, type]) => ({ name, type }))
  const template = [...named, { name: 'text' }, { name: 'odd' }, { name: 'inf' }]
  const half = 'column "text": 1 text has half a character (a lone surrogate), shown as \ufffd'
  const strays = 'column "site": 2 values are not of the type link'
  const formula =
    'column "inf": 1 text looks like a formula and got an apostrophe; csv: {"formulas": "keep"} leaves it out'
  const expected = {
    csv: [half, strays, formula],
    jsonl: [half, strays],
    excel: [
      half,
      expect.stringMatching(/: 1 text has control characters, .* as ␀ to ␟, the first in G\d$/),
      expect.stringMatching(/: 1 text has U\+FFFE or U\+FFFF, .* as \ufffd, the first in G\d$/),
      'column "id": 2 numbers have more than the 15 digits that Excel keeps: text, with every digit',
      'column "n": 1 number has more than the 15 digits that Excel keeps: text, with every digit',
      'column "tiny": 1 value is not of the type number',
      strays,
    ],
    parquet: [
      half,
      'column "tiny" holds numbers with more digits than a Parquet number has, so it is text in the Parquet file',
      strays,
    ],
  }
  for (const [type, warnings] of Object.entries(expected)) {
    const view = await client.run({ source_url, type, template })
    expect(view.warnings, type).toEqual(warnings)
  }
  const links = '{"total":2,"data":[{"site":"https://a.example"},{"site":"nowhere"}]}'
  const only = business.at('/links', (_, response) => response.end(links))
  const asked = { source_url: only, type: 'parquet', template: [{ name: 'site', type: 'link' }] }
  expect((await client.run(asked)).warnings).toEqual(['column "site": 1 value is not of the type link'])
})

test('a workbook whose numbers lost cents says so, and other files keep them', async () => {
  const { business, client } = await setup()
  const rows = '{"sum":99999999999999.99},{"sum":"12345678901234.56"},{"sum":0.30000000000000004}'
  const source_url = business.at('/sums', (_, response) => response.end(`{"total":3,"data":[${rows}]}`))
  const template = [{ name: 'sum', type: 'money' }]
  const excel = await client.run({ source_url, type: 'excel', template })
  expect(excel.warnings).toEqual([
    'column "sum": 2 numbers were rounded to the 15 digits that Excel keeps, which changes the cents; the type string keeps every digit',
  ])
  for (const type of ['csv', 'jsonl', 'parquet'])
    expect((await client.run({ source_url, type, template })).warnings, type).toEqual([])
})

test('a source without rows and without a template: every format says so, and a Parquet file cannot be made', async () => {
  const { business, client } = await setup()
  const source_url = business.source({ total: 0 }).url
  const warnings = ['the source has no rows, and without a template the file has no columns']
  for (const type of ['csv', 'jsonl', 'excel'])
    expect(await client.run({ source_url, type }), type).toMatchObject({ file: { rows: 0 }, warnings })
  for (const [title, words] of [
    ['Orders', 'No data'],
    ['订单', '无数据'],
  ]) {
    const asked = { key: client.project.key, body: { source_url, type: 'excel', title } }
    const preview = (await (await client.ask('POST', '/api/exports/preview', asked)).json()) as {
      tables: { top: { cells: { value: unknown }[] } }[]
    }
    expect(preview.tables[0]?.top.cells.map(({ value }) => value)).toEqual([title, words])
  }
  const view = await client.ended((await client.start({ source_url, type: 'parquet' })).task_id)
  expect(view).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'PARQUET_NO_COLUMNS' } })
  expect(view.error?.message).toMatch(/no rows.*give a template/)
  const body = { source_url, type: 'parquet' }
  const problem = await problemOf(
    client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body }),
  )
  expect(problem).toMatchObject({ status: 422, code: 'PARQUET_NO_COLUMNS' })
})
