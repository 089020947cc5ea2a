import { describe, expect, test } from 'vitest'
import type { HttpSource } from '../../../../src/exports/index.ts'
import { rowsFrom, startApi } from './api-server.ts'
import { columnOf, exportSource } from './export-source.ts'

const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n))

async function idsOf(source: HttpSource, wishes = {}): Promise<string[]> {
  return columnOf((await exportSource(source, wishes)).lines, 'id')
}

describe('paging by page', () => {
  test('counts from 0 or 1, with other names and places, and asks for nothing beyond the total', async () => {
    for (const first of [0, 1]) {
      const api = await startApi((request) => {
        const [page, size] = [request.number('p') - first, request.number('n')]
        const rows = rowsFrom(page * size, Math.min(250, (page + 1) * size))
        return { body: { ok: true, result: { items: rows, meta: { count: 250 } } } }
      })
      const source: HttpSource = {
        url: `${api.origin}/orders?state=open&p=9#top`,
        rows: 'result.items',
        total: 'result.meta.count',
        paging: { page_param: 'p', size_param: 'n', first, size: 100 },
      }
      expect(await idsOf(source)).toEqual(ids(250))
      expect(api.paths()).toEqual([0, 1, 2].map((n) => `/orders?state=open&n=100&p=${n + first}`))
    }
  })

  test('a source that gives fewer rows per page than it is asked for loses none', async () => {
    const api = await startApi((request) => {
      const page = request.number('page')
      return { body: { data: rowsFrom(page * 30, Math.min(100, (page + 1) * 30)), total: 100 } }
    })
    const source: HttpSource = { url: api.origin, rows: 'data', paging: { size: 500 } }
    expect(await idsOf(source)).toEqual(ids(100))
    expect(api.asked).toHaveLength(4)
  })

  test('without a total it ends with a page that has no rows, whatever a page has', async () => {
    const api = await startApi((request) => {
      const page = request.number('page')
      return { body: { data: rowsFrom(page * 30, Math.min(90, (page + 1) * 30)) } }
    })
    const seen: (number | null)[] = []
    const { lines, rows } = await exportSource(
      { url: api.origin, total: null },
      {},
      {
        onProgress: ({ total }) => seen.push(total),
      },
    )
    expect(columnOf(lines, 'id')).toEqual(ids(90))
    expect(rows).toBe(90)
    // Nobody knows the total while rows come; once they are there, it is known.
    expect(seen.slice(0, -1).every((total) => total === null)).toBe(true)
    expect(seen.at(-1)).toBe(90)
  })

  test('pages of 10,000 rows come as they are asked for', async () => {
    const api = await startApi((request) => {
      const [page, size] = [request.number('page'), request.number('page_size')]
      return { body: { total: 25_000, data: rowsFrom(page * size, Math.min(25_000, (page + 1) * size)) } }
    })
    // The seed's own protocol: it keeps its way, its first question for one row included.
    expect(await idsOf({ url: api.origin, paging: { size: 10_000 } })).toEqual(ids(25_000))
    expect(api.paths()[0]).toBe('/?page=0&page_size=1')
    expect(await idsOf({ url: api.origin, rows: 'data', paging: { size: 10_000 } })).toEqual(ids(25_000))
    expect(api.paths().slice(-3)).toEqual([0, 1, 2].map((n) => `/?page_size=10000&page=${n}`))
  })

  test('a page that lacks rows is asked for again', async () => {
    let asked = 0
    const lost = await startApi((request) => {
      const page = request.number('page')
      if (page === 1) asked++
      const missing = page === 1 && asked < 2 ? 5 : 0
      return { body: { total: 40, data: rowsFrom(page * 20, (page + 1) * 20 - missing) } }
    })
    expect(await idsOf({ url: lost.origin, rows: 'data', paging: { size: 20 } })).toEqual(ids(40))
  })

  test('rows that are added meanwhile are left out, and the drift is told', async () => {
    const api = await startApi((request) => {
      const page = request.number('page')
      const total = page === 0 ? 50 : 55
      return { body: { total, data: rowsFrom(page * 20, Math.min(total, (page + 1) * 20)) } }
    })
    const { lines, warnings } = await exportSource({ url: api.origin, rows: 'data', paging: { size: 20 } })
    expect(columnOf(lines, 'id')).toEqual(ids(50))
    expect(warnings).toEqual([expect.stringMatching(/total changed from 50 to 55/)])
  })

  test('a total that is too low is told, with the number of rows that are left out', async () => {
    const { origin } = await startApi(({ url, number }) => {
      const from = url.searchParams.has('offset') ? number('offset') : number('page') * 20
      return { body: { total: 50, data: rowsFrom(from, Math.min(95, from + 20)) } }
    })
    for (const style of ['page', 'offset'] as const) {
      const source: HttpSource = { url: origin, rows: 'data', total: 'total', paging: { style, size: 20 } }
      const { lines, warnings } = await exportSource(source)
      expect(columnOf(lines, 'id')).toEqual(ids(50))
      expect(warnings).toEqual([
        'the source stated a total of 50 rows; 10 more rows of the last page were left out',
      ])
    }
  })

  test('a total that ends where a page does is doubted if the source says that there is more', async () => {
    const { origin } = await startApi(({ number }) => {
      const from = number('page') * 20
      return { body: { total: 40, has_more: from < 80, data: rowsFrom(from, from + 20) } }
    })
    const { rows, warnings } = await exportSource({ url: origin, rows: 'data', paging: { size: 20 } })
    expect(rows).toBe(40)
    expect(warnings).toEqual([expect.stringMatching(/says by 'has_more' that it has more than the 40 rows/)])
  })

  test('a source that ignores the page is found out, also when it states no total and repeats may pass', async () => {
    const api = await startApi(() => ({ body: { data: rowsFrom(0, 20) } }))
    for (const on_duplicates of ['fail', 'warn'] as const)
      await expect(exportSource({ url: api.origin, total: null }, { on_duplicates })).rejects.toMatchObject({
        kind: { code: 'SOURCE_PAGE_REPEATED' },
      })
  })
})

