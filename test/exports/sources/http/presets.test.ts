import { expect, test } from 'vitest'
import type { HttpSource } from '../../../../src/exports/index.ts'
import { type ApiRequest, rowsFrom, startApi } from './api-server.ts'
import { columnOf, exportSource } from './export-source.ts'

const TOTAL = 45
const ids = Array.from({ length: TOTAL }, (_, n) => String(n))
const slice = (from: number, size: number) => rowsFrom(from, Math.min(TOTAL, from + size))

async function exported(source: HttpSource, wishes = {}) {
  const made = await exportSource(source, wishes)
  expect(columnOf(made.lines, 'id').map((id) => id.replaceAll('"', ''))).toEqual(ids)
  expect(made.warnings).toEqual([])
  return made
}

/**
 * Spring Data Commons, "Web support": Pageable is read from page (from 0) and size, and a Page is `{content, totalElements, …}`, or by
 * PagedModel (VIA_DTO) `{content, page: {size, number, totalElements, totalPages}}`. Sizes above 2000 are cut.
 * https://docs.spring.io/spring-data/commons/reference/repositories/core-extensions-web.html
 */
test('spring: a Page, and a PagedModel, from 0', async () => {
  for (const viaDto of [false, true]) {
    const { origin, paths } = await startApi((request) => {
      const [number, size] = [request.number('page'), Math.min(20, request.number('size'))]
      const page = { size, number, totalElements: TOTAL, totalPages: Math.ceil(TOTAL / size) }
      const content = slice(number * size, size)
      return { body: viaDto ? { content, page } : { content, ...page, first: number === 0, pageable: {} } }
    })
    await exported({ preset: 'spring', url: `${origin}/orders?sort=id` })
    expect(paths()).toEqual([0, 1, 2].map((n) => `/orders?sort=id&size=500&page=${n}`))
  }
})

/**
 * Spring Data REST, "Paging and Sorting": HAL, `{_embedded: {orders: […]}, _links, page: {size, totalElements, totalPages, number}}`. A page
 * without rows may lack `_embedded`. https://docs.spring.io/spring-data/rest/reference/paging-and-sorting.html
 */
test('spring: HAL of Spring Data REST, with the place of its rows', async () => {
  const { origin } = await startApi((request) => {
    const [number, size] = [request.number('page'), Math.min(20, request.number('size'))]
    const page = { size, number, totalElements: TOTAL, totalPages: Math.ceil(TOTAL / size) }
    return { body: { _embedded: { orders: slice(number * size, size) }, _links: {}, page } }
  })
  await exported({ preset: 'spring', url: `${origin}/orders`, rows: '_embedded.orders' })
  const empty = await startApi(() => ({ body: { _links: {}, page: { totalElements: 0 } } }))
  const { lines } = await exportSource({ preset: 'spring', url: empty.origin, rows: '_embedded.orders' })
  expect(lines).toEqual([''])
})

/**
 * Laravel, "Pagination: Converting Results to JSON" and "Eloquent: API Resources, Pagination": `{total, per_page, current_page, last_page,
 * next_page_url, data}`, or with resources `{data, links, meta: {current_page, total, …}}`; simplePaginate has no total, cursorPaginate
 * has next_cursor. https://laravel.com/docs/pagination#converting-results-to-json https://laravel.com/docs/eloquent-resources#pagination
 */
test('laravel: paginators, API resources, and without a total', async () => {
  const shapes: ((from: number) => object)[] = [
    (from) => ({
      total: TOTAL,
      per_page: 15,
      current_page: from / 15 + 1,
      last_page: 3,
      next_page_url: '…',
      data: slice(from, 15),
    }),
    (from) => ({
      data: slice(from, 15),
      links: { next: '…' },
      meta: { current_page: from / 15 + 1, total: TOTAL },
    }),
    (from) => ({ current_page: from / 15 + 1, data: slice(from, 15), next_page_url: '…', per_page: 15 }),
  ]
  for (const [index, shape] of shapes.entries()) {
    const { origin, paths } = await startApi((request) => ({
      body: shape((request.number('page') - 1) * 15),
    }))
    await exported({ preset: 'laravel', url: `${origin}/users?role=admin` })
    const pages = index === 2 ? [1, 2, 3, 4] : [1, 2, 3]
    expect(paths()).toEqual(pages.map((page) => `/users?role=admin&per_page=500&page=${page}`))
  }
  for (const asResource of [false, true]) {
    const { origin } = await startApi((request) => {
      const from = Number(
        Buffer.from(request.url.searchParams.get('cursor') ?? '', 'base64url').toString() || 0,
      )
      const next = from + 15 < TOTAL ? Buffer.from(String(from + 15)).toString('base64url') : null
      const more = { path: '…', per_page: 15, next_cursor: next, prev_cursor: null }
      return { body: { data: slice(from, 15), ...(asResource ? { meta: more } : more) } }
    })
    await exported({ preset: 'laravel', url: origin, paging: { style: 'cursor' } })
  }
})

