import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applySaved } from '../../src/cli/saved.ts'
import { startExports } from '../support/export-client.ts'
import { temporaryFolder } from '../support/wharf-process.ts'

test('a file of templates and saved exports is applied once, says what it does, and can be tried before', async () => {
  const { client, business, address, ask } = await startExports()
  const { key } = client.project
  const file = join(temporaryFolder(), 'reports.yaml')
  process.env.TEST_SOURCE_TOKEN = 'Bearer abc'
  const text = (title: string) => `
kind: saved-export
name: monthly
source_url: ${business.source({ total: 1 }).url}
source_headers: {Authorization: !env TEST_SOURCE_TOKEN}
template: {use: years}
title: ${title}
---
kind: template
name: years
template: {name: Name, "2024": Year}
`
  const first = text('One')
  writeFileSync(file, first)
  const apply = async (more = {}) => {
    const lines: string[] = []
    await applySaved(file, { server: address, key, ...more }, (line) => lines.push(line))
    return lines
  }
  expect(await apply({ dryRun: true })).toEqual([
    'template years: created (dry run)',
    'saved-export monthly: not checked, it uses a template of this file (dry run)',
  ])
  expect((await ask('GET', '/api/templates/years', { key })).status).toBe(404)
  expect(await apply()).toEqual(['template years: created', 'saved-export monthly: created'])
  expect(await apply()).toEqual(['template years: unchanged', 'saved-export monthly: unchanged'])
  expect(await (await ask('GET', '/api/templates/years', { key })).text()).toContain(
    '{"name":"Name","2024":"Year"}',
  )
  expect(await (await ask('GET', '/api/saved-exports/monthly', { key })).json()).toMatchObject({
    sealed: ['source_headers.Authorization'],
  })
  writeFileSync(file, first.replace('title: One', 'title: Two'))
  expect(await apply({ dryRun: true })).toContain('saved-export monthly: changed (dry run)')
  expect(await apply()).toEqual(['template years: unchanged', 'saved-export monthly: changed'])
  for (const [bad, reason] of [
    ['kind: report\nname: a', /needs kind: template or kind: saved-export/],
    ['kind: template', /needs a name/],
    ['kind: saved-export\nname: a\nsource_url: !env NOT_THERE_AT_ALL', /no NOT_THERE_AT_ALL/],
    ['kind: saved-export\nname: a', /saved-export a: source_url is missing/],
    ['a: [', /cannot be read/],
    [Buffer.from('kind: template\nname: M\u00fcller', 'latin1'), /cannot be read: it is not UTF-8/],
    ['', /reports\.yaml has no templates and no saved exports in it/],
    ['# only a comment\n---\n', /reports\.yaml has no templates and no saved exports in it/],
    [`${first}---${first.slice(0, first.indexOf('---'))}`, /has two documents of saved-export monthly/],
    [`${first}---\nkind: template\nname: years\n`, /has two documents of template years/],
  ] as const) {
    writeFileSync(file, bad)
    await expect(apply(), String(bad)).rejects.toThrow(reason)
  }
  // Of another kind, a name is another one.
  writeFileSync(file, `${first}---\nkind: template\nname: monthly\ntemplate: {name: Name}\n`)
  expect(await apply({ dryRun: true })).toContain('template monthly: created (dry run)')
  writeFileSync(file, first)
  await expect(apply({ key: 'wrong' })).rejects.toThrow(/does not know this key/)
})

test('long numbers of a file keep their digits, or are refused where they would be sent on', async () => {
  const { client, business, address, ask } = await startExports()
  const { key } = client.project
  const file = join(temporaryFolder(), 'long.yaml')
  const apply = async (text: string) => {
    writeFileSync(file, text)
    await applySaved(file, { server: address, key }, () => undefined)
  }
  const head = `kind: saved-export\nname: long\nsource_url: ${business.source({ total: 1 }).url}\ntype: excel\n`
  await apply(`${head}header:
  PO: 4500000000123456789
  4500000000123456789: 12345678901234.567
  hex: 0x7fffffffffffffff
  plus: +9007199254740993
`)
  const { task_id } = (await (
    await ask('POST', '/api/saved-exports/long/run', { key, body: {} })
  ).json()) as {
    task_id: string
  }
  expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded' })
  const [sheet] = await client.sheets(task_id)
  const values = Object.values(sheet!.cells).map(({ value }) => value)
  for (const text of ['4500000000123456789', '12345678901234.567', '9223372036854775807', '9007199254740993'])
    expect(values.join(), text).toContain(text)
  await expect(apply(`${head}parameters: {po: 4500000000123456789}`)).rejects.toThrow(
    /parameters\.po is 4500000000123456789, which has more digits/,
  )
})
