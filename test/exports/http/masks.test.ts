import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { problemOf, startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN } from '../../support/http.ts'

const PHONE = '13800138000'

test('what a project demands is hidden in files, sync mode and previews, with and without a template', async () => {
  const { business, client, ask, config } = await startExports()
  const project = `/api/projects/${client.project.id}`
  const put = (body: unknown, key: string) => ask('PUT', project, { key, body })
  const set = await put({ masks: { phone: 'phone', note: 'fixed' } }, ADMIN_TOKEN)
  expect(await set.json()).toMatchObject({ masks: { phone: 'phone', note: 'fixed' } })
  expect((await put({ masks: {} }, client.project.key)).status).toBe(403)
  expect(await problemOf(put({ masks: { phone: 'rot13' } }, ADMIN_TOKEN))).toMatchObject({ status: 400 })
  const source = business.source({
    total: 120,
    row: (n) => ({ id: n, phone: n % 2 ? PHONE : Number(PHONE), ...(n > 100 && { note: 'secret note' }) }),
  })
  const body = { source_url: source.url, page_size: 100 }
  const template = [
    { name: 'id', mask: 'hash' },
    { name: 'phone', mask: 'last4' },
  ]
  for (const more of [{}, { template }, { type: 'excel' }, { csv: { delimiter: ';' } }, { type: 'jsonl' }]) {
    const { task_id } = await client.run({ ...body, ...more })
    if ('type' in more && more.type === 'excel') {
      const [sheet] = await client.sheets(task_id)
      expect(sheet?.cells.B2?.value).toBe('138****8000')
    } else {
      const text = (await client.bytes(task_id)).toString()
      expect(text).not.toContain(PHONE)
      expect(text).not.toContain('secret note')
      expect(text.match(/138\*{4}8000/g)).toHaveLength(120)
    }
  }
  const asking = { key: client.project.key, body }
  const atOnce = await (await ask('POST', '/api/exports?mode=sync', asking)).text()
  expect(atOnce.split('\r\n')[1]).toBe('0,"138****8000"'.concat(','))
  const preview = await (
    await ask('POST', '/api/exports/preview', { ...asking, body: { ...body, template } })
  ).text()
  expect(preview).toContain('138****8000')
  expect(preview).not.toContain(PHONE)
  const onDisk = readdirSync(config.WHARF_DATA_DIR, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile())
    .filter((file) => readFileSync(join(file.parentPath, file.name)).includes(PHONE))
  expect(onDisk.map(({ name }) => name)).toEqual([])
})

test('a mask is named as the cause of values that do not fit their type, and hidden values have no total', async () => {
  const { business, client, ask } = await startExports()
  const source = business.source({ total: 20, row: (n) => ({ id: `n${n}`, amount: n * 1.5, fee: n }) })
  const columns = [{ name: 'id' }, { name: 'amount', type: 'money' }, { name: 'fee', type: 'money' }]
  const api = `/api/projects/${client.project.id}`
  await ask('PUT', api, { key: ADMIN_TOKEN, body: { masks: { fee: 'fixed' } } })
  for (const type of ['csv', 'excel', 'jsonl', 'parquet'] as const)
    for (const totals of type === 'excel' ? [undefined, 'sum', 'count'] : [undefined]) {
      const template = columns.map((column) => ({
        ...column,
        ...(column.name === 'amount' && { mask: 'last4', ...(totals && { totals }) }),
      }))
      const view = await client.run({ source_url: source.url, type, template })
      expect(view.warning_details, `${type} ${totals}`).toMatchObject([
        { code: 'MASKED_COLUMN', values: { column: 'amount' } },
        { code: 'MASKED_COLUMN', values: { column: 'fee' } },
      ])
      if (type !== 'excel') continue
      const [sheet] = await client.sheets(view.task_id)
      expect(sheet?.cells.B2?.value).toBe('***')
      expect(sheet?.cells.B22?.value ?? null).toBe(totals === 'count' ? '=SUBTOTAL(103,B2:B21)' : null)
    }
  const template = [{ name: 'id' }, { name: 'amount', mask: 'last4', totals: 'sum' }]
  const untyped = await client.run({ source_url: source.url, type: 'excel', template })
  expect(untyped.warnings).toEqual([
    'column "amount" has a mask, so its values are texts, whatever its type, and have no total but a count',
  ])
})
