import { expect, test } from 'vitest'
import { nextLink } from '../../../../src/exports/sources/http/paging/link-header.ts'
import { rowsFrom, startApi } from './api-server.ts'
import { columnOf, exportSource } from './export-source.ts'

test.each([
  ['</p2>; rel="next"'],
  ['</p2>;rel=next'],
  ["</p2>; rel='next'"],
  ['</p1>; rel=prev, </p2>; rel="last NEXT"'],
  ['</p2>; title="a\\"b; rel=\\"x\\""; rel="next"'],
  ['</p2>; title="x; rel=prev"; rel="next"'],
  ['</p1>; title="</p9>; rel=\\"next\\""; rel="first", </p2>; rel="next"'],
  ['</p2>; title="a, b"; REL = "n\\ext"'],
  ["</p2>; title*=UTF-8''n%c3%a4chste; rel=next"],
  [' , </p1>; ; crossorigin; rel=preload,, </p2> ; rel="next" ;'],
  ['</p2>; rel=next; rel=prev'],
  // What comes after it need not be read.
  ['</p2>; rel="next", not a link'],
])('the next address is found in %s', (header) => {
  expect(nextLink(header)).toBe('/p2')
})

test.each([
  [undefined],
  [''],
  [' , '],
  ['</p1>; rel="prev"'],
  ['</p1>; rel=prev; rel=next'],
  ['</p1>; title="rel=next"'],
  ['</style.css>; rel=preload; as=style'],
])('%s leads nowhere', (header) => {
  expect(nextLink(header)).toBeUndefined()
})

test.each([
  ['/p2; rel="next"'],
  ['</p2; rel="next"'],
  ['</p2>; rel="next'],
  ['</p2>; rel="next" and more'],
  ['</p2>; title="a"b"; rel="next"'],
])('%s cannot be read', (header) => {
  expect(() => nextLink(header)).toThrow(/its header Link cannot be read at/)
})

const linked = (link: (next: string) => string) =>
  startApi(({ url, number }) => {
    const page = number('p', 0)
    return {
      ...(page < 3 && { headers: { link: link(`${url.origin}/?p=${page + 1}`) } }),
      body: rowsFrom(page * 10, page * 10 + 10),
    }
  })

test('a list is read to its end, whatever else its Link headers say', async () => {
  const { origin } = await linked((next) => `<${next}>; title="a\\"b; rel=\\"x\\""; rel="next"`)
  const { lines } = await exportSource({ url: origin, preset: 'links' })
  expect(columnOf(lines, 'id')).toHaveLength(40)
})

test('a Link header that cannot be read is no end of the list', async () => {
  const { origin } = await linked((next) => `<${next}>; title="a; rel="next"`)
  await expect(exportSource({ url: origin, preset: 'links' })).rejects.toMatchObject({
    kind: { code: 'SOURCE_SHAPE' },
    message: expect.stringContaining('its header Link cannot be read at "'),
  })
})
