import { expect, test } from 'vitest'
import type { ExportView } from '../../../src/exports/index.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../../support/http.ts'

test('every field of a request is taken, and the answer is a task that can be asked about', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 3 })
  const receiver = business.receiver()
  const answer = await client.post({
    project_id: client.project.id,
    source_url: source.url,
    file_name: 'orders',
    title: 'Orders',
    summary: '<b>all</b>',
    type: 'excel',
    operator_id: 'anna',
    template: [{ name: 'id', title: 'No' }],
    header: { from: 'A' },
    footer: 'end',
    callback: receiver.url,
    page_size: 100,
    source_headers: { 'x-tenant': '7' },
    timezone: 'Asia/Shanghai',
    bom: false,
    fresh: true,
  })
  expect(answer.status).toBe(202)
  const view = (await answer.json()) as { task_id: string }
  expect(answer.headers.get('location')).toBe(`/api/exports/${view.task_id}`)
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(view).toMatchObject({
    project_id: client.project.id,
    operator_id: 'anna',
    status: 'pending',
    stage: 'queued',
    progress: { fetched: 0, total: null },
    file: null,
    download_url: null,
    error: null,
    warnings: [],
    attempts: 0,
  })
  expect(await client.ended(view.task_id)).toMatchObject({
    status: 'succeeded',
    progress: { fetched: 3, total: 3 },
    file: { name: 'orders.xlsx', rows: 3, parts: 1, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    attempts: 1,
    started_at: expect.any(String),
    expires_at: expect.any(String),
  })
})

const nested = (levels: number): unknown =>
  levels === 0 ? { name: 'id', title: 'x' } : { title: 'group', children: [nested(levels - 1)] }

