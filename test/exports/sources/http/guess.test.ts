import { expect, test } from 'vitest'
import { diagnoseSource } from '../../../../src/app/export.ts'
import { guessSource } from '../../../../src/exports/sources/doctor/guess-source.ts'
import { rowsFrom, startApi } from './api-server.ts'
import { exportSource } from './export-source.ts'

const url = 'http://x/'
const row = { id: 1 }
const guesses = (body: unknown, headers: Record<string, string> = {}) =>
  guessSource({ url, headers, text: typeof body === 'string' ? body : JSON.stringify(body) })
const guess = (body: unknown, headers?: Record<string, string>) => guesses(body, headers)[0]?.source

test('presets are known by what their answers have', () => {
  const seen: [string, unknown, Record<string, string>?][] = [
    ['drf', { count: 1, next: null, previous: null, results: [row] }],
    ['spring', { content: [row], totalElements: 1, number: 0 }],
    ['spring', { content: [row], page: { totalElements: 1 } }],
    ['laravel', { current_page: 1, data: [row], per_page: 15, total: 1 }],
    ['laravel', { data: [row], links: {}, meta: { current_page: 1, per_page: 15, total: 1 } }],
    ['laravel', { data: [row], links: {}, meta: { next_cursor: 'x', per_page: 15 } }],
    ['laravel', { data: [row], next_page_url: '/?page=2', path: '/' }],
    ['postgrest', [row], { 'content-range': '0-0/1' }],
    ['odata', { '@odata.context': 'x', value: [row] }],
    ['odata', { d: { results: [row], __next: 'x' } }],
    ['odata', { d: [row] }],
    ['jsonapi', { data: [{ type: 'a', id: '1', attributes: {} }] }],
    ['jsonapi', { data: [] }, { 'content-type': 'application/vnd.api+json' }],
    ['links', [row], { link: '</?page=2>; rel="next"' }],
    ['elasticsearch', { took: 1, hits: { total: { value: 1 }, hits: [] } }],
    ['ndjson', '{"a":1}\n{"a":2}\n{"a":'],
    ['csv', 'a,b\n1,2\n'],
    ['csv', 'a\n1\n', { 'content-type': 'text/csv; charset=utf-8' }],
  ]
  for (const [preset, body, headers] of seen)
    expect(guess(body, headers), JSON.stringify(body)).toMatchObject({ preset })
})

test('others are described by the places of what they have', () => {
  expect(guess({ result: { items: [row], total_count: 7 }, next_page_token: 'abc' })).toEqual({
    url,
    rows: 'result.items',
    total: 'result.total_count',
    paging: { style: 'cursor', cursor: 'next_page_token', cursor_param: 'page_token' },
  })
  expect(guess({ list: [row], paging: { next: 'http://x/?p=2' } })).toMatchObject({
    rows: 'list',
    total: null,
    paging: { style: 'link', cursor: 'paging.next' },
  })
  expect(guess({ rows: [row, row], nextPageToken: 'x' })).toMatchObject({
    paging: { cursor_param: 'pageToken' },
  })
  expect(guess([row])).toEqual({ url, rows: '', total: null, paging: { style: 'none' } })
  expect(guess({ users: [row], total: 100 })).toMatchObject({
    rows: 'users',
    total: 'total',
    paging: { style: 'page' },
  })
})

test('a list that says nothing of more is asked for more before it is taken for all', () => {
  for (const body of [[row, row], { users: [row, row] }]) {
    const tried = guesses(body).map(({ source }) => source.paging)
    expect(tried.slice(0, -1)).toContainEqual({ style: 'offset', page_param: 'offset', size_param: 'limit' })
    expect(tried.at(-1)).toEqual({ style: 'none' })
  }
  const cut = guessSource({ url, headers: {}, text: '[{"id":1},{"i', isCut: true })
  expect(cut.at(-1)?.source).toEqual({ url, rows: '', total: null, paging: { style: 'none' } })
})

