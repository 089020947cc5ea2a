import { expect, test } from 'vitest'
import { dateWords } from '../../../src/exports/saved/date-words.ts'
import { fillRequest } from '../../../src/exports/saved/fill-request.ts'
import { valuesAt } from '../../../src/exports/saved/parameters.ts'

const HOSTILE = `a b&c=d/../?#%"'<b>$1`

test('a value is encoded for the place that it stands in, and stays a value', () => {
  const filled = fillRequest(
    {
      source_url: 'https://shop.example.com/o/{{v}}/x?a={{v}}#{{v}}',
      source: {
        kind: 'http',
        url: 'https://shop.example.com/{{n}}',
        body: {
          from: '{{n}}',
          text: 'is {{v}}',
          list: ['{{none}}', '{{yes}}'],
          page: '{{page}}',
          at: 'p{{ page_size }}',
        },
        params: ['{{v}}', '{{n}}', '{{none}}', 'n={{n}}', 7],
      },
      title: 'T {{v}}',
      summary: '<b>{{v}}</b>',
      file_name: '{{v}}',
    },
    { v: HOSTILE, n: 5, none: null, yes: true },
  )
  const url = new URL(filled.source_url)
  expect([url.host, url.searchParams.get('a')]).toEqual(['shop.example.com', HOSTILE])
  expect(url.pathname.split('/').map(decodeURIComponent)).toEqual(['', 'o', HOSTILE, 'x'])
  expect(filled.source).toEqual({
    kind: 'http',
    url: 'https://shop.example.com/5',
    body: { from: 5, text: `is ${HOSTILE}`, list: [null, true], page: '{{page}}', at: 'p{{ page_size }}' },
    params: [HOSTILE, 5, null, 'n=5', 7],
  })
  expect(filled.title).toBe(`T ${HOSTILE}`)
  expect(filled.summary).toBe(`<b>a b&amp;c=d/../?#%"'&lt;b&gt;$1</b>`)
})

test('no value makes a step upwards in a path, however it is written', () => {
  for (const value of ['..', '.', '%2e%2e'])
    for (const url of [
      'https://h.example.com/a/{{v}}/b',
      'https://h.example.com/a/{{v}}',
      'https://h.example.com/a/.{{v}}',
    ])
      try {
        const { source_url } = fillRequest({ source_url: url }, { v: value })
        expect(new URL(source_url).pathname.split('/').length, source_url).toBe(url.split('/').length - 2)
      } catch (error) {
        expect(String(error)).toContain('step upwards')
      }
})

test('dates are those of the zone', () => {
  // 2026-03-01 in Shanghai, still February in New York.
  const at = Date.UTC(2026, 1, 28, 20)
  const shanghai = dateWords(at, 'Asia/Shanghai')
  expect(shanghai).toMatchObject({
    now: '2026-02-28T20:00:00.000Z',
    today: '2026-03-01',
    yesterday: '2026-02-28',
    tomorrow: '2026-03-02',
    this_month: '2026-03',
    'this_month.start': '2026-03-01',
    'this_month.end': '2026-03-31',
    'last_month.start': '2026-02-01',
    'last_month.end': '2026-02-28',
    this_week: '2026-W09',
    'this_week.start': '2026-02-23',
    'last_week.end': '2026-02-22',
    last_quarter: '2025-Q4',
    'last_quarter.start': '2025-10-01',
    'last_quarter.end': '2025-12-31',
    'last_year.start': '2025-01-01',
    'last_year.end': '2025-12-31',
  })
  expect(dateWords(at, 'America/New_York')).toMatchObject({ today: '2026-02-28', last_month: '2026-01' })
  expect(dateWords(Date.UTC(2027, 0, 1), 'UTC')).toMatchObject({
    this_week: '2026-W53',
    last_month: '2026-12',
  })
})

test('a run has defaults with their dates, and what it was given as it is', () => {
  const when = { at: Date.UTC(2026, 4, 3), timezone: 'UTC' }
  const known = { from: '{{last_month.start}}T00:00', region: 'x', n: 3 }
  expect(valuesAt(known, { region: '{{today}}', n: null }, when)).toEqual({
    from: '2026-04-01T00:00',
    region: '{{today}}',
    n: null,
  })
})
