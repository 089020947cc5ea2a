import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PAGE_MARGIN, PageReader } from '../../../../src/exports/sources/pages/index.ts'
import { RowTranscoder, SegmentBuffer } from '../../../../src/exports/sources/rows/index.ts'
import { readSpool, type SpoolValue } from './read-spool.ts'
import { pageBytes } from './transcode-page.ts'

const FIELDS = ['a', 'b']

function readPage(text: string | Buffer, { wrapped = false, rows = 3 } = {}): SpoolValue[][] {
  const sink = new SegmentBuffer()
  const reader = new PageReader(new RowTranscoder({ fields: FIELDS }, [sink]), { wrapped })
  const bytes = pageBytes(text)
  reader.read(bytes, bytes.length - PAGE_MARGIN, { page: 4, rows, pageSize: 3, total: 15 })
  return readSpool(sink.pending().bytes.toString())
}

/** A spool value against what JSON.parse made of the same bytes. */
function same(value: SpoolValue, parsed: unknown): boolean {
  if ('bare' in value) {
    if (value.bare === '') return parsed === undefined
    return Object.is(JSON.parse(value.bare), parsed)
  }
  if (typeof parsed === 'string') return value.string === parsed.toWellFormed()
  return JSON.stringify(JSON.parse(value.string)) === JSON.stringify(parsed)
}

const ROWS = '[{"a":1.5,"b":"x\\ud83d\\"y"},{"b":[{"c":null}],"a":true}, {"a":-20,"z":{"q":[]}}]'

describe.each([
  ['bare', false, `{"total":15,"template":[{"name":"a","width":1e1}],"data":${ROWS},"footer":"é"}`],
  ['wrapped', true, `{"status":200,"data":{"data":${ROWS},"total":"15","header":{}},"msg":null}`],
])('a %s page', (_, wrapped, good) => {
  test('gives its rows', () => {
    expect(readPage(good, { wrapped })).toHaveLength(3)
  })

  test('that was harmed is refused, or means what JSON.parse says it means', () => {
    const edit = fc.record({
      at: fc.nat({ max: good.length }),
      drop: fc.nat({ max: 4 }),
      put: fc.oneof(
        fc.constantFrom('"', ',', '}', ']', '{', '[', '\\', ':', 'e', '.', '-', ' '),
        fc.string({ maxLength: 3 }),
      ),
    })
    let accepted = 0
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
        let text = good
        for (const { at, drop, put } of edits) text = text.slice(0, at) + put + text.slice(at + drop)
        let read: SpoolValue[][]
        try {
          read = readPage(text, { wrapped })
        } catch {
          return
        }
        accepted++
        const page = JSON.parse(text) as { data: unknown }
        const data = (wrapped ? (page.data as { data: unknown }).data : page.data) as Record<
          string,
          unknown
        >[]
        expect(read).toHaveLength(data.length)
        for (const [row, values] of read.entries())
          for (const [column, value] of values.entries())
            expect(same(value, data[row]?.[FIELDS[column] ?? ''])).toBe(true)
      }),
      { numRuns: 2_000 },
    )
    expect(accepted).toBeGreaterThan(0)
  })
})

test('bytes that are no UTF-8 are refused, a byte order mark is not', () => {
  const page = Buffer.from('{"total":15,"data":[{"a":"?"}]}')
  expect(readPage(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), page]), { rows: 1 })).toEqual([
    [{ string: '?' }, { bare: '' }],
  ])
  page[page.indexOf('?')] = 0xff
  expect(() => readPage(page, { rows: 1 })).toThrow('page 4 is not JSON: it is not valid UTF-8')
})

test('data twice is refused, whichever came first', () => {
  expect(() => readPage('{"total":15,"data":[],"data":[]}', { rows: 0 })).toThrow('data twice')
})