test('where the stated way leads nowhere, the usual ones are tried after it', () => {
  const tried = guesses({ items: [row, row], next_cursor: 'x' }).map(({ source }) => source.paging)
  expect(tried[0]).toMatchObject({ style: 'cursor', cursor: 'next_cursor' })
  expect(tried).toContainEqual({ style: 'offset', page_param: 'offset', size_param: 'limit' })
})

test('what has no rows is nothing', () => {
  for (const body of [{ error: 'no' }, [1, 2], '<html>', '', '42', 'hello', { data: [1] }])
    expect(guess(body)).toBe(undefined)
})

test.each([0, 1])('a source that counts pages from %i is asked so, and loses none', async (first) => {
  const { origin } = await startApi(({ number }) => {
    const size = number('page_size', 100)
    const page = Math.max(first, number('page', first)) - first
    return { body: rowsFrom(page * size, Math.min((page + 1) * size, 950)) }
  })
  const { source } = await diagnoseSource({ url: `${origin}/`, headers: {} }, new AbortController().signal)
  expect(source).toMatchObject({ paging: { page_param: 'page', size_param: 'page_size', first } })
})

test('the doctor offers no source that it has found broken, and tries what else it may be', async () => {
  const { origin } = await startApi(({ url, number }) => {
    const from = url.pathname === '/pages' ? (number('page', 1) - 1) * number('per_page', 20) : 0
    return { body: { items: rowsFrom(from, Math.min(from + number('per_page', 20), 250)), next_cursor: 'x' } }
  })
  const { signal } = new AbortController()
  const loops = await diagnoseSource({ url: `${origin}/loops`, headers: {} }, signal)
  expect(loops.findings.at(-1)).toMatchObject({
    level: 'fail',
    message: expect.stringContaining('never end'),
  })
  expect(loops.source).toBeUndefined()
  const pages = await diagnoseSource({ url: `${origin}/pages`, headers: {} }, signal)
  expect(pages.findings.filter(({ level }) => level === 'fail')).toEqual([])
  expect(pages.source).toMatchObject({ rows: 'items', paging: { style: 'page', page_param: 'page' } })
})

/** Pages of 20 out of 70, each led to by `leads`. */
const ledTo = (parameter: string, leads: (next: number) => object) =>
  startApi(({ number }) => {
    const from = number(parameter, 0)
    const next = from + 20
    return { body: { items: rowsFrom(from, Math.min(next, 70)), ...leads(next < 70 ? next : 0) } }
  })

test.each([
  ['cursor', 'next_cursor', (next: number) => ({ next_cursor: next || null })],
  ['offset', 'next_offset', (next: number) => ({ next_offset: next || null })],
  ['after', 'after', (next: number) => ({ after: next ? String(next) : null, has_more: next > 0 })],
  ['pageToken', 'nextPageToken', (next: number) => (next ? { nextPageToken: String(next) } : {})],
  ['cursor', 'next', (next: number) => ({ next: next || null })],
] as const)(
  'a cursor for %s at %s is followed to the end, also one that is a number',
  async (parameter, cursor, leads) => {
    const { origin } = await ledTo(parameter, leads)
    const { source } = await diagnoseSource({ url: `${origin}/`, headers: {} }, new AbortController().signal)
    expect(source).toMatchObject({ paging: { style: 'cursor', cursor, cursor_param: parameter } })
    const { rows, warnings } = await exportSource(source!)
    expect([rows, warnings]).toEqual([70, []])
  },
)

test.each([
  ['has_more', { has_more: true }],
  ['meta.hasNextPage', { meta: { hasNextPage: true } }],
  ['next_cursor', { next_cursor: 20 }],
])(
  'where %s says that there is more, the doctor offers no source that leaves it out, and an export warns',
  async (member, says) => {
    // As Stripe: the id of the last row asks for more.
    const { origin } = await startApi(({ number }) => {
      const from = number('starting_after', 0)
      return { body: { data: rowsFrom(from, from + 20), ...says } }
    })
    const { findings, source } = await diagnoseSource(
      { url: `${origin}/`, headers: {} },
      new AbortController().signal,
    )
    expect(source).toBeUndefined()
    expect(findings.at(-1)).toMatchObject({ level: 'fail', message: expect.stringContaining(`'${member}'`) })
    const plain = { url: `${origin}/`, rows: 'data', total: null, paging: { style: 'none' as const } }
    const { rows, warnings } = await exportSource(plain)
    expect(rows).toBe(20)
    expect(warnings).toEqual([
      expect.stringContaining(`says by '${member}' that it has more than the 20 rows`),
    ])
  },
)