test('paging by offset goes on by the rows that came', async () => {
  const api = await startApi((request) => {
    const [offset, limit] = [request.number('offset'), Math.min(70, request.number('limit'))]
    return { body: { items: rowsFrom(offset, Math.min(200, offset + limit)), total_count: '200' } }
  })
  const source: HttpSource = {
    url: api.origin,
    rows: 'items',
    total: 'total_count',
    paging: { style: 'offset', size: 100 },
  }
  expect(await idsOf(source)).toEqual(ids(200))
  expect(api.paths()).toEqual([0, 70, 140].map((n) => `/?limit=100&offset=${n}`))
})

describe('paging by cursor', () => {
  const api = (body: (from: number, to: number) => unknown) =>
    startApi((request) => {
      const from = request.number('after', 0)
      return { body: body(from, Math.min(95, from + 40)) }
    })

  test('goes on until there is no cursor', async () => {
    for (const end of [null, '', undefined]) {
      const { origin, paths } = await api((from, to) => ({
        data: { list: rowsFrom(from, to), page: { next: to < 95 ? String(to) : end } },
      }))
      const source: HttpSource = {
        url: origin,
        rows: 'data.list',
        total: null,
        paging: { style: 'cursor', cursor: 'data.page.next', cursor_param: 'after', size: 40 },
      }
      expect(await idsOf(source)).toEqual(ids(95))
      expect(paths()).toEqual(['/?page_size=40', '/?page_size=40&after=40', '/?page_size=40&after=80'])
    }
  })

  test('a page without rows is not the end while its cursor leads on, and is where it leads back', async () => {
    const { origin, asked } = await startApi((request) => {
      const from = request.number('cursor', 0)
      // The first page, one in the middle and the last one have no rows; the last states its own cursor again.
      const data = from === 0 || from === 40 || from === 100 ? [] : rowsFrom(from, from + 20)
      return { body: { data, next_cursor: Math.min(100, from + 20) } }
    })
    const expected = [...rowsFrom(20, 40), ...rowsFrom(60, 100)].map(({ id }) => String(id))
    expect(await idsOf({ url: origin, total: null, paging: { style: 'cursor' } })).toEqual(expected)
    expect(asked).toHaveLength(6)
  })

  test('the last row can be the cursor, and a number keeps its digits', async () => {
    const long = 12345678901234567890n
    const { origin, asked } = await startApi((request) => {
      const last = request.url.searchParams.get('since')
      if (last === null) return { body: `[{"seq":${long - 1n}},{"seq":${long}}]` }
      return { body: last === String(long) ? `[{"seq":${long + 1n}}]` : '[]' }
    })
    const paging = { style: 'cursor', cursor: '-1.seq', cursor_param: 'since' } as const
    const { lines } = await exportSource({ url: origin, rows: '', total: null, paging })
    expect(lines.slice(1)).toEqual([-1n, 0n, 1n].map((n) => String(long + n)))
    expect(asked).toHaveLength(3)
  })

  test('one that comes again ends the export, not never', async () => {
    const { origin } = await startApi(() => ({
      body: { data: [{ id: Math.random() }, { id: Math.random() }], next_cursor: 'x' },
    }))
    await expect(exportSource({ url: origin, paging: { style: 'cursor' } })).rejects.toThrow(
      /would never end/,
    )
  })

  test('a total that the rows do not keep is told', async () => {
    const { origin } = await api((from, to) => ({
      data: rowsFrom(from, to),
      total: 100,
      next_cursor: to < 95 ? String(to) : null,
    }))
    const { warnings } = await exportSource({
      url: origin,
      paging: { style: 'cursor', cursor_param: 'after' },
    })
    expect(warnings).toEqual(['the source stated a total of 100 rows, and its pages had 95'])
  })
})

