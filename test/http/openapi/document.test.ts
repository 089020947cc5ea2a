import { Check } from 'typebox/schema'
import { expect, test } from 'vitest'
import { KNOWN_FIELDS } from '../../../src/exports/template/known-fields.ts'
import { startHttp } from '../../support/http.ts'

interface Parameter {
  name: string
  in: string
}
interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: Record<string, never[]>[]
  parameters?: Parameter[]
  responses: Record<string, { content?: Record<string, unknown> }>
}
interface Document {
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, { properties?: object }>; securitySchemes: object }
}

async function setup(env: Record<string, string> = {}) {
  const { ask } = await startHttp('embedded', { env })
  const document = (await (await ask('GET', '/openapi.json')).json()) as Document
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const byId = new Map(operations.map((operation) => [operation.operationId, operation]))
  return { document, operations, byId }
}

test('every operation has an id, a summary, one defined tag, its security and its problems', async () => {
  const { document, operations, byId } = await setup()
  expect(byId.size).toBe(operations.length)
  const tags = document.tags.map(({ name }) => name)
  for (const { operationId, summary, tags: own, security, responses } of operations) {
    expect(operationId).toMatch(/^[a-z][A-Za-z]+$/)
    expect(summary, operationId).toBeTruthy()
    expect([own.length, tags.includes(own[0] ?? '')], operationId).toEqual([1, true])
    expect(security, operationId).toBeInstanceOf(Array)
    expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(['4XX', '5XX', 'default']))
    expect(
      Object.keys(responses).some((status) => /^[23]/.test(status)),
      operationId,
    ).toBe(true)
  }
  expect(Object.keys(document.paths).filter((path) => /[*]|.\/$/.test(path))).toEqual([])
})

test('the operations that take an Idempotency-Key say so', async () => {
  const { operations } = await setup()
  const takesKey = ({ parameters = [] }: Operation) =>
    parameters.some(({ name }) => name === 'Idempotency-Key')
  expect(
    operations
      .filter(takesKey)
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual([
    'cancelRun',
    'createEnrollment',
    'createExport',
    'createKey',
    'createProject',
    'createRun',
    'createTransfer',
    'createUpload',
    'redeliverTransferJob',
    'renderExport',
    'resendCallback',
    'retryExport',
    'retryTask',
    'rotateSecret',
    'runExportAgain',
    'runSavedExport',
  ])
})

test('files, streams and the answer of mode=sync have types', async () => {
  const { byId } = await setup()
  const typesOf = (id: string, status: string) => Object.keys(byId.get(id)?.responses[status]?.content ?? {})
  expect(typesOf('createExport', '202')).toEqual(['application/json'])
  for (const [id, status] of [
    ['createExport', '200'],
    ['downloadExport', '200'],
    ['downloadExport', '206'],
  ] as const)
    expect(typesOf(id, status)).toContain('text/csv')
  expect(typesOf('downloadTaskResult', '206')).toContain('application/octet-stream')
  expect(typesOf('streamEvents', '200')).toEqual(['text/event-stream'])
  expect(typesOf('getMetrics', '200')).toEqual(['text/plain'])
})

test('the callback is described with the headers that sign it', async () => {
  const { document } = await setup()
  const parameters = document.webhooks.exportEnded?.post?.parameters
  expect(parameters?.map(({ name }) => name)).toEqual([
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
  ])
})

test('the server is the public address where one is set', async () => {
  expect((await setup()).document.servers).toMatchObject([{ url: '/' }])
  const { document } = await setup({ WHARF_PUBLIC_URL: 'https://wharf.example.com' })
  expect(document.servers).toMatchObject([{ url: 'https://wharf.example.com' }])
})

test('the described template has every field that a template may have, and no other', async () => {
  const { components } = (await setup()).document
  const fieldsOf = (name: string) => Object.keys(components.schemas[name]?.properties ?? {}).sort()
  const described = { template: 'TemplateTree', column: 'TemplateColumn', row: 'TemplateRow' }
  for (const [place, name] of Object.entries({ ...described, condition: 'ConditionStyle' }))
    expect(fieldsOf(name), name).toEqual([...KNOWN_FIELDS[place as keyof typeof KNOWN_FIELDS]].sort())
})

test('the described template, header and footer take what docs/templates.md shows', async () => {
  const { components } = (await setup()).document
  const takes = (name: string, value: unknown) =>
    Check({ $ref: `#/components/schemas/${name}`, components }, value)
  const templates = [
    { id: 'Order', amount: 'Amount' },
    [
      { name: 'id', title: 'Order' },
      { title: 'Amounts', children: [{ name: 'amount', type: 'money' }] },
    ],
    { ceil: [{ name: 'item' }], row: [{ title: 'North', children: [{ name: 'oslo', row_count: 2 }] }] },
    [{ name: 'balance', condition_style: [{ condition: '< 0', color: 'red', bold: true }] }],
    { use: 'monthly' },
  ]
  for (const template of templates) expect(takes('Template', template), JSON.stringify(template)).toBe(true)
  const headers = [
    { Source: 'ERP', Rows: 14 },
    [
      ['Source', 'ERP'],
      ['Rows', 14],
    ],
    [{ Source: 'ERP' }, { From: 'a', To: 'b' }],
    'a <b>text</b>',
  ]
  for (const header of headers)
    for (const name of ['Header', 'Footer']) expect(takes(name, header), JSON.stringify(header)).toBe(true)
  expect(takes('Template', [{ name: 'id', v_align: 'top' }])).toBe(false)
})