type Answer = Parameters<typeof startApi>[0]

const TOTAL = 950
const listed = (from: number, size: number) =>
  rowsFrom(Math.max(0, from), Math.min(Math.max(0, from + size), TOTAL))

/** What a source answers, and how it pages. */
const SOURCES: [name: string, answer: Answer, paging: object][] = [
  ['ignores page, and gives all', () => ({ body: listed(0, TOTAL) }), { style: 'none' }],
  [
    'ignores page, and heeds the size',
    ({ number }) => ({ body: listed(0, number('limit', 30)) }),
    { style: 'none' },
  ],
  [
    'counts from 0',
    ({ number }) => ({ body: listed(number('page', 0) * 100, 100) }),
    { page_param: 'page', first: 0 },
  ],
  [
    'counts from 1',
    ({ number }) => ({ body: listed((number('page', 1) - 1) * 100, 100) }),
    { page_param: 'page', first: 1 },
  ],
  [
    'counts from 0, in pages larger than asked for',
    ({ number }) => ({ body: listed(number('page', 0) * 250, 250) }),
    { page_param: 'page', first: 0 },
  ],
  [
    'counts from 1, in pages larger than asked for',
    ({ number }) => ({ body: listed((number('page', 1) - 1) * 250, 250) }),
    { page_param: 'page', first: 1 },
  ],
  [
    'counts from 1, and gives all for page 0',
    ({ number }) => ({
      body: number('page', 1) === 0 ? listed(0, TOTAL) : listed((number('page', 1) - 1) * 100, 100),
    }),
    { page_param: 'page', first: 1 },
  ],
  [
    'counts from 1, and gives the last page for page 0',
    ({ number }) => ({
      body: number('page', 1) === 0 ? listed(900, 100) : listed((number('page', 1) - 1) * 100, 100),
    }),
    { page_param: 'page', first: 1 },
  ],
  [
    'counts from 0, and marks each answer with the time',
    ({ number }) => ({
      body: listed(number('page', 0) * 250, 250).map((one) => ({
        ...one,
        at: process.hrtime.bigint().toString(),
      })),
    }),
    { page_param: 'page', first: 0 },
  ],
  [
    'takes an offset',
    ({ number }) => ({ body: listed(number('offset', 0), number('limit', 20)) }),
    { style: 'offset', page_param: 'offset' },
  ],
  [
    'skips',
    ({ number }) => ({ body: listed(number('skip', 0), 20) }),
    { style: 'offset', page_param: 'skip' },
  ],
  [
    'leads on by a cursor',
    ({ number }) => {
      const from = number('cursor', 0)
      return {
        body: { items: listed(from, 100), next_cursor: from + 100 < TOTAL ? String(from + 100) : null },
      }
    },
    { style: 'cursor', cursor: 'next_cursor', cursor_param: 'cursor' },
  ],
]

test.each(SOURCES)('a source that %s is read so, from its first row', async (_, answer, paging) => {
  const { origin } = await startApi(answer)
  const { signal } = new AbortController()
  const { source, findings } = await diagnoseSource({ url: `${origin}/`, headers: {} }, signal)
  expect(source?.paging, JSON.stringify(findings)).toMatchObject(paging)
})

test.each([1, 3])(
  'a source that gives the same %i of its many rows for every page is not offered',
  async (few) => {
    const { origin } = await startApi(() => ({ body: { items: listed(0, few), total: 500 } }))
    const { signal } = new AbortController()
    const { source, findings } = await diagnoseSource({ url: `${origin}/`, headers: {} }, signal)
    expect(source).toBeUndefined()
    expect(findings.at(-1)).toMatchObject({
      level: 'fail',
      message: expect.stringContaining('first one again'),
    })
  },
)

