import { expect, test } from 'vitest'
import { BusinessSystem } from '../../support/business-system.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { until } from '../../support/until.ts'

const row = '{"total":1,"data":[{"id":1}]'
/** Whatever a source may say; what can be made something of is, and the rest is the source's error. */
const ANSWERS = [
  ...['', ' ', '[]', '[null]', 'null', '5', '"x"', 'true', '{}', '[[]]', '[{}]', '\u0000', '{"total":1}'],
  ...['{"data":[]}', '{"total":0,"data":null}', '{"total":1,"data":[null]}', '{"total":1,"data":[[]]}'],
  ...['{"total":1,"data":{"a":null}}', '{"total":1,"data":{"a":[5]}}', '{"total":"Infinity","data":[]}'],
  ...[
    '{"total":1e999,"data":[]}',
    '{"total":-1,"data":[]}',
    '{"total":1.5,"data":[]}',
    '{"total":{},"data":[]}',
  ],
  ...['{"status":[],"msg":{},"data":null}', '{"status":1e999,"data":[]}', '{"status":500,"msg":"\\u0000"}'],
  ...[`${row},"template":5}`, `${row},"template":[null]}`, `${row},"template":{"ceil":null,"row":[null]}}`],
  ...[`${row},"template":[{"name":[]}]}`, `${row},"header":[[null,null]]}`, `${row},"header":1e999}`],
  ...[`${row},"footer":[[[]]]}`, `${row},"header":{"a":{"b":1}}}`, `${row},"template":{"__proto__":[{}]}}`],
  `${row},"template":${'['.repeat(400)}${']'.repeat(400)}}`,
  `${row},"template":${'{"children":['.repeat(100)}${']}'.repeat(100)}}`,
  `\ufeff${row}}`,
  '{"total":1,"data":[{"id":1,"id":2}],"total":1}',
  '{"total":1,"data":[{"__proto__":1,"constructor":2}]}',
  '{"total":1,"data":[{"\\ud800":"\\udfff"}]}',
]

test('whatever a source answers, a preview shows it or says what is wrong with it', async () => {
  const { business, client } = await startExports()
  let said = ''
  const source_url = business.at('/odd', (_request, response) => void response.end(said))
  for (const answer of ANSWERS) {
    said = answer
    const asked = { key: client.project.key, body: { source_url, type: 'excel' } }
    const shown = await client.ask('POST', '/api/exports/preview', asked)
    if (shown.status === 200) continue
    const { code, status } = await problemOf(shown)
    expect({ answer, code, status }).toEqual({
      answer,
      code: expect.stringMatching(/^(SOURCE_|TEMPLATE_)/),
      status: status === 400 ? 400 : 502,
    })
  }
})

test('what a source says with a NUL in it ends the export on PostgreSQL as well', async () => {
  const { business, client } = await startExports('postgres + redis')
  const source_url = business.at('/nul', (_request, response) => {
    response.end(JSON.stringify({ status: 404, msg: 'no\u0000such' }))
  })
  const view = await client.ended((await client.start({ source_url })).task_id)
  expect(view.error).toMatchObject({ code: 'SOURCE_ERROR', message: expect.stringContaining('no\ufffdsuch') })
})

test('names with a NUL or half a character end no export on PostgreSQL, not even in its warnings', async () => {
  const { business, client } = await startExports('postgres + redis')
  const source_url = business.at('/nul', (_request, response) => {
    response.end('{"total":1,"data":[{"k\\u0000\\ud800":"\\ud800","path":"C:\\\\u0000"}]}')
  })
  const view = await client.ended((await client.start({ source_url })).task_id)
  expect(view).toMatchObject({ status: 'succeeded', warnings: [expect.stringContaining('k\ufffd')] })
})

test('a user name in an address that cannot be decoded is sent as it is', async () => {
  const { business, client } = await startExports()
  const seen: (string | undefined)[] = []
  const url = business.at('/rows', (request, response) => {
    seen.push(request.headers.authorization)
    response.end(`${row}}`)
  })
  await client.run({ source_url: url.replace('http://', 'http://%zz:%@') })
  expect(Buffer.from(seen[0]?.slice('Basic '.length) ?? '', 'base64').toString()).toBe('%zz:%')
})

test('a callback follows redirects within its origin, and to no other', async () => {
  const { business, client } = await startExports()
  const elsewhere = await BusinessSystem.start()
  const stranger = elsewhere.receiver()
  const away = business.at('/away', (_request, response) => {
    response.writeHead(307, { location: stranger.url }).end()
  })
  const told = business.receiver()
  const near = business.at('/near', (_request, response) =>
    response.writeHead(307, { location: told.url }).end(),
  )
  const source_url = business.source({ total: 1 }).url
  const lost = await client.run({ source_url, callback: away })
  const sent = await client.run({ source_url, callback: near })
  const deliveries = (taskId: string) =>
    client.items<{ delivered: boolean; error: string }>(taskId, 'deliveries')
  const [refused] = await until('the callback was tried', async () => {
    const tried = await deliveries(lost.task_id)
    return tried.length > 0 && tried
  })
  expect(refused).toMatchObject({
    delivered: false,
    error: expect.stringContaining(`redirects to ${elsewhere.origin}`),
  })
  await until('the other callback arrived', async () => (await deliveries(sent.task_id))[0]?.delivered)
  expect(stranger.calls).toEqual([])
})
