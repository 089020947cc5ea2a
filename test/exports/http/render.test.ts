import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import { availableBackends } from '../../support/backends.ts'
import { type ExportClient, problemOf, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { until } from '../../support/until.ts'

const HOUR = 3_600_000

const ask = (client: ExportClient, taskId: string, body: unknown) =>
  client.ask('POST', `/api/exports/${taskId}/render`, { key: client.project.key, body })

async function rendered(client: ExportClient, taskId: string, body: unknown): Promise<ExportView> {
  const answer = await ask(client, taskId, body)
  const view = (await answer.json()) as ExportView
  expect(answer.status, JSON.stringify(view)).toBe(202)
  expect(view.task_id).not.toBe(taskId)
  const ended = await client.ended(view.task_id)
  expect(ended.error).toBeNull()
  return ended
}

describe.each(availableBackends())('on %s', (backend) => {
  test('rows that were kept make other files without asking the source, and what was masked stays masked', async () => {
    const { business, client } = await startExports(backend)
    const row = (id: number) => ({
      id,
      amount: 12.5,
      phone: `1380000${String(id).padStart(4, '0')}`,
      note: id % 2 ? 'a "b"\n汉' : null,
      tags: { n: [id] },
    })
    const source = business.source({ total: 250, row })
    const template = [
      { name: 'id', title: 'Id' },
      { name: 'amount', title: 'Amount', type: 'money' },
      { name: 'phone', title: 'Phone', mask: 'hash' },
      { name: 'note', title: 'Note' },
      { name: 'tags', title: 'Tags' },
    ]
    const plain = await client.run({ source_url: source.url, template, type: 'csv' })
    const first = await client.run({
      source_url: source.url,
      template,
      type: 'csv',
      keep_rows_hours: 1,
      key: ['id'],
    })
    expect(await client.lines(first.task_id)).toEqual(await client.lines(plain.task_id))
    const asked = source.pulls.length

    const lines = (
      await client.bytes((await rendered(client, first.task_id, { type: 'jsonl' })).task_id)
    ).toString()
    const plainLines = await client.run({ source_url: source.url, template, type: 'jsonl' })
    expect(lines).toBe((await client.bytes(plainLines.task_id)).toString())
    expect(lines).not.toContain('1380000')
    const again = source.pulls.length
    expect(again).toBeGreaterThan(asked)

    const excel = await rendered(client, first.task_id, { type: 'excel', file_name: 'again' })
    expect(excel.file).toMatchObject({ name: 'again.xlsx', rows: 250 })
    const other = [
      { name: 'note', title: 'N' },
      { name: 'phone', title: 'P', mask: 'last4' },
      { name: 'gone', title: 'G' },
    ]
    const csv = await rendered(client, first.task_id, { template: other })
    const [head, , second] = await client.lines(csv.task_id)
    expect(head).toBe('"N","P","G"')
    const hash = (JSON.parse(lines.split('\n')[0] as string) as { phone: string }).phone
    expect((await client.lines(csv.task_id))[1]).toContain(hash)
    expect(second).not.toContain('1380000')
    expect(source.pulls.length).toBe(again)
    expect(await problemOf(ask(client, plain.task_id, {}))).toMatchObject({
      status: 409,
      code: 'ROWS_NOT_KEPT',
    })
    expect(await problemOf(ask(client, first.task_id, { type: 'pdf' }))).toMatchObject({ status: 400 })
    expect(await problemOf(ask(client, first.task_id, { template: [{ nme: 'x' }] }))).toMatchObject({
      status: 400,
    })
  })
})

test('rows of several sheets and of row headers are kept as they were laid out', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 2, row: (n) => ({ _row_head_: n === 0 ? 'b' : 'a', n }) })
  const template = {
    ceil: [
      { name: '__row__', title: 'R' },
      { name: 'n', title: 'N' },
    ],
    row: [
      { name: 'a', title: 'A' },
      { name: 'b', title: 'B' },
    ],
  }
  const sheets = ['one', 'two'].map((name) => ({ name, source_url: source.url, template, title: name }))
  const first = await client.run({ type: 'excel', sheets, keep_rows_hours: 1 })
  const again = await rendered(client, first.task_id, {})
  expect(await client.sheets(again.task_id)).toEqual(await client.sheets(first.task_id))
  expect(await problemOf(ask(client, first.task_id, { type: 'csv' }))).toMatchObject({
    code: 'REQUEST_INVALID',
  })
})

test('kept rows count towards the disk quota, and are gone after their time or with their file', async () => {
  const clock = new FastClock(1)
  const { business, client, config } = await startExports('embedded', { clock })
  const source_url = business.source({ total: 50 }).url
  const [first, second] = [
    await client.run({ source_url, keep_rows_hours: 2 }),
    await client.run({ source_url, keep_rows_hours: 3 }),
  ]
  const kept = () =>
    readdirSync(join(config.WHARF_DATA_DIR, 'files'), { recursive: true }).filter((name) =>
      /rows-0/.test(String(name)),
    )
  const disk = async () => {
    const answer = await client.ask('GET', `/api/projects/${client.project.id}/usage`, {
      key: client.project.key,
    })
    const { quotas } = (await answer.json()) as { quotas: { quota: string; used: number }[] }
    return quotas.find(({ quota }) => quota === 'disk_bytes')?.used ?? 0
  }
  const files = (first.file?.size ?? 0) + (second.file?.size ?? 0)
  expect(await disk()).toBeGreaterThan(files)
  expect(kept().length).toBeGreaterThanOrEqual(2)
  clock.advance(2.5 * HOUR)
  expect(await problemOf(ask(client, first.task_id, {}))).toMatchObject({ status: 410, code: 'ROWS_EXPIRED' })
  await client.ask('DELETE', `/api/exports/${second.task_id}/file`, { key: client.project.key })
  expect(await problemOf(ask(client, second.task_id, {}))).toMatchObject({
    status: 410,
    code: 'ROWS_EXPIRED',
  })
  await until('the rows are swept', async () => kept().length === 0 && (await disk()) === first.file?.size)
})