const diagnosed = (origin: string) =>
  diagnoseSource({ url: `${origin}/`, headers: {} }, new AbortController().signal)

test.each([
  ['count', 'items'],
  ['count', 'results'],
  ['total', 'list'],
])('%s is no total where it is the number of rows on the page', async (count, list) => {
  const { origin } = await startApi(({ number }) => {
    const from = (Math.max(1, number('page', 1)) - 1) * 100
    const rows = rowsFrom(from, Math.min(730, from + 100))
    return { body: { [count]: rows.length, [list]: rows } }
  })
  const { source, findings } = await diagnosed(origin)
  expect(source, JSON.stringify(findings)).toMatchObject({
    total: null,
    paging: { page_param: 'page', first: 1 },
  })
  expect((await exportSource(source!)).rows).toBe(730)
})

test('a total that the rows of the first page make up is one where nothing else gives more', async () => {
  const { origin } = await startApi(() => ({ body: { count: 30, items: rowsFrom(0, 30) } }))
  const { source, findings } = await diagnosed(origin)
  expect(source).toMatchObject({ rows: 'items', total: 'count', paging: { style: 'none' } })
  expect(findings).toContainEqual(
    expect.objectContaining({
      message: "rows at 'items', total at 'count', which is the number of its rows",
    }),
  )
})

test('a larger number is the total, and the number of rows beside a cursor is none', () => {
  expect(guess({ count: 2, total: 7, items: [row, row] })).toMatchObject({ total: 'total' })
  expect(guess({ count: 2, items: [row, row], next_cursor: 'x' })).toMatchObject({ total: null })
  expect(guess({ count: 2, items: [row, row] }, { 'x-total-count': '7' })).toMatchObject({
    total: 'header:X-Total-Count',
  })
})

test('a source as WordPress has it is read to its end: per_page, a total in a header, and nothing after the last page', async () => {
  const { origin, asked } = await startApi(({ number }) => {
    const [page, size] = [number('page', 1), number('per_page', 10)]
    const from = (page - 1) * size
    if (page < 1 || size > 100 || from >= 2_345) return { status: 400, body: { code: 'rest_invalid_param' } }
    return {
      headers: { 'x-wp-total': '2345', 'x-wp-totalpages': String(Math.ceil(2_345 / size)) },
      body: rowsFrom(from, Math.min(2_345, from + size)),
    }
  })
  const { source, findings } = await diagnosed(origin)
  expect(source, JSON.stringify(findings)).toMatchObject({
    rows: '',
    total: 'header:X-WP-Total',
    paging: { style: 'page', page_param: 'page', size_param: 'per_page', first: 1, size: 100 },
  })
  asked.length = 0
  const { rows, warnings } = await exportSource(source!)
  expect([rows, warnings, asked.length]).toEqual([2_345, [], 24])
})

test.each([
  [
    {
      data: [
        [1, 'a'],
        [2, 'b'],
      ],
    },
    "the list at 'data' has no rows: row 1 is not an object",
  ],
  [{ columns: [{ name: 'id' }], data: [[1], [2]] }, "the list at 'data' has no rows: row 1 is not an object"],
  [{ data: [{ id: 1 }, 5] }, "the list at 'data' has no rows: row 2 is not an object"],
  [[{ id: 1 }, [2]], 'the list has no rows: row 2 is not an object'],
  [{ data: { a: { id: 1 }, b: { id: 2 } } }, "'data' is an object whose members are objects"],
  [{ code: 500, msg: 'internal error', data: null }, 'the source says: internal error'],
  [{ code: 1, msg: 'fine' }, 'it has no total; the answer has code, msg ("fine")'],
])('%j is refused for what is wrong with it', async (body, message) => {
  const { origin } = await startApi(() => ({ body }))
  const { source, findings } = await diagnosed(origin)
  expect(source).toBeUndefined()
  expect(findings.at(-1)).toMatchObject({ level: 'fail', message: expect.stringContaining(message) })
})
