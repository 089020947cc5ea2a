import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { verifyFiles } from '../../../src/exports/index.ts'
import { startExports } from '../../support/export-client.ts'
import { temporaryFolder } from '../../support/wharf-process.ts'
import { readWithHyparquet } from './parquet-readers.ts'

const PAGE = String.raw`{"total":2,"data":[
  {"id":1,"o":{
    "a" : [ 1.10,
      "\u00e9 \" \\u"],
    "b":{ }
  }},
  {"id":2,"o":[
  ]}
]}`
const COMPACT = String.raw`{"a":[1.10,"é \" \\u"],"b":{}}`
const LINES = `{"id":1,"o":${COMPACT}}\n{"id":2,"o":[]}\n`

async function setup() {
  const { business, client } = await startExports()
  const source_url = business.at('/indented', (_, response) => response.end(PAGE))
  return { business, client, source_url }
}

test('JSON lines have one line per row, also of objects that the source indents', async () => {
  const { client, source_url } = await setup()
  const plain = await client.run({ source_url, type: 'jsonl' })
  expect((await client.bytes(plain.task_id)).toString()).toBe(LINES)
  const gzip = await client.run({ source_url, type: 'jsonl', compress: 'gzip' })
  expect(gunzipSync(await client.bytes(gzip.task_id)).toString()).toBe(LINES)
  const path = await client.run({ source_url, type: 'jsonl', template: [{ name: 'o.a' }] })
  expect((await client.bytes(path.task_id)).toString()).toBe(`${String.raw`{"o.a":[1.10,"é \" \\u"]}`}\n{}\n`)
})

test('indented answers of any style, and JSON lines with blanks, give compact objects', async () => {
  const { business, client } = await setup()
  const list = PAGE.slice(PAGE.indexOf('['), -1)
  const url = business.at('/list', (_, response) => response.end(list))
  const listed = await client.run({ source: { kind: 'http', url, paging: { style: 'none' } }, type: 'jsonl' })
  expect((await client.bytes(listed.task_id)).toString()).toBe(LINES)
  const stream = business.at('/lines', (_, response) => {
    response.setHeader('content-type', 'application/x-ndjson')
    response.end(`{ "id": 1, "o": { "a" : [ 1.10 ] } }\n`)
  })
  const read = await client.run({ source: { kind: 'http', url: stream, preset: 'ndjson' }, type: 'jsonl' })
  expect((await client.bytes(read.task_id)).toString()).toBe('{"id":1,"o":{"a":[1.10]}}\n')
})

test('cells of CSV files and workbooks hold compact JSON with real characters', async () => {
  const { client, source_url } = await setup()
  const csv = await client.run({ source_url })
  expect((await client.bytes(csv.task_id)).toString()).toContain(`1,"${COMPACT.replaceAll('"', '""')}"\r\n`)
  const excel = await client.run({ source_url, type: 'excel' })
  const [sheet] = await client.sheets(excel.task_id)
  expect(JSON.stringify(sheet)).toContain(JSON.stringify(COMPACT))
  const parquet = await client.run({ source_url, type: 'parquet' })
  const { rows } = await readWithHyparquet(await client.bytes(parquet.task_id))
  expect(rows.map(({ o }) => o)).toEqual([{ a: [1.1, 'é " \\u'], b: {} }, []])
})

test('rows of indented objects are kept and rendered again', async () => {
  const { client, source_url } = await setup()
  const { project } = client
  const kept = await client.run({ source_url, type: 'jsonl', keep_rows_hours: 1 })
  expect(kept.status).toBe('succeeded')
  expect((await client.bytes(kept.task_id)).toString()).toBe(LINES)
  const answer = await client.ask('POST', `/api/exports/${kept.task_id}/render`, {
    key: project.key,
    body: { type: 'csv' },
  })
  const { task_id } = (await answer.json()) as { task_id: string }
  await client.ended(task_id)
  expect((await client.bytes(task_id)).toString()).toContain(`1,"${COMPACT.replaceAll('"', '""')}"\r\n`)
})

test('a preview shows indented objects', async () => {
  const { client, source_url } = await setup()
  for (const type of ['jsonl', 'parquet', 'csv', 'excel']) {
    const body = { source_url, type }
    const answer = await client.ask('POST', '/api/exports/preview', { key: client.project.key, body })
    expect([type, answer.status]).toEqual([type, 200])
  }
})

test('wharf verify counts the lines of JSON lines, and refuses a record that spans two', async () => {
  const { client, source_url } = await setup()
  const folder = temporaryFolder()
  const keep = (name: string, bytes: string | Buffer) => {
    writeFileSync(join(folder, name), bytes)
    return join(folder, name)
  }
  for (const compress of [undefined, 'gzip', 'zstd'])
    for (const watermark of [false, true]) {
      const view = await client.run({ source_url, type: 'jsonl', watermark, ...(compress && { compress }) })
      const text = await (await client.get(view.task_id, '/manifest')).text()
      const file = keep(view.file!.name, await client.bytes(view.task_id))
      const check = async (manifest: string) =>
        (await verifyFiles([file], { manifest: keep('m.json', manifest) })).at(-1)
      expect(await check(text)).toMatchObject({ good: true })
      expect(await check(text.replaceAll('"rows":2', '"rows":1'))).toMatchObject({
        good: false,
        message: 'has 2 rows, the manifest says 1',
      })
    }
})