/**
 * PostgREST, "Pagination and Count": `limit` and `offset`, `Content-Range: 0-14/45` with `Prefer: count=exact`, status 206 for a part.
 * `db-max-rows` cuts what is asked for. https://docs.postgrest.org/en/stable/references/api/pagination_count.html
 */
test('postgrest: the total is in Content-Range, and fewer rows may come than asked for', async () => {
  const { origin, asked, paths } = await startApi((request) => {
    const [offset, limit] = [request.number('offset'), Math.min(20, request.number('limit'))]
    const rows = slice(offset, limit)
    const total = /count=exact/.test(String(request.headers.prefer)) ? TOTAL : '*'
    const range = `${offset}-${offset + rows.length - 1}/${total}`
    return { status: 206, headers: { 'content-range': range, 'range-unit': 'items' }, body: rows }
  })
  await exported({ preset: 'postgrest', url: `${origin}/orders?select=id,name&order=id.asc` })
  expect(paths()).toEqual([0, 20, 40].map((n) => `/orders?select=id,name&order=id.asc&limit=500&offset=${n}`))
  expect(asked.every(({ headers }) => headers.prefer === 'count=exact')).toBe(true)
})

/**
 * OData JSON Format 4.01, "Control Information: nextLink, count", and Protocol 4.01, "Preference maxpagesize": the next link is opaque, and
 * ends with the last page. https://docs.oasis-open.org/odata/odata-json-format/v4.01/odata-json-format-v4.01.html
 * https://learn.microsoft.com/en-us/odata/webapi-8/fundamentals/server-driven-paging
 */
test('odata: the service leads the way, with prefixed and plain control information', async () => {
  for (const prefix of ['@odata.', '@']) {
    const { origin, asked, paths } = await startApi((request) => {
      const from = Number(request.url.searchParams.get('$skiptoken') ?? 0)
      const size = Number(/maxpagesize=(\d+)/.exec(String(request.headers.prefer))?.[1])
      const more = from + size < TOTAL
      return {
        body: {
          [`${prefix}context`]: `${request.url.origin}/$metadata#Orders`,
          [`${prefix}count`]: TOTAL,
          value: slice(from, size),
          // Relative to the request's address, as 4.01 allows.
          ...(more && { [`${prefix}nextLink`]: `Orders?$count=true&$skiptoken=${from + size}` }),
        },
      }
    })
    await exported({
      preset: 'odata',
      url: `${origin}/odata/Orders?$filter=Open eq true`,
      paging: { size: 20 },
    })
    expect(paths()).toEqual([
      '/odata/Orders?$filter=Open%20eq%20true&%24count=true',
      '/odata/Orders?$count=true&$skiptoken=20',
      '/odata/Orders?$count=true&$skiptoken=40',
    ])
    expect(asked[2]?.headers.prefer).toBe('odata.maxpagesize=20')
  }
})

/**
 * [MS-ODATA] 2.2.6.3, verbose JSON of OData 2 and 3: `{d: {results, __count: "91", __next}}`, counted with `$inlinecount=allpages`. A service may
 * refuse options that it does not know. https://learn.microsoft.com/en-us/openspecs/windows_protocols/ms-odata/a079a72d-31c1-44df-b315-3972c4c85e57
 */
test('odata: version 2 has its rows, count and next address in d', async () => {
  const { origin, paths } = await startApi(({ url }) => {
    if (url.searchParams.has('$count')) return { status: 400, body: { error: { code: '0' } } }
    const from = Number(url.searchParams.get('$skiptoken') ?? 0)
    const next = from + 20 < TOTAL && `${url.origin}/svc/Orders?$inlinecount=allpages&$skiptoken=${from + 20}`
    return {
      body: { d: { __count: String(TOTAL), results: slice(from, 20), ...(next && { __next: next }) } },
    }
  })
  await exported({ preset: 'odata', url: `${origin}/svc/Orders?$inlinecount=allpages&$format=json` })
  expect(paths()).toHaveLength(3)
})

/**
 * JSON:API 1.1, "Pagination" and "Resource Objects": `links.next` is a text, a link object or null; `attributes` holds the values.
 * https://jsonapi.org/format/#fetching-pagination https://jsonapi.org/format/#document-resource-objects
 */
test('jsonapi: attributes are columns, and relationships can be reached by a path', async () => {
  for (const asObject of [false, true]) {
    const { origin, asked } = await startApi((request) => {
      const [number, size] = [request.number('page[number]', 1), request.number('page[size]')]
      const next =
        number * size < TOTAL
          ? `${request.url.origin}/articles?page[number]=${number + 1}&page[size]=${size}`
          : null
      return {
        headers: { 'content-type': 'application/vnd.api+json' },
        body: {
          links: { self: '…', next: next && asObject ? { href: next } : next },
          meta: { total: TOTAL },
          data: slice((number - 1) * size, size).map(({ id, name }) => ({
            type: 'articles',
            id: String(id),
            attributes: { name, 'word-count': id * 10 },
            relationships: { author: { data: { type: 'people', id: '9' } } },
          })),
        },
      }
    })
    const source: HttpSource = { preset: 'jsonapi', url: `${origin}/articles`, paging: { size: 20 } }
    const { lines } = await exported(source)
    expect(lines[0]).toBe('"type","id","name","word-count","relationships"')
    expect(asked[0]?.headers.accept).toBe('application/vnd.api+json')
    const template = [{ name: 'id' }, { name: 'word-count' }, { name: 'relationships.author.data.id' }]
    expect((await exported(source, { template })).lines[3]).toBe('"2",20,"9"')
  }
})

