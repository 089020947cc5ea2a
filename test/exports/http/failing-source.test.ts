import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { sendJson } from '../../support/business-system.ts'
import { problemOf, startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { until } from '../../support/until.ts'

/** Waits of minutes pass in a moment; nobody loses a lease over it. */
const hurried = () => ({ clock: new FastClock(200), env: { WHARF_LEASE_SECONDS: '3600' } })

test('a source that refuses for good is asked once', async () => {
  const { business, client } = await startExports('embedded', hurried())
  for (const status of [400, 401, 403, 404, 405, 410, 422]) {
    const source = business.source({
      instead: (_pull, response) => {
        response.writeHead(status).end('{"error": "no"}')
        return true
      },
    })
    const view = await client.ended((await client.start({ source_url: source.url })).task_id)
    expect({ ...view, asked: source.pulls.length }).toMatchObject({
      status: 'failed',
      attempts: 1,
      asked: 1,
      error: { code: 'SOURCE_STATUS' },
    })
    expect(view.error?.message).toContain(String(status))
  }
})

test('a source that is plainly wrong is asked once, by exports, mode=sync and previews alike', async () => {
  const { business, client } = await startExports()
  const html = '<html>please log in</html>'
  const gbk = { 'content-type': 'application/json; charset=gbk' }
  const wrong: [string, string | Buffer, Record<string, string>, string, RegExp][] = [
    ['an HTML page', html, { 'content-type': 'text/html' }, 'SOURCE_NOT_JSON', /login/],
    ['nothing', '', {}, 'SOURCE_NOT_JSON', /empty/],
    ['half an answer', '{"total": 1, "data": [{"id"', {}, 'SOURCE_NOT_JSON', /byte 27/],
    ['[]', '[]', {}, 'SOURCE_SHAPE', /not an object/],
    ['[null]', '[null]', {}, 'SOURCE_SHAPE', /not an object/],
    ['no total', '{"data": []}', {}, 'SOURCE_SHAPE', /no total/],
    [
      'an unknown charset',
      '{}',
      { 'content-type': 'text/json;charset=klingon' },
      'SOURCE_NOT_JSON',
      /klingon/,
    ],
    [
      'no charset of texts',
      '{}',
      { 'content-type': 'text/json;charset=x-user-defined' },
      'SOURCE_NOT_JSON',
      /x-user/,
    ],
    [
      'ASCII that is neither that nor UTF-8',
      Buffer.from('{"total": 1, "data": [{"name": "Gr\u00fc\u00df"}]}', 'latin1'),
      { 'content-type': 'application/json; charset=us-ascii' },
      'SOURCE_NOT_JSON',
      /not valid UTF-8/,
    ],
    ['bytes that are not of its charset', Buffer.from([0x7b, 0xff, 0xff]), gbk, 'SOURCE_NOT_JSON', /gbk/],
  ]
  for (const [what, body, headers, code, message] of wrong) {
    const source = business.source({
      instead: (_pull, response) => {
        response.writeHead(200, headers).end(body)
        return true
      },
    })
    const asked = { key: client.project.key, body: { source_url: source.url } }
    const view = await client.ended((await client.start(asked.body)).task_id)
    expect(view, what).toMatchObject({ status: 'failed', attempts: 1, error: { code } })
    expect(view.error?.message, what).toMatch(message)
    for (const path of ['/api/exports?mode=sync', '/api/exports/preview']) {
      const problem = await problemOf(client.ask('POST', path, asked))
      expect(problem, what).toMatchObject({ status: 502, code, detail: expect.stringMatching(message) })
    }
    expect(source.pulls, what).toHaveLength(3)
  }
})

test('a source that gives fewer rows per page than it is asked for is refused on its first page, with advice', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    total: 250,
    instead: (pull, response, page) => {
      sendJson(response, { total: 250, data: (page().data as object[]).slice(0, 120) })
      return pull.pageSize > 0
    },
  })
  const view = await client.ended((await client.start({ source_url: source.url, page_size: 200 })).task_id)
  expect(view).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'SOURCE_SHORT_PAGE' } })
  expect(view.error?.message).toBe(
    'page 0 has 120 rows, it must have 200; if the source gives no more per page, ask with page_size=120',
  )
  expect(source.pages.filter((page) => page === 0)).toHaveLength(1)
})

