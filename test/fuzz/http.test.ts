import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OpenApi, Schema } from '../http/rude/requests.ts'
import { readApi } from '../support/api-document.ts'
import { availableBackends } from '../support/backends.ts'
import { startExports } from '../support/export-client.ts'
import { ADMIN_TOKEN, newProject } from '../support/http.ts'
import { answerOf, expectForeseen, fuzz, limitMs, seed } from './fuzzing.ts'
import { type Known, like, oddText, oddValue, toJson } from './odd-values.ts'

interface Operation {
  method: string
  path: string
  parameters: { name: string; in: string; schema?: Schema }[]
  body: Schema | undefined
}

function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      parameters,
      body: requestBody && Object.values(requestBody.content)[0]?.schema,
    })),
  )
}

/** Text that a header can carry. */
const headerText = fc
  .oneof(oddText, fc.constantFrom('0', '1', '10', 'bytes=0-', 'bytes=9-1', 'a b64,c', '1.0.0'))
  .map((text) =>
    text
      .replace(/[^\t\x20-\x7e]/g, '')
      .trim()
      .slice(0, 500),
  )
/** Their bodies are files. */
const RAW = /\/(?:uploads|repository)\b/
const HEADERS = [
  'range',
  'if-none-match',
  'if-range',
  'idempotency-key',
  'accept-language',
  'last-event-id',
  'accept',
]
const UPLOAD = ['tus-resumable', 'upload-length', 'upload-offset', 'upload-metadata', 'upload-defer-length']

const tus = fc.record(
  {
    'tus-resumable': fc.constant('1.0.0'),
    'upload-length': fc.constantFrom('0', '5', '100'),
    'upload-offset': fc.constantFrom('0', '5'),
    'upload-metadata': fc.constantFrom('filename YS5tcDQ=', 'filename', 'a YQ==,b'),
    'content-type': fc.constant('application/offset+octet-stream'),
  },
  { requiredKeys: ['tus-resumable', 'content-type'] },
)

function requestFor({ method, path, parameters, body }: Operation, known: Known) {
  const at = (place: string) =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, schema = {} }) => [name, like(schema, known, name).map(textOf)]),
      ),
      place === 'query' ? { requiredKeys: [] } : {},
    )
  const names = path.includes('/uploads') ? [...HEADERS, ...UPLOAD] : HEADERS
  return fc.record({
    method: fc.constant(method),
    path: at('path').map((values) =>
      path.replaceAll(/\{([^}]+)\}/g, (_, name) =>
        encodeURIComponent(String(values[name] ?? 'x').toWellFormed()),
      ),
    ),
    query: at('query').map((values) => new URLSearchParams(values as Record<string, string>).toString()),
    headers: fc
      .tuple(
        path.includes('/uploads') ? tus : fc.constant({}),
        fc.dictionary(fc.constantFrom(...names), headerText, { maxKeys: 2 }),
      )
      .map(([good, odd]) => ({ ...good, ...odd })),
    body:
      method === 'GET' || method === 'HEAD'
        ? fc.constant(undefined)
        : fc.oneof(
            {
              weight: 20,
              arbitrary: body
                ? like(body, known).map(toJson)
                : RAW.test(path)
                  ? oddText
                  : fc.constant(undefined),
            },
            { weight: 1, arbitrary: oddValue.map(toJson) },
            { weight: 1, arbitrary: oddText },
          ),
    type: fc.oneof(
      { weight: 8, arbitrary: fc.constant('application/json') },
      fc.constantFrom('text/plain', 'application/offset+octet-stream', 'application/json; charset=x', '/'),
    ),
    asAdmin: fc.boolean(),
  })
}

type Sent = ReturnType<typeof requestFor> extends fc.Arbitrary<infer T> ? T : never

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : toJson(value)
}

for (const name of availableBackends()) {
  test(`no request is too odd for any route on ${name} (seed ${seed})`, { timeout: limitMs }, async () => {
    const { ask, address, business, client, ledger } = await startExports(name)
    const spare = await newProject({ ask })
    const source = business.source({ total: 3 })
    const { task_id } = await client.run({ source_url: source.url })
    const { key } = client.project
    await ask('PUT', '/api/repository/dir/file', { key, body: 'bytes' })
    await ask('PUT', '/api/accounts/anna', { key: ADMIN_TOKEN, body: { url: source.url } })
    const upload = await ask('POST', '/api/uploads', {
      key,
      headers: { 'tus-resumable': '1.0.0', 'upload-length': '100' },
    })
    const { run_id } = (await (
      await ask('POST', '/api/runs', { key: ADMIN_TOKEN, body: { handle: 'anna', kind: 'start' } })
    ).json()) as { run_id: string }
    const url = fc.constantFrom(
      source.url,
      `${business.origin}/nothing`,
      'http://127.0.0.1:9/',
      'ftp://127.0.0.1/',
    )
    const of = (...values: unknown[]) => fc.constantFrom(...values)
    const values: Record<string, fc.Arbitrary<unknown>> = {
      task_id: of(task_id, 'x'),
      export_task_id: of(task_id),
      // What is done to a project must not take away the key that this test uses.
      project_id: of(spare.id),
      handle: of('anna', 'bert'),
      run_id: of(run_id),
      upload_id: of(upload.headers.get('location')?.split('/').at(-1)),
      path: of('dir/file', 'a'),
      ...{ source_url: url, callback: url, url },
      file_path: of('/dir', '/'),
      file_name: of('file', '报表', 'x.csv'),
      timezone: of('UTC', 'Asia/Shanghai'),
    }
    const operations = operationsOf(await readApi({ ask }))
    const request = fc.oneof(
      ...operations.map((operation) => requestFor(operation, (member) => values[member])),
    )
    const send = async ({ method, path, query, headers, body, type, asAdmin }: Sent) => {
      const { answer, text } = await answerOf(`${address}${path}${query && `?${query}`}`, {
        method,
        headers: {
          ...(body !== undefined && { 'content-type': type }),
          ...headers,
          authorization: `Bearer ${asAdmin ? ADMIN_TOKEN : key}`,
        },
        ...(body !== undefined && { body }),
      })
      expectForeseen(answer, text, `${method} ${path}?${query} ${body}`)
    }
    await fuzz(fc.array(request, { minLength: 1, maxLength: 8 }), (requests) =>
      Promise.all(requests.map(send)),
    )
    expect((await ask('GET', '/livez')).status).toBe(200)
    const broken = await ledger.db
      .selectFrom('jobs')
      .select(['kind', 'payload', 'error_message'])
      .where('error_code', '=', 'INTERNAL')
      .execute()
    expect(broken).toEqual([])
  })
}
