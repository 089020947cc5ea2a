import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRows, samplePage } from '../../../../src/exports/sources/index.ts'
import { KeyTable } from '../../../../src/exports/sources/json/index.ts'
import { PAGE_MARGIN, PageReader, readProbe } from '../../../../src/exports/sources/pages/index.ts'
import { RowTranscoder, SegmentBuffer } from '../../../../src/exports/sources/rows/index.ts'
import { parseHeader, parseTemplate } from '../../../../src/exports/template/index.ts'
import { systemClock } from '../../../../src/kernel/index.ts'
import { pageBytes } from './transcode-page.ts'

const MOST = 16_384

const members = (count: number, key: (n: number) => string = String) =>
  Array.from({ length: count }, (_, n) => `"${key(n)}":1`).join(',')

const answer = (row: string, more = '') => `{"total":1,"data":[{${row}}]${more}}`

/** A page that counts the strings that are made of it: what costs most in reading one. */
function counted(text: string): { page: Buffer; end: number; strings: () => number } {
  const page = pageBytes(text)
  let made = 0
  page.toString = (...range) => {
    made += 1
    return Buffer.prototype.toString.apply(page, range)
  }
  return { page, end: page.length - PAGE_MARGIN, strings: () => made }
}

function refusal(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    return (error as Error).message
  }
  return 'nothing was refused'
}

/** Texts that all have the same polynomial hash with the factor 31. */
const twins = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    n
      .toString(2)
      .padStart(15, '0')
      .replace(/[01]/g, (bit) => (bit === '0' ? 'Aa' : 'BB')),
  )

describe('[many-keys] the first answer of a source', () => {
  test('[many-keys] is refused at the first key too many, wherever the keys are', () => {
    const texts = {
      'different keys in a row': answer(members(MOST + 1)),
      'the same key again and again': answer(members(MOST + 1, () => 'a')),
      'keys beside total': `{"total":1,"data":[{}],${members(MOST + 1, (n) => `k${n}`)}}`,
      'keys of the wrapper': `{"data":{"total":1,"data":[]},${members(MOST + 1, (n) => `k${n}`)}}`,
      'row headers': `{"total":1,"data":{${members(MOST + 1).replaceAll(':1', ':[]')}}}`,
    }
    for (const [what, text] of Object.entries(texts)) {
      const { page, end, strings } = counted(text)
      expect(
        refusal(() => readProbe(page, end)),
        what,
      ).toBe('an object has more than 16384 keys')
      expect(strings(), what).toBeLessThanOrEqual(MOST + 10)
    }
  })

  test('[many-keys] with rows that together have too many different keys is refused', () => {
    const rows = Array.from({ length: 20 }, (_, row) => `{${members(1_000, (n) => `${row}-${n}`)}}`)
    const { page, end } = counted(`{"total":20,"data":[${rows.join(',')}]}`)
    expect(refusal(() => readProbe(page, end))).toBe('its rows have more than 16384 different keys')
  })

  test('[many-keys] costs a string for each key that is new, however many rows there are', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constantFrom('k', '\\u006b', 'A\\n'),
        (keys, rows, name) => {
          const row = `{${members(keys, (n) => `${name}${n}`)}}`
          const { page, end, strings } = counted(`{"total":9,"data":[${Array(rows).fill(row).join(',')}]}`)
          expect(readProbe(page, end).keys).toHaveLength(keys)
          expect(strings()).toBeLessThanOrEqual(keys + 5)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('[many-keys] has its template, header and footer counted before they are read', () => {
    const pairs = Array.from({ length: 1_001 }, (_, n) => `["${n}",1]`).join(',')
    const texts: Record<string, string> = {
      'template has a list or an object with more than 16384 members': `,"template":{${members(MOST + 1)}}`,
      'header has a list or an object with more than 1000 members': `,"header":{${members(1_001)}}`,
      'footer has a list or an object with more than 1000 members': `,"footer":[${pairs}]`,
      'template has more than 262144 members': `,"template":[${Array(20)
        .fill(`{${members(MOST - 1, () => 'a')}}`)
        .join(',')}]`,
    }
    for (const [message, more] of Object.entries(texts)) {
      const { page, end, strings } = counted(answer('', more))
      expect(refusal(() => readProbe(page, end))).toContain(message)
      expect(strings()).toBeLessThan(10)
    }
    const { page, end } = counted(answer('', `,"template":{${members(MOST)}},"header":{${members(1_000)}}`))
    expect(Object.keys(readProbe(page, end).template as object)).toHaveLength(MOST)
  })

  test('[many-keys] gives a preview the rows that it shows, and makes nothing of the others', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => ({ a: n, b: `t${n}` }))
    for (const data of [rows, { x: rows, y: rows }]) {
      const bytes = Buffer.from(JSON.stringify({ total: 500, data }))
      const source = {
        get: async () => ({
          status: 200,
          headers: {},
          body: (async function* () {
            yield bytes
          })(),
        }),
      }
      const sample = await samplePage(
        { source: source as never, clock: systemClock },
        { rows: 20, signal: new AbortController().signal },
      )
      expect(sample.page.rows).toBe(20)
      const shown = parseRows(sample.page, 20)
      expect(shown.rows[19]).toMatchObject(rows[19]!)
      expect(shown.bytes).toBeLessThan(1_000)
    }
  })
})