const URL = 'http://127.0.0.1:9/rows'
const mistakes: [string, unknown, number, string, RegExp][] = [
  ['nothing at all', {}, 400, 'REQUEST_INVALID', /source_url is missing/],
  ['no JSON', '{"source_url": ', 400, 'BODY_NOT_JSON', /JSON/],
  ['a list', '[]', 400, 'REQUEST_INVALID', /object/],
  ['a page_size of 99', { source_url: URL, page_size: 99 }, 400, 'REQUEST_INVALID', /page_size.*100/],
  ['a page_size of 1001', { source_url: URL, page_size: 1001 }, 400, 'REQUEST_INVALID', /page_size.*1000/],
  ['a page_size of 1.5', { source_url: URL, page_size: 100.5 }, 400, 'REQUEST_INVALID', /page_size.*integer/],
  ['an unknown type', { source_url: URL, type: 'pdf' }, 400, 'REQUEST_INVALID', /type.*csv.*excel/],
  ['an unknown member', { source_url: URL, sorce: 1 }, 400, 'REQUEST_INVALID', /sorce/],
  ['a source that is no URL', { source_url: 'orders' }, 400, 'URL_UNSUPPORTED', /source_url.*orders/],
  ['a source on a file', { source_url: 'file:///etc/passwd' }, 400, 'URL_UNSUPPORTED', /source_url/],
  [
    'a source in a private net',
    { source_url: 'http://10.0.0.1/' },
    422,
    'ADDRESS_REFUSED',
    /source_url.*10\.0\.0\.1/,
  ],
  [
    'a source in decimals',
    { source_url: 'http://2852039166/' },
    422,
    'ADDRESS_REFUSED',
    /169\.254\.169\.254/,
  ],
  [
    'a callback in a private net',
    { source_url: URL, callback: 'http://192.168.0.1/' },
    422,
    'ADDRESS_REFUSED',
    /callback/,
  ],
  ['a callback that is no URL', { source_url: URL, callback: 'me' }, 400, 'URL_UNSUPPORTED', /callback/],
  [
    'a bad time zone',
    { source_url: URL, timezone: 'Mars/Base' },
    400,
    'REQUEST_INVALID',
    /timezone.*Mars\/Base/,
  ],
  [
    'a bare node',
    { source_url: URL, template: [{ width: 3 }] },
    400,
    'TEMPLATE_INVALID',
    /template\[0\].*name/,
  ],
  [
    'a bad condition',
    {
      source_url: URL,
      template: [{ name: 'a', condition_style: [{ condition: '>= 1 and', color: 'red' }] }],
    },
    400,
    'TEMPLATE_INVALID',
    /template\[0\].condition_style.*(position|character|column) \d+/,
  ],
  ['a template of words', { source_url: URL, template: 'id,name' }, 400, 'TEMPLATE_INVALID', /template/],
  ['a tree too deep', { source_url: URL, template: [nested(60)] }, 400, 'TEMPLATE_INVALID', /deep|level/],
  [
    'a tree too wide',
    { source_url: URL, template: Array.from({ length: 20_000 }, (_, n) => ({ name: `c${n}` })) },
    400,
    'TEMPLATE_INVALID',
    /16384/,
  ],
  ['a header that is a number', { source_url: URL, header: 7 }, 400, 'TEMPLATE_INVALID', /header/],
  ['sheets in a CSV file', { sheets: [{ name: 'a', source_url: URL }] }, 400, 'REQUEST_INVALID', /excel/],
  [
    'sheets beside a source',
    { type: 'excel', source_url: URL, sheets: [{ name: 'a', source_url: URL }] },
    400,
    'REQUEST_INVALID',
    /cannot be combined with source_url/,
  ],
  [
    'a misspelt field of a sheet',
    { type: 'excel', sheets: [{ name: 'a', source_url: URL, tilte: 'A' }] },
    400,
    'REQUEST_INVALID',
    /body\/sheets\/0 .*\(tilte; did you mean title\?\)/,
  ],
  [
    'a misspelt field of a template',
    { source_url: URL, template: [{ name: 'a', v_align: 'top' }] },
    400,
    'TEMPLATE_INVALID',
    /template\[0\]\.v_align: .* "v-align"/,
  ],
  [
    'a misspelt field of the template of a sheet',
    { type: 'excel', sheets: [{ name: 'a', source_url: URL, template: [{ name: 'a', widht: 1 }] }] },
    400,
    'TEMPLATE_INVALID',
    /sheets\[0\]\.template\[0\]\.widht: .* "width"/,
  ],
  ['no sheets', { type: 'excel', sheets: [] }, 400, 'REQUEST_INVALID', /empty/],
  [
    'a bad sheet',
    {
      type: 'excel',
      sheets: [
        { name: 'a', source_url: URL },
        { name: 'b', source_url: 'http://10.1.1.1/' },
      ],
    },
    422,
    'ADDRESS_REFUSED',
    /sheets\[1\]\.source_url/,
  ],
  [
    'a sheet without a name',
    { type: 'excel', sheets: [{ source_url: URL }] },
    400,
    'REQUEST_INVALID',
    /sheets\/0.*name/,
  ],
  [
    'a header of the connection',
    { source_url: URL, source_headers: { Host: 'x' } },
    400,
    'REQUEST_INVALID',
    /source_headers.*Host/,
  ],
  [
    'a signature of its own',
    { source_url: URL, source_headers: { 'Webhook-Signature': 'x' } },
    400,
    'REQUEST_INVALID',
    /Webhook-Signature/,
  ],
  [
    'a header with a line break',
    { source_url: URL, source_headers: { a: 'x\r\nb: y' } },
    400,
    'REQUEST_INVALID',
    /source_headers/,
  ],
  [
    'a header that is no text',
    { source_url: URL, source_headers: { a: { b: 1 } } },
    400,
    'REQUEST_INVALID',
    /source_headers/,
  ],
]

