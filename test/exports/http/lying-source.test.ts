import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { type Pull, sendJson } from '../../support/business-system.ts'
import { startExports } from '../../support/export-client.ts'
import { FastClock } from '../../support/fast-clock.ts'
import { until } from '../../support/until.ts'

/** Waits of minutes pass in a moment; nobody loses a lease over it. */
const hurried = () => ({ clock: new FastClock(200), env: { WHARF_LEASE_SECONDS: '3600' } })

const isPage =
  (page: number, times = Number.POSITIVE_INFINITY) =>
  (pull: Pull) =>
    pull.pageSize > 1 && pull.page === page && pull.again < times

test('a source that stumbles is asked again until the page is whole', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const stumbles: [string, (response: ServerResponse, page: () => unknown) => void][] = [
    ['a 500', (response) => void response.writeHead(500).end('oops')],
    ['a 429', (response) => void response.writeHead(429, { 'retry-after': '3' }).end()],
    [
      'a cut connection',
      (response, page) => {
        const text = JSON.stringify(page())
        response.writeHead(200, { 'content-length': String(text.length) })
        response.write(text.slice(0, text.length / 2), () => response.destroy())
      },
    ],
    ['half a page', (response, page) => void response.end(JSON.stringify(page()).slice(0, -20))],
    ['an HTML page', (response) => void response.end('<!doctype html><form>')],
    ['a short page', (response, page) => sendJson(response, { ...(page() as object), data: [{ id: 1 }] })],
    ['an error of its own', (response) => sendJson(response, { status: 503, msg: 'busy' })],
  ]
  for (const [what, stumble] of stumbles) {
    const bad = isPage(1, 2)
    const source = business.source({
      instead: (pull, response, page) => {
        if (!bad(pull)) return false
        stumble(response, page)
        return true
      },
    })
    const view = await client.run({ source_url: source.url, page_size: 100 })
    expect({ what, rows: view.file?.rows, warnings: view.warnings, attempts: view.attempts }).toEqual({
      what,
      rows: 250,
      warnings: [],
      attempts: 1,
    })
    expect(
      source.pages.filter((page) => page === 1),
      what,
    ).toHaveLength(3)
    expect(await client.lines(view.task_id)).toHaveLength(251)
  }
})

test('a source that goes on lying fails the export with a code and a message that name page and reason', async () => {
  const { business, client } = await startExports('embedded', hurried())
  const lies: [string, (response: ServerResponse, page: () => unknown) => void, string, RegExp, number][] = [
    ['500s', (response) => void response.writeHead(500).end(), 'SOURCE_STATUS', /page 1 .*500/, 18],
    ['a 403', (response) => void response.writeHead(403).end(), 'SOURCE_STATUS', /page 1 .*403/, 1],
    [
      'a login page',
      (response) => void response.end('<html>log in</html>'),
      'SOURCE_NOT_JSON',
      /page 1 .*login/,
      6,
    ],
    [
      'a broken page',
      (response) => void response.end('{"total": 250, "data": [{]}'),
      'SOURCE_NOT_JSON',
      /page 1 /,
      6,
    ],
    ['a list', (response) => void response.end('[]'), 'SOURCE_SHAPE', /page 1 .*object/, 6],
    [
      'a short page',
      (response) => sendJson(response, { total: 250, data: [] }),
      'SOURCE_SHORT_PAGE',
      /page 1 /,
      6,
    ],
    [
      'a long page',
      (response) => sendJson(response, { total: 250, data: Array.from({ length: 101 }, () => ({ id: 1 })) }),
      'SOURCE_LONG_PAGE',
      /page 1 /,
      6,
    ],
    [
      'its own error',
      (response) => sendJson(response, { status: 401, msg: '请先登录' }),
      'SOURCE_ERROR',
      /请先登录/,
      1,
    ],
    ['a cut', (response) => void response.destroy(), 'CONNECTION_LOST', /page 1/, 18],
  ]
  for (const [what, lie, code, message, asked] of lies) {
    const bad = isPage(1)
    const source = business.source({
      instead: (pull, response, page) => {
        if (!bad(pull)) return false
        lie(response, page)
        return true
      },
    })
    const { task_id } = await client.start({ source_url: source.url, page_size: 100 })
    const view = await client.ended(task_id)
    expect({ what, status: view.status, code: view.error?.code, attempts: view.attempts }).toEqual({
      what,
      status: 'failed',
      code,
      attempts: Math.ceil(asked / 6),
    })
    expect(view.error?.message, what).toMatch(message)
    expect(
      source.pages.filter((page) => page === 1),
      what,
    ).toHaveLength(asked)
    // Every attempt after the first goes on from the last whole page.
    expect(
      source.pages.filter((page) => page === 0),
      what,
    ).toHaveLength(1)
    expect(view).toMatchObject({ file: null, download_url: null, stage: 'done' })
  }
})

test('a total that changes on the way is a warning, the first one counts', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    instead: (pull, response, page) => {
      if (pull.pageSize === 1 || pull.page !== 1) return false
      sendJson(response, { ...page(), total: 999 })
      return true
    },
  })
  const view = await client.run({ source_url: source.url, page_size: 100 })
  expect(view.file?.rows).toBe(250)
  expect(view.warnings).toEqual([expect.stringMatching(/total changed from 250 to 999.*page 1/)])
})

