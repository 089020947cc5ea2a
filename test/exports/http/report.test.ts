import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { verifyFiles } from '../../../src/exports/index.ts'
import type { FileReport } from '../../../src/exports/report/index.ts'
import { problemOf, sha256, startExports } from '../../support/export-client.ts'
import { runWharf, temporaryFolder } from '../../support/wharf-process.ts'
import { unpack } from '../xlsx/foreign-reader.ts'

type Wharf = Awaited<ReturnType<typeof startExports>>

async function reportOf({ client }: Wharf, taskId: string): Promise<FileReport> {
  const answer = await client.get(taskId, '/report')
  expect(answer.status).toBe(200)
  return (await answer.json()) as FileReport
}

/** The file, its manifest and the installation's keys in a folder. */
async function takeAway({ client, ask }: Wharf, taskId: string, name: string) {
  const folder = temporaryFolder()
  const path = (file: string) => join(folder, file)
  writeFileSync(path(name), await client.bytes(taskId))
  writeFileSync(path('manifest.json'), await (await client.get(taskId, '/manifest')).text())
  writeFileSync(path('keys.json'), await (await ask('GET', '/.well-known/wharf-keys')).text())
  return { folder, file: path(name), manifest: path('manifest.json'), keys: path('keys.json') }
}

test('every file has a report, a signed manifest, and a callback that carries the report', async () => {
  const wharf = await startExports()
  const { business, client } = wharf
  const told = business.receiver()
  const source = business.source({
    total: 250,
    row: (n) => ({
      id: n,
      name: n % 5 === 0 ? null : n === 7 ? '' : '汉😀'.repeat(1 + (n % 3)),
      ...(n % 2 === 0 && { extra: 'say "no"' }),
    }),
  })
  const template = [{ name: 'id', type: 'number' }, { name: 'name', title: 'Name' }, { name: 'extra' }]
  const body = { source_url: source.url, template, page_size: 100, callback: told.url, file_name: 'orders' }
  const columns = [
    {
      name: 'id',
      title: 'id',
      type: 'number',
      nulls: 0,
      misfits: 0,
      long: 0,
      rounded: 0,
      escaped: 0,
      cuts: 0,
      longest: 0,
    },
    {
      name: 'name',
      title: 'Name',
      type: 'auto',
      nulls: 51,
      misfits: 0,
      long: 0,
      rounded: 0,
      escaped: 0,
      cuts: 0,
      longest: 9,
    },
    {
      name: 'extra',
      title: 'extra',
      type: 'auto',
      nulls: 125,
      misfits: 0,
      long: 0,
      rounded: 0,
      escaped: 0,
      cuts: 0,
      longest: 8,
    },
  ]
  const view = await client.run(body)
  const bytes = await client.bytes(view.task_id)
  const part = { name: 'orders.csv', rows: 250, size: bytes.length, sha256: sha256(bytes) }
  const report = await reportOf(wharf, view.task_id)
  expect(report).toMatchObject({
    task_id: view.task_id,
    file: { ...part, parts: 1, content_type: 'text/csv; charset=utf-8' },
    rows: { asked: 250, written: 250 },
    tables: [{ asked: 250, written: 250, columns }],
    parts: [part],
    warnings: [],
  })
  // Counted in the same way, whoever writes the records.
  for (const other of [
    { csv: { quote: 'all' } },
    { type: 'excel' },
    { type: 'jsonl' },
    { type: 'parquet' },
  ]) {
    const { task_id } = await client.run({ ...body, ...other })
    expect((await reportOf(wharf, task_id)).tables[0]?.columns).toEqual(columns)
  }
  const call = await told.call()
  expect(call.body).toMatchObject({ data: { task_id: view.task_id, report } })
  const { file, manifest, keys } = await takeAway(wharf, view.task_id, 'orders.csv')
  const { exited, output } = runWharf(['verify', file, '--manifest', manifest, '--keys', keys])
  expect({ ...(await exited), ...output }).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /✓ signature: matches .*\n✓ orders.csv: 250 rows, \d+ bytes, SHA-256 matches\n/,
    ),
  })
  writeFileSync(file, Buffer.concat([bytes, Buffer.from('251,"x",\r\n')]))
  const changed = runWharf(['verify', file, '--manifest', manifest, '--keys', keys])
  expect(await changed.exited).toMatchObject({ code: 1 })
  expect(changed.output.out).toContain('✗ orders.csv: was changed: ')
  expect(changed.output.out).toContain('251 rows in place of 250')
})

test('values that do not fit their type are counted and named, in every format', async () => {
  const wharf = await startExports()
  const { business, client } = wharf
  const rows = [
    { n: 1, i: 1.0, b: true, d: '2026-02-28', s: 1 },
    { n: 'n/a', i: 1.5, b: 0, d: 'soon', s: 'x' },
    { n: '2.50', i: '3', b: 'TRUE', d: 20260228, s: null },
    { n: false, i: 'x', b: 1, d: true, s: { a: 1 } },
    { n: { a: 1 }, i: [], b: 'yes', d: {}, s: '' },
    { n: null, i: '', b: null },
  ]
  const source_url = business.source({ total: rows.length, row: (n) => rows[n]! }).url
  const template = [
    { name: 'n', type: 'money' },
    { name: 'i', type: 'integer' },
    { name: 'b', type: 'boolean' },
    { name: 'd', type: 'date' },
    { name: 's', type: 'string' },
  ]
  const withoutDates = template.filter(({ type }) => type !== 'date')
  for (const [body, columns] of [
    [{ template: withoutDates }, 'nib'], // spooled as it is in the file
    [{ template: withoutDates, page_size: 100, key: ['n'] }, 'nib'],
    [{ template: [...withoutDates].reverse() }, 'nib'], // collected by column
    [{ template }, 'nibd'],
    [{ template, csv: { delimiter: ';' } }, 'nibd'],
    [{ template, type: 'excel' }, 'nibd'],
    [{ template, type: 'jsonl' }, 'nibd'],
    [{ template, type: 'parquet' }, 'nibd'],
  ] as const) {
    const view = await client.run({ source_url, ...body })
    const report = await reportOf(wharf, view.task_id)
    const told = Object.fromEntries(report.tables[0]!.columns.map(({ name, misfits }) => [name, misfits]))
    expect(told, JSON.stringify(body)).toEqual({
      n: 3,
      i: 3,
      b: 3,
      s: 0,
      ...(columns === 'nibd' && { d: 3 }),
    })
    for (const name of columns)
      expect(view.warnings).toContainEqual(
        expect.stringMatching(new RegExp(`column "${name}".* not of the type`)),
      )
    expect(view.warnings.filter((text) => text.includes('"s"'))).toEqual([])
  }
})

