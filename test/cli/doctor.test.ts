import { describe, expect, test } from 'vitest'
import { pagesOf, type SourcePage, startSource } from '../support/source-server.ts'
import { runWharf } from '../support/wharf-process.ts'

async function examine(answer: (page: SourcePage) => unknown, ...args: string[]) {
  const { exited, output } = runWharf(['doctor', await startSource(answer), ...args])
  return { ...(await exited), ...output }
}

const row = (n: number) => ({ id: n })

describe('wharf doctor', () => {
  test('a healthy source passes with a recommendation', async () => {
    const { code, out, err } = await examine(pagesOf(1_500, row))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^✓ answer/m)
    expect(out).toMatch(/^✓ ordering/m)
    expect(out).toMatch(/^recommended: --page-size \d+; then 1 fetcher/m)
    expect(out).not.toMatch(/^[!✗]/m)
  })

  test('a source that ignores the page number fails', async () => {
    const { code, out } = await examine(({ pageSize }) => pagesOf(1_500, row)({ page: 0, pageSize }))
    expect(code).toBe(1)
    expect(out).toMatch(/^✗ overlap +page 1 is page 0 again/m)
  })

  test('a source that refuses is a finding, not a crash', async () => {
    const { code, out, err } = await examine(({ response }) => void response.writeHead(403).end())
    expect({ code, err }).toEqual({ code: 1, err: '' })
    expect(out).toMatch(/^✗ answer +page 0 was answered with status 403$/m)
  })

  test('--json prints what a program can read, and headers reach the source', async () => {
    const { out } = await examine(
      (page) => {
        if (page.request.headers['x-key'] !== 'yes: it is') return page.response.writeHead(401).end()
        return pagesOf(10, row)(page)
      },
      '--json',
      '--header',
      'X-Key: yes: it is',
    )
    expect(JSON.parse(out)).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ level: 'ok', check: 'answer' })]),
      recommendation: { pageSize: expect.any(Number), fetchers: 1 },
    })
  })

  test('an address that is none gives one line', async () => {
    const { exited, output } = runWharf(['doctor', 'ftp://example.com/'])
    expect(await exited).toMatchObject({ code: 1 })
    expect(output.err).toMatch(/^wharf: .*\(URL_UNSUPPORTED\)\n$/)
  })

  test('a source of another kind is known by its looks, tried out, and printed to be pasted', async () => {
    const { exited, output } = runWharf([
      'doctor',
      await startSource(({ request, response }) => {
        const url = new URL(request.url ?? '', `http://${request.headers.host}`)
        const [page, size] = [Number(url.searchParams.get('page') ?? 1), 10]
        if (page < 1) return void response.writeHead(404).end('{"detail":"Invalid page."}')
        const results = Array.from({ length: size }, (_, n) => row((page - 1) * size + n))
        return {
          count: 30,
          next: page < 3 ? `${url.origin}/?page=${page + 1}` : null,
          previous: null,
          results,
        }
      }),
    ])
    expect(await exited).toMatchObject({ code: 0 })
    expect(output.out).toMatch(
      /^! answer +does not speak Wharf's own protocol \(.*status 404 \("Invalid page\."\)\)$/m,
    )
    expect(output.out).toMatch(/^✓ answer +results and next of Django REST framework$/m)
    expect(output.out).toMatch(/^✓ total +30 rows in 3 pages, of 30$/m)
    const source: unknown = JSON.parse(output.out.slice(output.out.indexOf('{')))
    expect(source).toEqual({ kind: 'http', preset: 'drf', url: expect.stringMatching(/^http/) })
  })

  test('a list of which only the first rows come is not taken for all', async () => {
    const { out } = await examine(({ request }) => {
      const { searchParams } = new URL(request.url ?? '', 'http://x')
      const skip = Number(searchParams.get('offset') ?? 0)
      return Array.from({ length: 45 }, (_, n) => row(n)).slice(skip, skip + 20)
    })
    expect(out).toMatch(/^✓ answer +a list; how to ask for more was tried out$/m)
    expect(JSON.parse(out.slice(out.indexOf('\n{')))).toMatchObject({
      rows: '',
      total: null,
      paging: { style: 'offset', page_param: 'offset', size_param: 'limit' },
    })
  })
})