test('each kind of mistake gets a problem that names it, and nothing is stored', async () => {
  const { client } = await startExports()
  for (const [what, body, status, code, detail] of mistakes) {
    const problem = await problemOf(client.post(body))
    expect({ what, status: problem.status, code: problem.code }).toEqual({ what, status, code })
    expect(problem.detail, what).toMatch(detail)
    expect(problem.detail, 'a value of a header may be a secret').not.toContain('b: y')
  }
  const list = await client.ask('GET', `/api/projects/${client.project.id}/exports`, {
    key: client.project.key,
  })
  expect(await list.json()).toEqual({ items: [], next_cursor: null })
})

test('a project speaks for itself alone; the admin names whom it speaks for', async () => {
  const { wharf, business, client } = await startExports()
  const source = business.source({ total: 1 })
  const other = await newProject(wharf)
  const wrong = await problemOf(client.post({ source_url: source.url, project_id: other.id }))
  expect(wrong).toMatchObject({ status: 404, code: 'PROJECT_NOT_FOUND' })
  const admin = (body: unknown) => client.ask('POST', '/api/exports', { key: ADMIN_TOKEN, body })
  expect(await problemOf(admin({ source_url: source.url }))).toMatchObject({ code: 'REQUEST_INVALID' })
  expect(await problemOf(admin({ source_url: source.url, project_id: 'nobody' }))).toMatchObject({
    status: 404,
    code: 'PROJECT_NOT_FOUND',
  })
  const answer = await admin({ source_url: source.url, project_id: client.project.id })
  expect(answer.status).toBe(202)
  const { task_id } = (await answer.json()) as { task_id: string }
  expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded' })
  for (const path of ['', '/events', '/deliveries', '/downloads', '/position', '/file']) {
    const refused = await client.ask('GET', `/api/exports/${task_id}${path}`, { key: other.key })
    expect({ path, ...(await problemOf(refused)) }).toMatchObject({
      path,
      code: 'TASK_NOT_FOUND',
      status: 404,
    })
  }
  for (const [method, path] of [
    ['DELETE', ''],
    ['POST', '/retry'],
    ['POST', '/ticket'],
  ] as const) {
    const refused = await client.ask(method, `/api/exports/${task_id}${path}`, { key: other.key })
    expect(await problemOf(refused)).toMatchObject({ code: 'TASK_NOT_FOUND' })
  }
  const listed = await client.ask('GET', `/api/projects/${client.project.id}/exports`, { key: other.key })
  expect(await problemOf(listed)).toMatchObject({ code: 'PROJECT_NOT_FOUND' })
  expect(await problemOf(client.get('no-such-task'))).toMatchObject({ code: 'TASK_NOT_FOUND', status: 404 })
})

test('a file name is made safe, and one is made up where none is given', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 1 })
  const named = async (file_name?: string) =>
    (await client.run({ source_url: source.url, ...(file_name !== undefined && { file_name }) })).file?.name
  expect(await named('../../etc/报表:2026?.xlsx')).toBe('etc_报表_2026_.csv')
  expect(await named('CON')).toBe('_CON.csv')
  expect(await named('\u202egpj.exe\r\nX-Evil: 1')).toBe('gpj.exeX-Evil_ 1.csv')
  expect(await named()).toMatch(/^\d{8}-\d{6}-[a-z0-9]{6}\.csv$/)
})