test('answers in the charset that they name are decoded', async () => {
  const { business, client } = await startExports()
  // 客户 in each of them
  const texts: [string, number[]][] = [
    ['gbk', [0xbf, 0xcd, 0xbb, 0xa7]],
    ['"GB18030"', [0xbf, 0xcd, 0xbb, 0xa7]],
    ['big5', [0xab, 0xc8, 0xa4, 0xe1]],
    ['Shift_JIS', [0x8b, 0x71, 0x8c, 0xcb]],
    ['utf-8', [...Buffer.from('客户')]],
    // What these say is a part of UTF-8, and some servers say it whatever they send.
    ['us-ascii', [...Buffer.from('客户')]],
    ['ASCII', [...Buffer.from('客户')]],
  ]
  for (const [charset, bytes] of texts) {
    const source = business.source({
      instead: (_pull, response) => {
        response.writeHead(200, { 'content-type': `application/json; charset=${charset}` })
        const [head, tail] = ['{"total": 1, "data": [{"name": "', '"}]}'].map((text) => Buffer.from(text))
        response.end(Buffer.concat([head as Buffer, Buffer.from(bytes), tail as Buffer]))
        return true
      },
    })
    const view = await client.run({ source_url: source.url })
    const second = { big5: '客戶', Shift_JIS: '客戸' }[charset] ?? '客户'
    expect(await client.lines(view.task_id), charset).toEqual(['"name"', `"${second}"`])
  }
})

test('an export says that it waits for its source: between the tries for a page, and between attempts', async () => {
  const { business, client } = await startExports('embedded')
  let working = false
  const source = business.source({
    instead: (pull, response) => {
      if (working || pull.pageSize === 1) return false
      response.writeHead(503, { 'retry-after': '600' }).end('busy')
      return true
    },
  })
  const { task_id } = await client.start({ source_url: source.url })
  const view = await until('the view says so', async () => {
    const seen = await client.task(task_id)
    return seen.waiting_for && seen
  })
  expect(view).toMatchObject({
    status: 'processing',
    stage: 'fetching',
    waiting_for: { what: 'source', code: 'SOURCE_STATUS', message: 'page 0 was answered with status 503' },
  })
  const { since, next_try_at } = view.waiting_for as { since: string; next_try_at: string }
  expect(Date.parse(next_try_at)).toBeGreaterThan(Date.parse(since))
  const events = await client.items<{ waiting_for?: { what: string } }>(task_id, 'events')
  expect(events.some(({ waiting_for }) => waiting_for?.what === 'source')).toBe(true)
  working = true
})

test('an export says no time of a next try while it is asking again', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const held: ServerResponse[] = []
  const source = business.source({
    instead: (pull, response) => {
      if (pull.pageSize === 1) return false
      if (pull.again > 0) held.push(response)
      else response.writeHead(503).end('busy')
      return true
    },
  })
  const { task_id } = await client.start({ source_url: source.url })
  await until('it asks again and says so', async () => {
    const { waiting_for } = await client.task(task_id)
    return held.length > 0 && waiting_for && waiting_for.next_try_at === null
  })
  for (const response of held) response.destroy()
})

test('an export that failed once and will be tried again says so', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const source = business.source({
    instead: (pull, response) => {
      if (pull.pageSize === 1 || pull.again >= 6) return false
      response.writeHead(500).end('oops')
      return true
    },
  })
  const { task_id } = await client.start({ source_url: source.url })
  expect(await client.ended(task_id)).toMatchObject({ status: 'succeeded', attempts: 2, waiting_for: null })
  const events = await client.items<{ type: string }>(task_id, 'events')
  expect(events.filter(({ type }) => type === 'export.pending')[1]).toMatchObject({
    status: 'pending',
    waiting_for: { what: 'source', code: 'SOURCE_STATUS' },
  })
})

