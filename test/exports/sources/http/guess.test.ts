import { expect, test } from 'vitest'
import { guessSource } from '../../../../src/exports/sources/doctor/guess-source.ts'

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

test('what has no rows is nothing', () => {
  for (const body of [{ error: 'no' }, [1, 2], '<html>', '', '42', 'hello', { data: [1] }])
    expect(guess(body)).toBe(undefined)
})
