import { expect, test } from 'vitest'
import { problemOf, startExports } from '../../support/export-client.ts'

const row = (n: number) => ({ id: n, Name: `Anna ${n}`, empty: null, customer: { city: 'Brno' } })

test.each([
  { type: 'csv' },
  { type: 'csv', csv: { delimiter: ';' } },
  { type: 'csv', keep_rows_hours: 1 },
  { type: 'excel' },
  { type: 'jsonl' },
  { type: 'parquet' },
])('a column that no row has is told in the warnings and the report: %j', async (more) => {
  const { business, client } = await startExports()
  const source_url = business.source({ total: 30, row }).url
  const columns = ['id', 'Nmae', 'empty', 'customer.city', 'custmer.city', 'customer.ctiy', 'gone']
  const template = columns.map((name) => ({ name }))
  const view = await client.run({ source_url, template, ...more })
  expect(view.warnings).toEqual([
    'no row has a value for column Nmae; did you mean Name?',
    'no row has a value for column custmer.city',
    'no row has a value for column customer.ctiy',
    'no row has a value for column gone',
  ])
  const report = { warnings: view.warnings, warning_details: view.warning_details }
  expect(await (await client.get(view.task_id, '/report')).json()).toMatchObject(report)
  expect(view.warning_details.map(({ message }) => message)).toEqual(view.warnings)
  const [misspelt, absent] = view.warning_details
  expect(misspelt).toMatchObject({ code: 'COLUMN_MISSPELT', values: { column: 'Nmae', meant: 'Name' } })
  expect(absent).toMatchObject({ code: 'COLUMN_EMPTY', table: null, values: { column: 'custmer.city' } })
})

test('of an export of an earlier version, which kept the sentences alone, these are shown', async () => {
  const { business, client, ledger } = await startExports()
  const source_url = business.source({ total: 30, row }).url
  const { task_id, warnings } = await client.run({ source_url, template: [{ name: 'id' }, { name: 'Nmae' }] })
  const { id, result } = await ledger.db.selectFrom('jobs').selectAll().executeTakeFirstOrThrow()
  const { warningDetails, ...old } = JSON.parse(result ?? '') as { warningDetails: unknown }
  expect(warningDetails).toHaveLength(1)
  await ledger.db
    .updateTable('jobs')
    .set({ result: JSON.stringify(old) })
    .where('id', '=', id)
    .execute()
  expect(await client.task(task_id)).toMatchObject({
    warnings,
    warning_details: [{ code: null, table: null, values: {}, message: warnings[0] }],
  })
})

test('another file of kept rows, and a preview, tell of misspelt columns too', async () => {
  const { business, client, ask } = await startExports()
  const { key } = client.project
  const source_url = business.source({ total: 30, row }).url
  const first = await client.run({ source_url, keep_rows_hours: 1 })
  expect(first.warnings).toEqual([])
  const body = { template: [{ name: 'id' }, { name: 'Nmae' }] }
  const answer = await ask('POST', `/api/exports/${first.task_id}/render`, { key, body })
  const view = await client.ended(((await answer.json()) as { task_id: string }).task_id)
  const warnings = ['no row has a value for column Nmae; did you mean Name?']
  expect(view).toMatchObject({ status: 'succeeded', warnings })
  const few = business.source({ total: 20, row }).url
  const preview = await ask('POST', '/api/exports/preview', { key, body: { ...body, source_url: few } })
  expect(await preview.json()).toMatchObject({ warnings, warning_details: view.warning_details })
})

test('a mask on a misspelt column fails the export, with a suggestion', async () => {
  const { business, client } = await startExports()
  const source_url = business.source({ total: 30, row }).url
  const template = [{ name: 'id' }, { name: 'Nmae', mask: 'name' }]
  const view = await client.ended((await client.start({ source_url, template })).task_id)
  expect(view).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'TEMPLATE_INVALID' } })
  expect(view.error?.message).toContain('the masked column Nmae; did you mean Name?')
  const empty = await client.run({ source_url: business.source({ total: 0, row }).url, template })
  expect(empty.warnings).toEqual([])
})