test('apostrophes before texts that look like formulas are counted and named', async () => {
  const wharf = await startExports()
  const values = ['=1+1', '-12:30:00', "'=kept", '@x', '-$3.00', '+86 1**-1234', 'plain']
  const source_url = wharf.business.source({
    total: 1_000,
    row: (n) => ({ id: n, text: values[n % values.length]!, ...(n % 3 === 0 && { note: '-x' }) }),
  }).url
  const guarded = values.filter((text) => '=@'.includes(text[0]!))
  const expected = Array.from({ length: 1_000 }, (_, n) => values[n % values.length]!).filter((text) =>
    guarded.includes(text),
  ).length
  for (const body of [
    {},
    { template: [{ name: 'text' }, { name: 'note' }, { name: 'id' }] },
    { csv: { quote: 'all' } },
  ]) {
    const view = await wharf.client.run({ source_url, page_size: 100, ...body })
    const { columns } = (await reportOf(wharf, view.task_id)).tables[0]!
    const told = Object.fromEntries(columns.map(({ name, escaped }) => [name, escaped]))
    expect(told).toEqual({ id: 0, text: expected, note: 334 })
    expect(view.warnings).toContainEqual(
      expect.stringMatching(/column "note": 334 texts look like a formula/),
    )
    const text = (await wharf.client.bytes(view.task_id)).toString()
    expect(text).toContain('"-12:30:00"')
    expect(text).toContain('"\'=1+1"')
  }
  const kept = await wharf.client.run({ source_url, csv: { formulas: 'keep' } })
  expect(kept.warnings).toEqual([])
})

test('an apostrophe before the title of a column counts like one before a text', async () => {
  const wharf = await startExports()
  const source_url = wharf.business.source({
    total: 10,
    row: (n) => ({ '=id': n, '@late': '=x', ...(n === 7 && { '-new': 'x' }) }),
  }).url
  const template = [
    { name: '=id', title: '=id' },
    { name: '@late', title: 'fine' },
    { name: '-new', title: '-new' },
  ]
  const warned = (name: string, count: number) =>
    expect.stringMatching(new RegExp(`column "${name}": ${count} texts? looks? like a formula`))
  for (const more of [{}, { csv: { quote: 'all' } }]) {
    const plain = await wharf.client.run({ source_url, ...more })
    expect(plain.warnings).toEqual([warned('=id', 1), warned('@late', 11), warned('-new', 1)])
    const titled = await wharf.client.run({ source_url, template, ...more })
    expect(titled.warnings).toEqual([warned('=id', 1), warned('@late', 10), warned('-new', 1)])
    const { columns } = (await reportOf(wharf, titled.task_id)).tables[0]!
    expect(columns.map(({ escaped }) => escaped)).toEqual([1, 10, 1])
  }
})

test('an archive carries a signed manifest of its parts, and its report lists them', async () => {
  const wharf = await startExports('embedded', { env: { WHARF_EXCEL_MAX_ROWS: '100' } })
  const source = wharf.business.source({ total: 250 })
  const view = await wharf.client.run({ source_url: source.url, type: 'excel', file_name: '订单' })
  const { parts } = await reportOf(wharf, view.task_id)
  expect(parts.map(({ name, rows }) => [name, rows])).toEqual([
    ['订单-1.xlsx', 100],
    ['订单-2.xlsx', 100],
    ['订单-3.xlsx', 50],
  ])
  const { folder, file, manifest, keys } = await takeAway(wharf, view.task_id, '订单.zip')
  const inside = join(folder, 'inside')
  unpack(file, inside)
  const files = parts.map(({ name }) => join(inside, name))
  for (const by of [manifest, join(inside, 'manifest.json')]) {
    const findings = await verifyFiles(by === manifest ? [file, ...files] : files, { manifest: by, keys })
    expect(findings.filter(({ good }) => !good)).toEqual([])
  }
  expect(spawnSync('python3', ['-m', 'zipfile', '-t', file]).status).toBe(0)
})

test('without a file there is no report, and strangers get none', async () => {
  const { business, client, ask } = await startExports()
  const source = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
  const { task_id } = await client
    .ended((await client.start({ source_url: source.url })).task_id)
    .then((v) => v)
  for (const what of ['report', 'manifest', 'file']) {
    expect(await problemOf(client.get(task_id, `/${what}`))).toMatchObject({ code: 'EXPORT_WITHOUT_FILE' })
    expect((await ask('GET', `/api/exports/${task_id}/${what}`)).status).toBe(401)
  }
})