/**
 * GitHub, "Using pagination in the REST API": `link: <…>; rel="prev", <…>; rel="next"`, left out when there is one page; `per_page` up to 100.
 * https://docs.github.com/en/rest/using-the-rest-api/using-pagination-in-the-rest-api
 */
test('links: the header Link leads on', async () => {
  const { origin, asked } = await startApi((request) => {
    const [page, size] = [request.number('page', 1), Math.min(20, request.number('per_page'))]
    const to = (page: number, rel: string) =>
      `<${request.url.origin}/repositories/1/issues?per_page=20&page=${page}>; rel="${rel}"`
    const links = [to(1, 'first'), ...(page * size < TOTAL ? [to(page + 1, 'next')] : []), to(3, 'last')]
    return { headers: { link: links.join(', ') }, body: slice((page - 1) * size, size) }
  })
  const headers = { Authorization: 'Bearer x', Accept: 'application/vnd.github+json' }
  await exported({ preset: 'links', url: `${origin}/repos/o/r/issues`, headers })
  expect(asked.map(({ headers: { authorization, accept } }) => [authorization, accept])).toEqual(
    [1, 2, 3].map(() => ['Bearer x', 'application/vnd.github+json']),
  )
})

/**
 * Elasticsearch, "Paginate search results: Search after": the sort values of the last hit are search_after of the next request; hits.total is
 * `{value, relation}`. https://www.elastic.co/guide/en/elasticsearch/reference/current/paginate-search-results.html#search-after
 */
test('elasticsearch: the sort values of the last hit lead on, also with a point in time', async () => {
  const { origin, asked } = await startApi(({ json }: ApiRequest) => {
    const { size, search_after: after } = json as { size: number; search_after?: [number, number] }
    const hits = slice(after ? after[1] + 1 : 0, size).map((row) => ({
      _index: 'orders',
      _id: `o${row.id}`,
      _score: null,
      _source: { ...row, customer: { city: `c${row.id}` } },
      sort: [1_700_000_000_123, row.id],
    }))
    const body = {
      took: 1,
      timed_out: false,
      hits: { total: { value: TOTAL, relation: 'eq' }, max_score: null, hits },
    }
    return { body }
  })
  const body = { query: { match_all: {} }, sort: [{ at: 'asc' }, { id: 'asc' }] }
  const source: HttpSource = {
    preset: 'elasticsearch',
    url: `${origin}/orders/_search`,
    body,
    paging: { size: 20 },
  }
  const { lines } = await exported(source)
  expect(lines[0]).toBe('"_id","id","name","customer"')
  expect(asked.map(({ method, url, json }) => [method, url.search, json])[1]).toEqual([
    'POST',
    '',
    { track_total_hits: true, ...body, size: 20, search_after: [1_700_000_000_123, 19] },
  ])
  const pit = { id: '46ToAwEh', keep_alive: '5m' }
  await exported({ ...source, url: `${origin}/_search`, body: { ...body, pit } })
  expect(asked.at(-1)?.json).toMatchObject({ pit, search_after: [1_700_000_000_123, 44] })
  const template = [{ name: 'id' }, { name: 'customer.city' }]
  expect((await exported(source, { template, key: ['_id'] })).lines[45]).toBe('44,"c44"')
})

test('a next address of another host passes the guard, and that host sees no credentials', async () => {
  const other = await startApi(() => ({ body: { results: rowsFrom(20, TOTAL), next: null } }), '127.0.0.2')
  const first = await startApi(() => ({
    body: { results: slice(0, 20), next: other.origin },
  }))
  const source: HttpSource = {
    preset: 'drf',
    url: first.origin,
    headers: { 'X-Key': 'secret' },
    auth: { kind: 'basic', username: 'u', password: 'p' },
  }
  await expect(exportSource(source)).rejects.toMatchObject({ kind: { code: 'ADDRESS_REFUSED' } })
  expect(other.asked).toEqual([])
  const { lines } = await exportSource(source, {}, { allowHosts: '127.0.0.2' })
  expect(columnOf(lines, 'id')).toEqual(ids)
  expect(first.asked.at(-1)?.headers).toMatchObject({ 'x-key': 'secret', authorization: 'Basic dTpw' })
  const [seen] = other.asked
  expect([seen?.headers['x-key'], seen?.headers.authorization, seen?.headers['webhook-signature']]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
  for (const next of ['ftp://x/', 'javascript:0', 'http://10.0.0.1/', 7]) {
    const { origin } = await startApi(() => ({ body: { results: slice(0, 20), next } }))
    await expect(exportSource({ preset: 'drf', url: origin }), String(next)).rejects.toMatchObject({
      kind: { code: expect.stringMatching(/REDIRECT_REFUSED|ADDRESS_REFUSED|SOURCE_SHAPE/) },
    })
  }
})