test('a named template has no other field, and another file of kept rows can use one', async () => {
  const { business, client, ask } = await startExports()
  const { key } = client.project
  const source_url = business.source({ total: 2, row }).url
  await ask('PUT', '/api/templates/cars', { key, body: { template: { id: 'No.' } } })
  const misspelt = { use: 'cars', version: 1 }
  const problem = { status: 400, code: 'TEMPLATE_INVALID', detail: expect.stringContaining('found version') }
  expect(await problemOf(client.post({ source_url, template: misspelt }))).toMatchObject(problem)
  const titles = { use: 'Use', id: 'No.' }
  expect(await client.run({ source_url, template: titles })).toMatchObject({ status: 'succeeded' })
  const first = await client.run({ source_url, keep_rows_hours: 1 })
  const render = (template: object) =>
    ask('POST', `/api/exports/${first.task_id}/render`, { key, body: { template } })
  expect(await problemOf(render(misspelt))).toMatchObject(problem)
  const { task_id } = (await (await render({ use: 'cars' })).json()) as { task_id: string }
  const view = await client.ended(task_id)
  expect(view.templates).toEqual([{ name: 'cars', version: 1 }])
  expect(await client.lines(task_id)).toEqual(['"No."', '0', '1'])
})

test('a mask on a group of columns, which would hide nothing, is refused', async () => {
  const { business, client } = await startExports()
  const template = [{ title: 'Person', mask: 'name', children: [{ name: 'Name' }] }]
  const answer = client.post({ source_url: business.source({ total: 3, row }).url, template })
  expect(await problemOf(answer)).toMatchObject({
    code: 'TEMPLATE_INVALID',
    detail: expect.stringContaining('give the mask to its columns'),
  })
})

test('a preview says of the rows that it has seen what an export says of all', async () => {
  const { business, client, ask } = await startExports()
  const late = (n: number) => ({ id: n, phone: '+420', ...(n > 100 && { phones: '138 0013 8000', key: n }) })
  const template = [{ name: 'id' }, { name: 'phones', mask: 'phone' }, { name: 'gone' }]
  const body = { template, key: ['key'], on_duplicates: 'fail' }
  const previewed = async (source: object, more: object = body) => {
    const answer = await ask('POST', '/api/exports/preview', {
      key: client.project.key,
      body: { ...source, ...more },
    })
    expect(answer.status).toBe(200)
    return ((await answer.json()) as { warnings: string[] }).warnings
  }
  const { url } = business.source({ total: 150, row: late })
  expect(await previewed({ source_url: url })).toEqual([
    'no value for the key key in the 20 rows of the preview; later rows may have one',
    'no value for column phones in the 20 rows of the preview; did you mean phone?',
    'no value for column gone in the 20 rows of the preview; later rows may have one',
  ])
  const paged = { kind: 'http', url, paging: { style: 'page' } }
  expect((await previewed({ source: paged }))[1]).toContain('in the 20 rows of the preview')
  expect(await previewed({ source_url: business.source({ total: 30, row: () => ({}) }).url }, {})).toEqual([
    'no keys in the 20 rows of the preview, so without a template it has no columns; later rows may have some',
  ])
  expect((await client.run({ source_url: url, template })).warnings).toEqual([
    'no row has a value for column gone',
  ])

  const lines = (count: number) =>
    Array.from({ length: count }, (_, n) => JSON.stringify({ id: n, phone: '+420' })).join('\n')
  const stream = (count: number) => ({
    source: {
      kind: 'http',
      preset: 'ndjson',
      url: business.at(`/lines-${count}`, (_, response) => response.end(lines(count))),
    },
  })
  expect((await previewed(stream(21), { template }))[0]).toContain('in the 20 rows of the preview')
  const few = business.source({ total: 20, row: late }).url
  for (const source of [{ source_url: few }, { source: { ...paged, url: few } }, stream(20)])
    expect(
      await problemOf(
        ask('POST', '/api/exports/preview', { key: client.project.key, body: { ...source, template } }),
      ),
    ).toMatchObject({ code: 'TEMPLATE_INVALID', detail: expect.stringContaining('did you mean phone?') })
})
