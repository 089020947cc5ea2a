import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { onlyRows } from '../../../../src/exports/sources/http/only-rows.ts'
import { startApi } from './api-server.ts'
import { exportSource } from './export-source.ts'

const LOGIN = '<html>\n<body>login</body>\n</html>'
const MARKED = Buffer.from(`\ufeff\n<!DOCTYPE html>\n${LOGIN}`, 'utf16le')

test.each([
  ['text/html', LOGIN],
  ['text/html; charset=gbk', LOGIN],
  ['text/csv', LOGIN],
  ['application/octet-stream', ` \n<!doctype HTML>${LOGIN}`],
  ['text/plain', MARKED],
  ['text/html', '<head></head><body>login</body>'],
  ['text/html', '<!-- session -->\n<table></table>'],
  ['application/xhtml+xml', '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"/>'],
])('a page of the type %s is not exported as rows: %s', async (type, body) => {
  const { origin, asked } = await startApi(() => ({ headers: { 'content-type': type }, body }))
  for (const [preset, code] of [
    ['csv', 'SOURCE_SHAPE'],
    ['ndjson', 'SOURCE_NOT_JSON'],
  ] as const)
    await expect(exportSource({ url: origin, preset }), preset).rejects.toMatchObject({
      kind: { code },
      message: expect.stringContaining('was answered with an HTML page, is a login needed?'),
    })
  // It would be the same page again.
  expect(asked).toHaveLength(2)
})

test('a page that comes byte by byte is known too, and rows that do lose nothing', async () => {
  const pass = async (text: string, type = 'text/csv') => {
    const bytes = Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))
    const passed: Uint8Array[] = []
    for await (const chunk of onlyRows(Readable.from(bytes), { type, format: 'csv' })) passed.push(chunk)
    return Buffer.concat(passed).toString()
  }
  await expect(pass(`\n${LOGIN}`)).rejects.toThrow(/HTML page/)
  for (const text of ['', '\n', '<', '<htm', '\n<html,x\n1,2', 'id\n1', 'id\n<html>\n'])
    expect(await pass(text)).toBe(text)
  expect(await pass('id,name\n1,{}\n', 'application/json')).toBe('id,name\n1,{}\n')
})

test('rows under the type of a page are rows', async () => {
  const headers = { 'content-type': 'text/html; charset=utf-8' }
  const csv = await startApi(() => ({ headers, body: 'id,name\n1,<b>\n' }))
  expect((await exportSource({ url: csv.origin, preset: 'csv' })).lines).toEqual(['"id","name"', '"1","<b>"'])
  const lines = await startApi(() => ({ headers, body: '{"id":1}\n' }))
  expect((await exportSource({ url: lines.origin, preset: 'ndjson' })).rows).toBe(1)
  const odd = await startApi(() => ({
    headers: { 'content-type': 'text/csv' },
    body: '<id>,<html name>\n1,2\n',
  }))
  expect((await exportSource({ url: odd.origin, preset: 'csv' })).rows).toBe(1)
})

test('JSON in place of a CSV is not exported as rows, and its reason is quoted', async () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const { origin } = await startApi(() => ({
    headers,
    body: '{"code":401,"msg":"log in\\nfirst","data":null}',
  }))
  await expect(exportSource({ url: origin, preset: 'csv' })).rejects.toMatchObject({
    kind: { code: 'SOURCE_SHAPE' },
    message: expect.stringContaining('the answer is JSON, not CSV ("log in first")'),
  })
  const named = await startApi(() => ({ headers, body: 'id,name\n1,{}\n' }))
  expect((await exportSource({ url: named.origin, preset: 'csv' })).rows).toBe(1)
})