describe('POST', () => {
  test('the body is filled in, and says nothing twice', async () => {
    const { origin, asked } = await startApi(({ json }) => {
      const { from, count } = json as { from: number; count: number }
      return { body: { data: rowsFrom(from, Math.min(25, from + count)), total: 25 } }
    })
    const body = {
      from: '{{page}}',
      count: '{{page_size}}',
      label: 'rows {{page}} by {{ page_size }}',
      filter: { open: true, day: null, tags: ['{{x}}', 1] },
    }
    expect(await idsOf({ url: origin, body, paging: { style: 'offset', size: 10 } })).toEqual(ids(25))
    expect(asked.map(({ method, url, json }) => [method, url.search, json])).toEqual(
      [0, 10, 20].map((from) => [
        'POST',
        '',
        { from, count: 10, label: `rows ${from} by 10`, filter: body.filter },
      ]),
    )
  })

  test('a cursor is left out until there is one, and may be any JSON', async () => {
    const { origin, asked } = await startApi(({ text }) => {
      const found = /"after":(\[[^\]]*\])/.exec(text)?.[1]
      if (!found) return { body: '{"data":[{"id":0}],"next":[9007199254740993,"a"]}' }
      return { body: '{"data":[{"id":1}],"next":[]}' }
    })
    const paging = { style: 'cursor', cursor: 'next' } as const
    const source: HttpSource = { url: origin, body: { q: 'x', after: '{{cursor}}' }, paging }
    expect(await idsOf(source)).toEqual(ids(2))
    expect(asked.map(({ text }) => text)).toEqual(['{"q":"x"}', '{"q":"x","after":[9007199254740993,"a"]}'])
  })
})

describe('rows and places', () => {
  test('one answer without pages; rows that bring more keys bring columns', async () => {
    const { origin, paths } = await startApi(() => ({ body: [{ a: 1 }, { b: 'x', a: 2 }] }))
    const { lines } = await exportSource({ url: `${origin}/all?x=1`, paging: { style: 'none' } })
    expect(lines).toEqual(['"a","b"', '1,', '2,"x"'])
    expect(paths()).toEqual(['/all?x=1'])
  })

  test('a template takes values out of objects, in every format', async () => {
    const { origin } = await startApi(() => ({
      body: {
        data: [
          { id: 1, customer: { address: { city: '上海' }, 'a.b': 2 } },
          { id: 2, customer: null },
        ],
      },
    }))
    const source: HttpSource = { url: origin, paging: { style: 'none' } }
    const template = [
      { name: 'id', title: 'No' },
      { name: 'customer.address.city', title: 'City' },
    ]
    expect((await exportSource(source, { template })).lines).toEqual(['"No","City"', '1,"上海"', '2,'])
    const { bytes } = await exportSource(source, { template, type: 'jsonl' })
    expect(bytes.toString()).toBe('{"id":1,"customer.address.city":"上海"}\n{"id":2}\n')
  })

  test('rows that repeat their key are told, or fail', async () => {
    const { origin } = await startApi((request) => {
      const page = request.number('page')
      const rows = page > 1 ? [] : rowsFrom(page * 9, page * 9 + 10)
      return { body: { items: rows.map((row) => ({ data: row })) } }
    })
    const source: HttpSource = { url: origin, rows: 'items', total: null, paging: { size: 10 } }
    const template = [{ name: 'data.id' }]
    const { warnings } = await exportSource(source, { template, key: ['data.id'] })
    expect(warnings).toEqual([expect.stringMatching(/1 row repeats the data.id/)])
    const failing = exportSource(source, { template, key: ['data.id'], on_duplicates: 'fail' })
    await expect(failing).rejects.toMatchObject({ kind: { code: 'SOURCE_ROWS_REPEATED' } })
  })

  test('an answer without rows or total where they should be says what it has', async () => {
    const { origin } = await startApi(() => ({ body: { items: [{ a: 1 }], count: 1 } }))
    await expect(exportSource({ url: origin, rows: 'data.items' })).rejects.toThrow(
      /no list of rows at 'data.items'; the answer has items, count/,
    )
    await expect(exportSource({ url: origin, rows: 'items', total: 'n' })).rejects.toThrow(/no total at 'n'/)
    await expect(exportSource({ url: origin, rows: 'items', total: 'items' })).rejects.toThrow(/not a count/)
    const list = await startApi(() => ({ body: [1] }))
    await expect(exportSource({ url: list.origin, rows: '' })).rejects.toThrow(/row 1 is not an object/)
  })

  test('a large source takes the way through threads to the same rows', async () => {
    const { origin } = await startApi((request) => {
      const page = request.number('page')
      return { body: { items: rowsFrom(page * 100, Math.min(2_000, (page + 1) * 100)) } }
    })
    const source: HttpSource = { url: origin, rows: 'items', total: null, paging: { size: 100 } }
    expect(await idsOf(source, { key: ['id'] })).toEqual(ids(2_000))
  })
})