describe('[many-keys] a page', () => {
  const reader = (options: ConstructorParameters<typeof RowTranscoder>[0]) =>
    new PageReader(new RowTranscoder(options, [new SegmentBuffer()]), { wrapped: false })
  const expected = { page: 0, rows: 1, pageSize: 500, total: 1 }

  test('[many-keys] is refused at the first key too many, with and without columns of its own', () => {
    for (const options of [{ fields: ['a'] }, { fields: [], growExcept: [] }])
      for (const key of [String, () => 'a']) {
        const { page, end, strings } = counted(answer(members(MOST + 1, key)))
        expect(refusal(() => reader(options).read(page, end, expected))).toBe(
          'an object has more than 16384 keys',
        )
        expect(strings()).toBeLessThanOrEqual(MOST + 10)
      }
  })

  test('[many-keys] costs no string for keys that no column shows, once a thousand were noted', () => {
    const row = `{${members(5_000)}}`
    const { page, end, strings } = counted(`{"total":50,"data":[${Array(50).fill(row).join(',')}]}`)
    reader({ fields: ['a'] }).read(page, end, { ...expected, rows: 50, total: 50 })
    expect(strings()).toBeLessThanOrEqual(1_010)
  })

  test('[many-keys] makes no record of rows that nobody asked for', () => {
    const sink = new SegmentBuffer()
    const transcoder = new RowTranscoder({ fields: Array.from({ length: 9_000 }, (_, n) => `c${n}`) }, [sink])
    const { page, end } = counted(`{"total":1,"data":[${Array(2_000).fill('{}').join(',')}]}`)
    expect(refusal(() => new PageReader(transcoder, { wrapped: false }).read(page, end, expected))).toBe(
      'page 0 has 2000 rows, it must have 1',
    )
    expect(sink.rows).toBe(1)
    const odd = counted(`{"total":1,"data":[{},7]}`)
    expect(refusal(() => reader({ fields: [] }).read(odd.page, odd.end, expected))).toBe(
      'row 2 is not an object',
    )
  })
})

test('[many-keys] keys that were chosen to look alike are found as fast as others', () => {
  const table = new KeyTable(twins(8_192))
  expect(table.longestSearch).toBeLessThan(64)
  const grown = new KeyTable([])
  for (const key of twins(8_192)) grown.add(key)
  expect(grown.longestSearch).toBeLessThan(64)
  for (const [index, key] of twins(8_192).entries()) {
    const bytes = Buffer.from(`${key}"`)
    expect(grown.scan(bytes, 0)).toBe(index)
    expect(grown.find(bytes, 0, bytes.length - 1)).toBe(index)
  }
})

test('[many-keys] a template or header with too many keys is refused before a member is looked at', () => {
  let looked = 0
  const wide = (count: number) =>
    new Proxy(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'x'])), {
      get: (target, key) => {
        looked += 1
        return Reflect.get(target, key)
      },
    })
  expect(refusal(() => parseTemplate(wide(60_000)))).toBe('template: template may have 16384 leaves')
  expect(refusal(() => parseTemplate({ ceil: wide(60_000) }))).toContain('may have 16384 leaves')
  expect(refusal(() => parseHeader(wide(60_000), 'header'))).toBe('header: 60000 pairs, and at most 1000 fit')
  expect(refusal(() => parseHeader([wide(60_000)], 'header'))).toContain('60000 pairs, and at most 1000 fit')
  expect(looked).toBeLessThan(200)
})
