import { expect, test } from 'vitest'
import { problemOf, startExports } from '../../support/export-client.ts'
import { pagesOf, startSource } from '../../support/source-server.ts'

/** 26 columns × 20 styles × 7 patterns that nearly match a cell of 32,000 characters. */
const attack = Array.from({ length: 26 }, (_, n) => ({
  name: `c${n}`,
  condition_style: Array.from({ length: 20 }, () => ({
    condition: Array.from({ length: 7 }, () => `like '%${'A'.repeat(250)}b%'`).join(' or '),
    color: 'red',
  })),
}))
const row = () => Object.fromEntries(attack.map(({ name }) => [name, 'A'.repeat(32_000)]))
const refusal = { code: 'TEMPLATE_TOO_COSTLY', status: 400, cost: 280, limit: 64 }

test('a template that would cost too much is refused with its cost before anything is stored', async () => {
  const { client } = await startExports()
  const source_url = await startSource(pagesOf(3, row))
  const problem = await problemOf(client.post({ source_url, type: 'excel', template: attack }))
  expect(problem).toMatchObject({ ...refusal, path: 'template[0].condition_style' })
  expect(problem.detail).toContain('280 passes over a text')
})

test('a template that the source brings is refused at its first answer, once', async () => {
  const { client } = await startExports()
  const pages: number[] = []
  const source_url = await startSource((ask) => {
    pages.push(ask.pageSize)
    return pagesOf(9, row, { template: attack })(ask)
  })
  const { task_id } = await client.start({ source_url, type: 'excel' })
  const view = await client.ended(task_id)
  expect(view).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'TEMPLATE_TOO_COSTLY' } })
  expect(pages).toEqual([1])
  const preview = client.ask('POST', '/api/exports/preview', {
    key: client.project.key,
    body: { source_url, type: 'excel' },
  })
  expect(await problemOf(preview)).toMatchObject(refusal)
})

test('a template at its limit is built from texts made to be slow', async () => {
  const { client } = await startExports()
  const source_url = await startSource(pagesOf(3, row))
  const template = attack.map((column) => ({
    ...column,
    condition_style: column.condition_style.slice(0, 2),
  }))
  const view = await client.run({ source_url, type: 'excel', template })
  expect(view.file?.rows).toBe(3)
})
