import { describe, expect, test } from 'vitest'
import { type Diagnosis, examineSource } from '../../../../src/exports/index.ts'
import { type Ask, MemorySource, pageOf, sampleRows } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

/** Examines a source; `costs` is how long each answer takes. */
async function examine(answer: (ask: Ask) => object | string, costs: (ask: Ask) => number = () => 10) {
  const clock = new PatientClock()
  const source = new MemorySource((ask) => {
    clock.advance(costs(ask))
    return answer(ask)
  })
  const diagnosis = await examineSource({ source, clock }, { signal: new AbortController().signal })
  return { diagnosis, source }
}

function levels({ findings }: Diagnosis, check: string): string[] {
  return findings.filter((finding) => finding.check === check).map(({ level }) => level)
}

const rows = sampleRows(250_000)
const honest = (ask: Ask) => ({ total: rows.length, data: pageOf(rows, ask) })

describe('a healthy source', () => {
  test('passes every check and gets the page size with the best rate', async () => {
    const { diagnosis } = await examine(honest, ({ pageSize }) => 50 + pageSize / 10)
    expect(diagnosis.findings.every(({ level }) => level === 'ok')).toBe(true)
    expect(new Set(diagnosis.findings.map(({ check }) => check))).toEqual(
      new Set(['answer', 'total', 'shape', 'ordering', 'overlap', 'latency']),
    )
    expect(diagnosis.recommendation).toMatchObject({ pageSize: 1_000, fetchers: 1 })
  })

  test('whose time grows with the rows gets small pages, and more fetchers', async () => {
    const { diagnosis } = await examine(honest, ({ pageSize }) => pageSize)
    expect(diagnosis.recommendation).toMatchObject({ pageSize: 100, fetchers: 5 })
  })

  test('is not asked for larger pages than it has rows', async () => {
    const few = sampleRows(30)
    const { diagnosis, source } = await examine((ask) => ({ total: 30, data: pageOf(few, ask) }))
    expect(source.asked.map(({ pageSize }) => pageSize)).toEqual([1, 100, 100])
    expect(diagnosis.recommendation).toMatchObject({ pageSize: 100, fetchers: 1 })
  })

  test.each([
    [
      'refuses what is after its last page',
      (ask: Ask) => (ask.page > 2 ? '' : { total: 300, data: pageOf(sampleRows(300), ask) }),
    ],
    ['gives all for every page', () => ({ total: 100, data: sampleRows(100) })],
    [
      'gives its last page again',
      (ask: Ask) => ({ total: 300, data: pageOf(sampleRows(300), { ...ask, page: Math.min(ask.page, 2) }) }),
    ],
    [
      'gets rows meanwhile',
      (ask: Ask) => {
        const now = ask.pageSize === 1 ? 250 : 260
        return { total: now, data: pageOf(rows.slice(0, now), ask) }
      },
    ],
  ])('that %s has no fault', async (_, answer) => {
    const { diagnosis } = await examine(answer)
    expect(diagnosis.findings.filter(({ level }) => level === 'fail')).toEqual([])
  })
})

describe('a sick source', () => {
  test('with an unstable order fails', async () => {
    const { diagnosis } = await examine((ask) => {
      const data = pageOf(rows, ask)
      return { total: rows.length, data: ask.again > 0 ? data.reverse() : data }
    })
    expect(levels(diagnosis, 'ordering')).toEqual(['fail'])
    expect(diagnosis.findings.find(({ check }) => check === 'ordering')?.message).toContain('another order')
  })

  test('that ignores the page fails', async () => {
    const { diagnosis } = await examine((ask) => honest({ ...ask, page: 0 }))
    expect(levels(diagnosis, 'overlap')).toEqual(['fail'])
  })

  test('with overlapping pages is warned about', async () => {
    const { diagnosis } = await examine(({ page, pageSize }) => ({
      total: rows.length,
      data: rows.slice(page * (pageSize - 2), page * (pageSize - 2) + pageSize),
    }))
    expect(diagnosis.findings).toContainEqual({
      level: 'warn',
      check: 'overlap',
      message: 'pages 0 and 1 share 2 equal rows',
    })
  })

  test('with a growing total and uneven rows is warned about', async () => {
    let total = rows.length
    const { diagnosis } = await examine((ask) => ({
      total: total++,
      data: pageOf(rows, ask).map((row) => (row.id % 2 ? row : { ...row, extra: 1 })),
    }))
    expect(levels(diagnosis, 'total')).toEqual(['ok', 'warn'])
    expect(levels(diagnosis, 'shape')).toEqual(['warn'])
  })

  test('that cuts large pages short gets a size that works', async () => {
    const { diagnosis } = await examine((ask) => ({
      total: rows.length,
      data: pageOf(rows, ask).slice(0, 200),
    }))
    expect(levels(diagnosis, 'shape')).toEqual(['ok', 'fail', 'fail'])
    expect(diagnosis.recommendation?.pageSize).toBeLessThanOrEqual(200)
  })

  test('that is too slow with large pages is told so, and gets smaller ones', async () => {
    const { diagnosis } = await examine(honest, ({ pageSize }) => (pageSize > 200 ? 6_000 : 4_000))
    expect(levels(diagnosis, 'latency')).toEqual(['ok', 'ok', 'warn', 'warn'])
    expect(diagnosis.recommendation?.pageSize).toBe(200)
  })

  test.each([
    [
      1_345,
      'page 13 of 100 rows, the last one, has 100 rows, it must have 45: the total of 1345 does not fit',
    ],
    [1_300, 'page 13 is after the last row by the total of 1300, and has 100 other rows'],
  ])('whose total of %i is too low fails', async (total, message) => {
    const more = rows.slice(0, 2_345)
    const { diagnosis } = await examine((ask) => ({ total, data: pageOf(more, ask) }))
    expect(diagnosis.findings.filter(({ level }) => level === 'fail')).toEqual([
      { level: 'fail', check: 'total', message: expect.stringContaining(message) },
    ])
  })

  test.each([0, 1])(
    'that counts from %i, and states the rows of each page as its total, fails',
    async (from) => {
      const more = rows.slice(0, 730)
      const { diagnosis } = await examine(({ page }) => {
        const data = pageOf(more, { page: Math.max(0, page - from), pageSize: 100 })
        return { total: data.length, data }
      })
      expect(levels(diagnosis, 'total')).toContain('fail')
    },
  )

  test('whose last page is short fails', async () => {
    const { diagnosis } = await examine((ask) => ({ total: 260, data: pageOf(rows.slice(0, 250), ask) }))
    expect(levels(diagnosis, 'total')).toContain('fail')
  })

  test.each([
    ['HTML', '<html>login</html>', 'HTML page'],
    ['no total', '{"data":[]}', 'no total'],
    ['an error of its own', '{"status":403,"msg":"no right","data":null}', 'no right'],
  ])('that answers with %s gets no recommendation', async (_, body, message) => {
    const { diagnosis } = await examine(() => body)
    expect(diagnosis.recommendation).toBeNull()
    expect(diagnosis.findings).toMatchObject([
      { level: 'fail', check: 'answer', message: expect.stringContaining(message) },
    ])
  })
})
