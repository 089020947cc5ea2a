import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parquetMetadata } from 'hyparquet'
import { expect, test } from 'vitest'
import { verifyFiles } from '../../../src/exports/index.ts'
import type { FileReport } from '../../../src/exports/report/index.ts'
import { startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'
import { runWharf, temporaryFolder } from '../../support/wharf-process.ts'
import { readParts, unpack } from '../xlsx/foreign-reader.ts'

const row = (n: number) => ({ id: n, name: `name ${n}` })
const TIME = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC'

test('a watermark leads back from a file of any type to who asked for it', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 120, row })
  const body = { source_url: source.url, page_size: 100, watermark: true, operator_id: 'lin & co' }
  const [first, second] = [await client.start(body), await client.start(body)]
  expect(first.task_id).not.toBe(second.task_id)

  const view = await client.ended(first.task_id)
  const mark = new RegExp(`^lin & co \\(.+, key .+\\) · ${TIME} · ${view.task_id}$`)
  const lines = await client.lines(view.task_id)
  expect(lines).toHaveLength(122)
  const [, text] = /^"(.*)",$/.exec(lines.at(-1)!) ?? []
  expect(text).toMatch(mark)
  const report = (await (await client.get(view.task_id, '/report')).json()) as FileReport
  expect(report).toMatchObject({ rows: { written: 120 }, watermark: text })
  const other = await client.ended(second.task_id)
  expect((await client.lines(other.task_id)).at(-1)).toContain(other.task_id)

  const folder = temporaryFolder()
  const [file, manifest] = [join(folder, view.file!.name), join(folder, 'manifest.json')]
  writeFileSync(file, await client.bytes(view.task_id))
  writeFileSync(manifest, await (await client.get(view.task_id, '/manifest')).text())
  expect((await verifyFiles([file], { manifest })).every(({ good }) => good)).toBe(true)

  const utf16 = await client.run({ ...body, csv: { encoding: 'utf-16le', delimiter: ';' } })
  expect((await client.bytes(utf16.task_id)).toString('utf16le').split('\r\n').at(-2)).toContain(
    utf16.task_id,
  )
  const jsonl = await client.run({ ...body, type: 'jsonl' })
  const last = (await client.bytes(jsonl.task_id)).toString().trimEnd().split('\n')
  expect(last).toHaveLength(121)
  expect(JSON.parse(last.at(-1)!)._watermark).toContain(jsonl.task_id)
  const parquet = await client.run({ ...body, type: 'parquet' })
  const metadata = parquetMetadata(new Uint8Array(await client.bytes(parquet.task_id)).buffer)
  expect(metadata.num_rows).toBe(120n)
  expect(metadata.key_value_metadata?.[0]).toMatchObject({ key: 'watermark' })
  expect(metadata.key_value_metadata?.[0]?.value).toContain(parquet.task_id)
})

test('each part of a workbook is marked below its rows, on its pages and in its properties', async () => {
  const { business, client } = await startExports('embedded', { env: { WHARF_EXCEL_MAX_ROWS: '60' } })
  const source = business.source({ total: 100, row })
  const body = { source_url: source.url, type: 'excel', watermark: true, operator_id: '<Wu & Söhne>' }
  const view = await client.run({ ...body, footer: 'signed', title: 'People' })
  expect(view.file?.parts).toBe(2)
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'parts.zip'), await client.bytes(view.task_id))
  unpack(join(folder, 'parts.zip'), folder)
  for (const part of [1, 2]) {
    const parts = readParts(join(folder, view.file!.name.replace(/\.zip$/, `-${part}.xlsx`)))
    const sheet = parts['xl/worksheets/sheet1.xml']!
    const mark = `&lt;Wu &amp; Söhne&gt; \\(.+, key .+\\) · ${TIME} · ${view.task_id}`
    expect(sheet).toMatch(new RegExp(`<v>${mark}</v>`))
    const [, header, footer] = /<oddHeader>(.*)<\/oddHeader><oddFooter>(.*)<\/oddFooter>/s.exec(sheet)!
    expect(header).toContain(`&amp;KD9D9D9 &lt;Wu &amp;&amp; Söhne&gt;`)
    expect(footer).toContain(view.task_id)
    for (const text of [header!, footer!]) expect(text.replace(/&\w+;/g, '&').length).toBeLessThanOrEqual(255)
    const said = parts['docProps/core.xml']
    expect(said).toContain(`<dc:identifier>${view.task_id}</dc:identifier>`)
    expect(said).toMatch(new RegExp(`<dc:description>${mark}</dc:description>`))
  }
})

test('a marked file that is answered at once is found in the audit log', async () => {
  const { business, client, ask } = await startExports()
  const source = business.source({ total: 3, row })
  const answer = await ask('POST', '/api/exports?mode=sync', {
    key: client.project.key,
    body: { source_url: source.url, watermark: true },
  })
  const id = / · ([0-9a-f-]{36})"/.exec(await answer.text())?.[1]
  const audit = await ask('GET', '/api/audit?action=export.downloaded', { key: ADMIN_TOKEN })
  const { items } = (await audit.json()) as { items: { target: string; project_id: string }[] }
  expect(items.filter(({ target }) => target === id)).toMatchObject([{ project_id: client.project.id }])
})

test('wharf export marks with the name that it is given', async () => {
  const { business } = await startExports()
  const source = business.source({ total: 3, row })
  const file = join(temporaryFolder(), 'people.xlsx')
  const { exited, output } = runWharf(['export', source.url, '-o', file, '--watermark', 'Ada'])
  expect((await exited).code, output.err).toBe(0)
  expect(readParts(file)['docProps/core.xml']).toContain('<dc:creator>Ada</dc:creator>')
})
