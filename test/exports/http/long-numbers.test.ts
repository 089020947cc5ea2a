import { expect, test } from 'vitest'
import type { ExportView, Preview } from '../../../src/exports/index.ts'
import { problemOf, startExports } from '../../support/export-client.ts'

const LONG = ['4500000000123456789', '9007199254740993', '-12345678901234.567', '1e-400']

async function setup() {
  const started = await startExports()
  const { business, client } = started
  const { key } = client.project
  let last = ''
  const source_url = business.at('/one', (request, response) => {
    last = ''
    request.on('data', (chunk) => {
      last += chunk
    })
    request.on('end', () => response.end('{"total":1,"data":[{"a":1,"b":"x"}]}'))
  })
  /** JSON is written by hand: `JSON.stringify` would round it. */
  const ask = (method: string, path: string, body?: string) =>
    started.ask(method, path, { key, ...(body !== undefined && { body }) })
  return { ...started, client, business, key, source_url, ask, sent: () => last }
}

const pairs = LONG.map((digits, n) => `["no ${n}",${digits}]`).join()

test('numbers in the header and footer of a request keep every digit, as those of a source do', async () => {
  const { client, business, source_url, ask } = await setup()
  const areas = `"header":[["small",1.5],${pairs}],"footer":{"2024":${LONG[0]}}`
  const own = business.at('/own', (_, response) =>
    response.end(`{"total":1,"data":[{"a":1,"b":"x"}],${areas}}`),
  )
  const asked = `{"type":"excel","source_url":"${source_url}",${areas}}`
  const valuesOf = async (body: string) => {
    const view = await client.run(body)
    const [sheet] = await client.sheets(view.task_id)
    return { view, values: Object.values(sheet!.cells).map(({ value }) => value) }
  }
  const { view, values } = await valuesOf(asked)
  expect(values).toEqual(expect.arrayContaining([1.5, ...LONG]))
  expect((await valuesOf(`{"type":"excel","source_url":"${own}"}`)).values).toEqual(values)

  const preview = (await (await ask('POST', '/api/exports/preview', asked)).json()) as Preview
  const shown = preview.tables[0]!.top.cells.map(({ value }) => value)
  expect(shown).toEqual(expect.arrayContaining([1.5, ...LONG]))

  const again = (await (await ask('POST', `/api/exports/${view.task_id}/run-again`)).json()) as ExportView
  const [sheet] = await client.sheets((await client.ended(again.task_id)).task_id)
  expect(Object.values(sheet!.cells).map(({ value }) => value)).toEqual(values)
})

test('requests that differ in the last digit only are not the same request', async () => {
  const { client, source_url, key, address, ask } = await setup()
  const post = (digits: string, name: string) =>
    fetch(`${address}/api/exports`, {
      method: 'POST',
      body: `{"type":"excel","source_url":"${source_url}","header":{"PO":${digits}}}`,
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'Idempotency-Key': name,
      },
    })
  expect((await post('4500000000123456789', 'one')).status).toBe(202)
  expect((await post('4500000000123456789', 'one')).headers.get('idempotency-replayed')).toBe('true')
  expect(await problemOf(post('4500000000123456788', 'one'))).toMatchObject({
    code: 'IDEMPOTENCY_KEY_REUSED',
  })
  const { items } = (await (await ask('GET', '/api/exports')).json()) as { items: ExportView[] }
  for (const { task_id } of items) expect((await client.ended(task_id)).status).toBe('succeeded')
})

test('a template keeps the digits of titles, names and conditions, also one that is stored', async () => {
  const { client, ask, business } = await setup()
  const row = '{"9007199254740993":4500000000123456789,"v":4500000000123456788}'
  const source_url = business.at('/ids', (_, response) => response.end(`{"total":1,"data":[${row}]}`))
  const node = (condition: string) => `{"condition":${condition},"bold":true}`
  const template = `[{"name":9007199254740993,"title":4500000000123456789,"width":33.3333333333333333333},
    {"name":"v","condition_style":${node('"= 4500000000123456789"')}}]`
  expect((await ask('PUT', '/api/templates/ids', `{"template":${template}}`)).status).toBe(200)
  for (const use of [template, '{"use":"ids"}']) {
    const view = await client.run(`{"type":"excel","source_url":"${source_url}","template":${use}}`)
    const [sheet] = await client.sheets(view.task_id)
    expect(sheet?.cells).toMatchObject({
      A1: { value: '4500000000123456789' },
      A2: { value: '4500000000123456789' },
      B2: { value: '4500000000123456788', look: { bold: false } },
    })
  }
  const sheets = `[{"name":"s","source_url":"${source_url}","template":${template}}]`
  const view = await client.run(`{"type":"excel","sheets":${sheets}}`)
  expect((await client.sheets(view.task_id))[0]?.cells.A1?.value).toBe('4500000000123456789')
})

test('a number that is sent on is refused with its place where it would be rounded', async () => {
  const { client, source_url, ask, sent } = await setup()
  const http = (body: string) => `{"source":{"kind":"http","url":"${source_url}","body":${body}}}`
  const sql = (param: string) =>
    `{"source":{"kind":"sql","connection":"shop","query":"select 1","params":["x",${param}]}}`
  const withParameters = (value: string) =>
    `{"source_url":"${source_url}?po={{po}}","parameters":{"po":${value}}}`
  const number = '4500000000123456789'
  for (const [path, body] of [
    ['source.body.filter.ids[1]', http(`{"filter":{"ids":[1,${number}]}}`)],
    ['source.params[1]', sql(number)],
    ['parameters.po', withParameters(number)],
    ['parameters.po', withParameters('12345678901234.567')],
  ] as const) {
    const message = expect.stringMatching(/^is (45|12345)\d+(\.567)?, which has more digits .* as a text$/)
    for (const [method, to] of [
      ['POST', '/api/exports'],
      ['POST', '/api/exports?mode=sync'],
      ['POST', '/api/exports/preview'],
      ['PUT', '/api/saved-exports/ids'],
    ] as const)
      expect(await problemOf(ask(method, to, body))).toMatchObject({
        code: 'REQUEST_INVALID',
        errors: [{ path, message }],
      })
  }
  expect(
    await problemOf(ask('POST', '/api/saved-exports/ids/run', '{"parameters":{"po":1e400}}')),
  ).toMatchObject({ errors: [{ path: 'parameters.po' }] })
  // Numbers that are written with more digits than they need lose nothing.
  await client.run(http('{"2024":0.10000000000000001,"a":2500000000000000000,"b":1.50,"1":"1e400"}'))
  expect(sent()).toBe('{"2024":0.1,"a":2500000000000000000,"b":1.5,"1":"1e400"}')
  await client.run(withParameters('"4500000000123456789"'))
})

test('a number that is not finite is refused wherever it is', async () => {
  const { source_url, ask } = await setup()
  for (const field of ['page_size', 'keep_hours', 'title', 'header'])
    expect(
      await problemOf(ask('POST', '/api/exports', `{"source_url":"${source_url}","${field}":1e400}`)),
    ).toMatchObject({ status: 400, code: 'REQUEST_INVALID' })
  const deep = `${'['.repeat(200_000)}1e400${']'.repeat(200_000)}`
  expect(
    await problemOf(ask('POST', '/api/exports', `{"source_url":"${source_url}","header":${deep}}`)),
  ).toMatchObject({ status: 400 })
})