test('an error status names sheet and address, without what may be secret, and asks for credentials', async () => {
  const { business, client } = await startExports()
  const good = business.source({ total: 1 })
  const bad = business.source({ instead: (_, response) => Boolean(response.writeHead(403).end()) })
  const address = new URL(bad.url)
  const secret = `${bad.url}${address.search ? '&' : '?'}token=s3cret`
  const sheets = [
    { name: 'Good', source_url: good.url },
    { name: 'Bad', source_url: secret },
  ]
  const said = `sheet "Bad": page 0 was answered with status 403 by ${address.origin}${address.pathname}; does it need credentials? source_headers can send them`
  const { task_id } = await client.start({ type: 'excel', sheets })
  expect((await client.ended(task_id)).error).toMatchObject({ code: 'SOURCE_STATUS', message: said })
  const preview = client.ask('POST', '/api/exports/preview', {
    key: client.project.key,
    body: { type: 'excel', sheets },
  })
  expect(await problemOf(preview)).toMatchObject({ code: 'SOURCE_STATUS', detail: said, sheet: 'Bad' })
  const source = { kind: 'http', preset: 'csv', url: secret }
  const sync = client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body: { source } })
  expect((await problemOf(sync)).detail).toMatch(
    /status 403 by .*source\.auth or source\.headers can send them$/,
  )
})

test('a source that answers with a bare list is told what to ask for', async () => {
  const { business, client } = await startExports()
  const source_url = business.at('/list', (_, response) => response.end('[{"a":1}]'))
  const sync = (body: object) =>
    client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body })
  expect(await problemOf(sync({ source_url }))).toMatchObject({
    code: 'SOURCE_SHAPE',
    detail: expect.stringMatching(/it is a list.*"rows": ""/),
  })
})

const MARKED = `<html><head><style>p { color: red }</style></head><body><h1>Forbidden</h1><p>Ask&nbsp;Anna</p></body></html>`
const REASONS: [what: string, body: string, type: string, said: string][] = [
  [
    'a problem',
    '{"title": "No", "detail": "tenant 7 is closed"}',
    'application/problem+json',
    'tenant 7 is closed',
  ],
  [
    'a nested error',
    '{"error": {"code": 3, "message": "no right to read"}}',
    'application/json',
    'no right to read',
  ],
  ['a text with control characters', 'no\u0000w\r\n\u001b[31mred\u202e', 'text/plain', 'no w [31mred'],
  ['a page', MARKED, 'text/html', 'Forbidden Ask&nbsp;Anna'],
  ['more than is worth showing', 'x'.repeat(100_000), 'text/plain', `${'x'.repeat(300)}…`],
  ['what it was asked with', '{"message": "bad key s3cret-of-ours"}', 'application/json', 'bad key ***'],
]

test.each(REASONS)('a refusal of the source shows its own reason: %s', async (_, body, type, said) => {
  const { business, client } = await startExports()
  const refusing = business.source({
    instead: (_, response) => Boolean(response.writeHead(403, { 'content-type': type }).end(body)),
  })
  const source_headers = { 'x-api-key': 's3cret-of-ours' }
  const { task_id } = await client.start({ source_url: refusing.url, source_headers })
  const { error } = await client.ended(task_id)
  expect(error?.message).toContain(`page 0 was answered with status 403 ("${said}") by `)
  const source = { kind: 'http', preset: 'csv', url: refusing.url, headers: source_headers }
  const sync = client.ask('POST', '/api/exports?mode=sync', { key: client.project.key, body: { source } })
  expect((await problemOf(sync)).detail).toContain(`the source answered with status 403 ("${said}") by `)
})

test('a reason that does not come keeps nobody waiting', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const open = new Set<ServerResponse>()
  const source = business.source({
    instead: (_, response) => {
      open.add(response)
      response.writeHead(403).write('{"message": "…')
      return true
    },
  })
  const { task_id } = await client.start({ source_url: source.url })
  const { error } = await client.ended(task_id)
  expect(error).toMatchObject({ code: 'SOURCE_STATUS', message: expect.stringMatching(/status 403 by /) })
  await until('the answer is given up', () => [...open].every(({ destroyed }) => destroyed))
})

test('the total of an export whose source has never answered is not known', async () => {
  const { client } = await startExports('embedded')
  const { task_id } = await client.start({ source_url: 'http://127.0.0.1:1/dead' })
  const view = await until('it waits for its source', async () => {
    const seen = await client.task(task_id)
    return seen.status === 'processing' && seen.waiting_for && seen
  })
  expect(view.progress).toEqual({ fetched: 0, total: null })
  const events = await client.items<{ progress?: { total: number | null } }>(task_id, 'events')
  expect(events.flatMap(({ progress }) => progress?.total ?? [])).toEqual([])
})