test('a source that drips is read to its end', async () => {
  const { business, client } = await startExports()
  const source = business.source({
    total: 30,
    instead: (pull, response, page) => {
      if (pull.pageSize === 1) return false
      const pieces = JSON.stringify(page()).match(/.{1,40}/gs) ?? []
      const drip = () => {
        const piece = pieces.shift()
        if (piece === undefined) response.end()
        else response.write(piece, () => setImmediate(drip))
      }
      drip()
      return true
    },
  })
  const view = await client.run({ source_url: source.url })
  expect(await client.lines(view.task_id)).toHaveLength(31)
})

test('wrapped, compressed and redirected answers are understood', async () => {
  const { business, client } = await startExports()
  const wrapped = business.source({
    instead: (_, response, page) => {
      sendJson(response, { status: 200, msg: 'ok', data: page() })
      return true
    },
  })
  const zipped = business.source({
    instead: (_, response, page) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(JSON.stringify(page())))
      return true
    },
  })
  const old = business.at('/moved', (request, response) => {
    const query = request.url?.split('?')[1] ?? ''
    response.writeHead(307, { location: `${zipped.url}?${query}` }).end()
  })
  for (const source_url of [wrapped.url, zipped.url, old]) {
    const view = await client.run({ source_url, page_size: 100 })
    expect(view.file?.rows).toBe(250)
  }
  const wide = business.at('/inside', (_, response) => {
    response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end()
  })
  const { task_id } = await client.start({ source_url: wide })
  const view = await client.ended(task_id)
  expect(view).toMatchObject({ status: 'failed', error: { code: 'ADDRESS_REFUSED' }, attempts: 1 })
})

test('every pull is signed with the secret of the project, over id, time and the full URL', async () => {
  const { business, client } = await startExports()
  const source = business.source({ total: 150 })
  await client.run({ source_url: `${source.url}?shop=7&q=a%20b&page_of=x&empty=&q=c`, page_size: 100 })
  expect(source.pulls.map(({ target }) => target.split('?')[1])).toEqual([
    'shop=7&q=a%20b&page_of=x&empty=&q=c&page=0&page_size=1',
    'shop=7&q=a%20b&page_of=x&empty=&q=c&page=0&page_size=100',
    'shop=7&q=a%20b&page_of=x&empty=&q=c&page=1&page_size=100',
  ])
  const webhook = new Webhook(client.project.secret)
  const ids = source.pulls.map(({ target, headers }) => {
    const signed = `${business.origin}${target}`
    const text = headers as Record<string, string>
    // The library's `verify` takes JSON alone, so the signature that it would expect is compared.
    const signature = webhook.sign(
      text['webhook-id'] ?? '',
      new Date(Number(text['webhook-timestamp']) * 1000),
      signed,
    )
    expect(text['webhook-signature']?.split(' ')).toContain(signature)
    return text['webhook-id']
  })
  expect(new Set(ids).size).toBe(3)
})

test('headers for the source arrive there, are sealed in the ledger, and are never shown again', async () => {
  const { business, client, ledger } = await startExports()
  const source = business.source({ total: 1 })
  const receiver = business.receiver()
  const secret = 'Bearer very-secret-token'
  const { task_id } = await client.run({
    source_url: source.url,
    callback: receiver.url,
    source_headers: { Authorization: secret, 'X-Shop': '7' },
  })
  for (const { headers } of source.pulls)
    expect(headers).toMatchObject({ authorization: secret, 'x-shop': '7' })
  const told = await receiver.call()
  const rows = await Promise.all(
    (['jobs', 'tasks', 'events', 'deliveries', 'idempotency'] as const).map((table) =>
      ledger.db.selectFrom(table).selectAll().execute(),
    ),
  )
  const shown = [
    JSON.stringify(rows),
    told.text,
    JSON.stringify(await client.task(task_id)),
    JSON.stringify(await client.items(task_id, 'events')),
  ]
  for (const text of shown) expect(text).not.toContain('very-secret-token')
  const preview = await client.ask('POST', '/api/exports/preview', {
    key: client.project.key,
    body: { source_url: source.url, source_headers: { Authorization: secret } },
  })
  expect(preview.status).toBe(200)
  expect(source.pulls.at(-1)?.headers.authorization).toBe(secret)
  await until('the callback is in the log', async () => (await client.items(task_id, 'deliveries')).length)
})

test('headers for the source do not follow a redirect to another host', async () => {
  const { business, client } = await startExports()
  const target = business.source({ total: 1 })
  const elsewhere = target.url.replace('127.0.0.1', 'localhost')
  const from = business.at('/away', (request, response) => {
    response.writeHead(302, { location: `${elsewhere}?${request.url?.split('?')[1]}` }).end()
  })
  const { task_id } = await client.start({ source_url: from, source_headers: { Authorization: 'secret' } })
  await client.ended(task_id)
  for (const { headers } of target.pulls) {
    expect(headers.authorization).toBeUndefined()
    expect(headers['webhook-signature']).toBeUndefined()
  }
})