test('keys that look like numbers keep their order, in a request and in a source', async () => {
  const { business, client } = await startExports()
  const asked = business.source({ total: 1, row: () => ({ name: 'a', 2024: 1, 2023: 2 }) })
  const template = '{"name": "Name", "2024": "This year", "2023": "Last year"}'
  const first = await client.run(`{"source_url": "${asked.url}", "template": ${template}}`)
  expect(await client.lines(first.task_id)).toEqual(['"Name","This year","Last year"', '"a",1,2'])
  const body = `{"total": 1, "data": [{"name": "a", "2024": 1, "2023": 12345678901234567890}],
    "template": ${template}, "header": {"from": "x", "7": 12345678901234567890, "3": "y"}}`
  const told = business.source({
    instead: (_, response) => {
      response.end(body)
      return true
    },
  })
  const second = await client.run({ source_url: told.url })
  expect(await client.lines(second.task_id)).toEqual([
    '"Name","This year","Last year"',
    '"a",1,12345678901234567890',
  ])
  const book = await client.run({ source_url: told.url, type: 'excel' })
  const [sheet] = await client.sheets(book.task_id)
  const texts = Object.values(sheet?.cells ?? {}).map(({ value }) => value)
  expect(texts.slice(0, 6)).toEqual(['from', 'x', '7', '12345678901234567890', '3', 'y'])
  const plain = business.source({
    instead: (_, response) => {
      response.end('{"total": 1, "data": [{"b": 1, "10": 2, "9": 3}]}')
      return true
    },
  })
  const bare = await client.run({ source_url: plain.url })
  expect(await client.lines(bare.task_id)).toEqual(['"b","10","9"', '1,2,3'])
})

test('an Idempotency-Key makes an export once', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 1 })
  const body = { source_url: source.url, fresh: true }
  const first = await client.start(body, { 'idempotency-key': 'one' })
  const again = await client.post(body, { 'idempotency-key': 'one' })
  expect(again.headers.get('idempotency-replayed')).toBe('true')
  expect(again.headers.get('location')).toBe(`/api/exports/${first.task_id}`)
  expect(((await again.json()) as { task_id: string }).task_id).toBe(first.task_id)
  const other = await problemOf(client.post({ ...body, operator_id: 'x' }, { 'idempotency-key': 'one' }))
  expect(other.code).toBe('IDEMPOTENCY_KEY_REUSED')
  await client.ended(first.task_id)
  expect(source.probes).toBe(1)
})

test('the answer to a request is what GET says', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 1 })
  const answer = await client.post({ source_url: source.url, file_name: 'orders/x', operator_id: 'op' })
  const view = (await answer.json()) as ExportView
  expect([answer.status, Object.keys(view)]).toEqual([202, Object.keys(await client.task(view.task_id))])
  const { file_name, type, created_at, operator_id, project_id } = await client.task(view.task_id)
  expect(view).toMatchObject({
    file_name,
    type,
    created_at,
    operator_id,
    project_id,
    file: null,
    attempts: 0,
  })
  const made = (await (await client.post({ source_url: source.url })).json()) as ExportView
  expect(made.file_name).toBe((await client.task(made.task_id)).file_name)
})

test('what a sheet does not say, the request says; a template that is overruled is told', async () => {
  const { business, client } = await startExports()
  const template = [{ name: 'id', title: 'From the source' }]
  const own = business.source({ total: 2, row: (n) => ({ id: n }) })
  const telling = business.source({ total: 2, row: (n) => ({ id: n }), more: { template } })
  const asked = [{ name: 'id', title: 'Asked' }]
  const body = {
    type: 'excel',
    title: 'All',
    template: asked,
    sheets: [
      { name: 'a', source_url: own.url },
      { name: 'b', source_url: own.url, title: 'Own', template: [{ name: 'id', title: 'Mine' }] },
      { name: 'c', source_url: telling.url },
    ],
  }
  const heads = async (view: ExportView) =>
    (await client.sheets(view.task_id)).map(({ cells }) => [cells.A1!.value, cells.A2!.value])
  const first = await client.run(body)
  expect(await heads(first)).toEqual([
    ['All', 'Asked'],
    ['Own', 'Mine'],
    ['All', 'From the source'],
  ])
  expect(first.warnings).toEqual([expect.stringMatching(/^c: the source sent a template, .*template_from/)])
  expect(first.warning_details).toMatchObject([{ code: 'TEMPLATE_OVERRULED', table: 'c', values: {} }])
  const turned = await client.run({ ...body, template_from: 'request' })
  expect((await heads(turned))[2]).toEqual(['All', 'Asked'])
  expect(turned.warnings).toEqual([])
})
