import { Compile } from 'typebox/compile'
import { describe, expect, test } from 'vitest'
import {
  type DraftFields,
  withoutSecrets,
} from '../../console/src/pages/exports/make/request/draft-fields.ts'
import { fieldOfPath } from '../../console/src/pages/exports/make/request/field-of-path.ts'
import { fixedDates, withWords } from '../../console/src/pages/exports/make/request/fixed-dates.ts'
import { fromRequest } from '../../console/src/pages/exports/make/request/from-request.ts'
import { toRequest, writeRequest } from '../../console/src/pages/exports/make/request/to-request.ts'
import { fromSchedule, toSchedule } from '../../console/src/pages/exports/saved/schedule-model.ts'
import { fillNow } from '../../src/exports/saved/fill-request.ts'
import { hideSecrets } from '../../src/exports/saved/hide-secrets.ts'
import { keepSecrets } from '../../src/exports/saved/keep-secrets.ts'
import { ExportRequestBody } from '../../src/http/routes/exports/export-schemas.ts'

const schema = Compile(ExportRequestBody)

/** As a person takes up a request that the server shows, and sends it again unchanged. */
function unchanged(request: Record<string, unknown>): unknown {
  const { shown, sealed } = hideSecrets(request)
  const { fields, template } = fromRequest(shown, { sealed })
  const { sealed_from, ...sent } = JSON.parse(
    writeRequest(toRequest(fields, template, { task_id: 't' })),
  ) as Record<string, unknown>
  expect(sealed_from).toEqual({ task_id: 't' })
  expect([...schema.Errors(sent)]).toEqual([])
  return keepSecrets(sent, request)
}

const url = 'https://shop.example/orders'

describe('dates that stay what they are', () => {
  const asked = Date.parse('2026-11-17T12:00:00')
  const fields: DraftFields = {
    kind: 'address',
    type: 'excel',
    source_url: `${url}/2026-10-01?to=2026-10-31&id=2026-10-019&day={{today}}`,
    title: 'Orders 2026-10, since 2020-05-05',
    file_name: 'orders-2026-10',
    others: { callback: 'https://a.example/2026-10-01' },
  }

  test('are found where words would be filled in, with the word that they were on the day of the request', () => {
    expect(fixedDates(fields, asked)).toEqual([
      { date: '2020-05-05', word: null },
      { date: '2026-10', word: 'last_month' },
      { date: '2026-10-01', word: 'last_month.start' },
      { date: '2026-10-31', word: 'last_month.end' },
    ])
    expect(
      fixedDates({ kind: 'address', type: 'csv', source_url: `${url}?m={{last_month}}` }, asked),
    ).toEqual([])
  })

  test('become words, and the server fills in the same dates on that day', () => {
    const words = { ...fields, ...withWords(fields, fixedDates(fields, asked)) }
    expect(words.source_url).toContain('/{{last_month.start}}?to={{last_month.end}}&id=2026-10-019&')
    const { parameters, ...request } = toRequest(words, '', null) as { parameters: object }
    expect(parameters).toEqual({})
    const when = { at: asked, timezone: 'UTC' }
    const before = toRequest(fields, '', null) as { parameters: object }
    expect(fillNow({ ...request, parameters: {} }, when)).toEqual(
      fillNow({ ...before, parameters: {} }, when),
    )
  })
})

describe('a request through the form', () => {
  test.each<Record<string, unknown>>([
    {
      source_url: `${url}?a=1`,
      source_headers: { Authorization: 'secret', 'X-B': 'b' },
      type: 'excel',
      file_name: 'orders',
      title: 'Orders',
      summary: '<b>x</b>',
      header: [
        ['Source', 'ERP'],
        ['Rows', 14],
      ],
      footer: 'The end',
      theme: 'plain',
      template: [{ name: 'id' }, { title: 'G', children: [{ name: 'a', later: 1 }] }],
      template_from: 'source',
      timezone: 'Asia/Shanghai',
      page_size: 200,
      key: ['id'],
      on_duplicates: 'fail',
      watermark: true,
      priority: 'scheduled',
      keep_hours: 5,
      keep_rows_hours: 6,
      link_hours: 7,
      link_uses: 8,
      operator_id: 'lin',
      callback: 'https://me:pass@hook.example/x',
      notify: {
        email: ['a@example.com'],
        chat: [{ kind: 'slack', url: 'https://hooks.example/secret' }],
        language: 'zh',
      },
      fresh: true,
      parameters: { region: 'north', n: 3 },
    },
    {
      source: {
        kind: 'http',
        url,
        preset: 'drf',
        method: 'POST',
        body: { start: '{{page}}', filter: { state: 'open' } },
        headers: { X: 'secret' },
        auth: { kind: 'oauth2', token_url: 'https://login.example/t', client_id: 'c', client_secret: 's' },
        rows: 'result.items',
        total: null,
        paging: { style: 'cursor', cursor: 'next', size: 1000, first: 0 },
      },
      type: 'csv',
      compress: 'zstd',
      csv: { delimiter: ';', encoding: 'gb18030', bom: false, decimal: ',', quote: 'all', formulas: 'keep' },
    },
    {
      source: { kind: 'http', url, auth: { kind: 'basic', username: 'u', password: 'p' } },
      type: 'jsonl',
      compress: 'gzip',
    },
    {
      source: {
        kind: 'sql',
        connection: 'shop',
        query: 'select ?',
        params: ['a', 5, true, false, null, ''],
      },
      type: 'parquet',
    },
    { source: { kind: 'audit', actor: 'anna', action: 'export.downloaded' }, type: 'csv' },
    {
      sheets: [
        { name: 'A', source_url: url, template: { id: 'Id' } },
        { name: 'B', source_url: `${url}/b`, title: 'T', summary: 's' },
      ],
      type: 'excel',
      template_from: 'request',
      header: [{ a: 1 }, { b: 2, c: 3 }],
    },
  ])('comes out as it went in, secrets included: %j', (request) => {
    expect(unchanged(request)).toEqual(request)
  })

  test('dates ask for being filled in, and a template that is typed wins over the source’s', () => {
    const fields: DraftFields = {
      kind: 'address',
      type: 'excel',
      source_url: `${url}?from={{last_month.start}}`,
    }
    expect(toRequest(fields, '', null)).toEqual({
      source_url: fields.source_url,
      type: 'excel',
      parameters: {},
    })
    expect(toRequest({ ...fields, source_url: url }, '[]', null)).toMatchObject({ template_from: 'request' })
    expect(toRequest({ ...fields, source_url: url }, ' ', null)).toEqual({ source_url: url, type: 'excel' })
  })

  test('a draft that stays in the browser holds no secret', () => {
    const draft = withoutSecrets({
      kind: 'http',
      type: 'csv',
      source_url: 'https://u:secret-1@shop.example/a',
      callback: 'https://secret-2@hook.example/',
      headers: [{ name: 'A', value: 'secret-3' }],
      auth: { kind: 'basic', username: 'anna', password: 'secret-4', client_secret: 'secret-5' },
      chats: [{ kind: 'slack', url: 'https://hooks.example/secret-6' }],
      http: { url: 'https://u:secret-7@shop.example/' },
      sheets: [{ name: 'S', source_url: 'https://u:secret-8@shop.example/' }],
    })
    expect(JSON.stringify(draft)).not.toContain('secret')
    expect(draft).toMatchObject({ headers: [{ name: 'A' }], auth: { username: 'anna' } })
  })

  test('a number for a query goes as it was typed where it would be rounded', () => {
    const params = ['5', '1.50', '4500000000123456789'].map((value) => ({ type: 'number' as const, value }))
    const sql = { connection: 'shop', query: 'select ?, ?, ?', params }
    expect(writeRequest(toRequest({ kind: 'sql', type: 'csv', sql }, '', null))).toContain(
      '"params":[5,1.50,4500000000123456789]',
    )
  })

  test.each([
    ['source_url', 'address', ['source_url']],
    ['source/url', 'http', ['http', 'url']],
    ['source.url', 'address', ['source_url']],
    ['source.auth.token_url', 'http', ['auth', 'token_url']],
    ['source.query', 'sql', ['sql', 'query']],
    ['sheets[1].source_url', 'sheets', ['sheets', 1, 'source_url']],
    ['sheets[1].template[0]', 'sheets', ['template']],
    ['notify.chat[2].url', 'address', ['chats', 2, 'url']],
    ['notify.email[0]', 'address', ['emails']],
    ['source_headers.X', 'address', ['headers']],
    ['template[0].type', 'address', ['template']],
  ] as const)('%s of the request is a field of the form', (path, kind, field) => {
    expect(fieldOfPath(path, kind)).toEqual(field)
  })
})

test('a schedule in words is its cron, and what has no words stays cron', () => {
  for (const cron of ['30 6 * * *', '0 6 * * 1-5', '5 23 * * 0', '0 6 1 * *', '0 6 L * *'])
    expect(toSchedule(fromSchedule({ cron, timezone: 'UTC' })), cron).toEqual({ cron, timezone: 'UTC' })
  expect(fromSchedule({ cron: '30 6 * * *', timezone: 'UTC' })).toMatchObject({ every: 'day', time: '06:30' })
  for (const cron of ['*/5 * * * *', '@daily', '0 6 1,15 * *', '0 6 1 * 1', '99 6 * * *'])
    expect(fromSchedule({ cron, timezone: 'UTC' }), cron).toEqual({ every: 'cron', cron, timezone: 'UTC' })
  expect(toSchedule(fromSchedule(null))).toBeNull()
})
