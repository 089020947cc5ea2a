import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { planFetch } from '../../../../src/exports/sources/ask/index.ts'
import { removeSpool, SpoolFolder } from '../../../../src/exports/sources/spool/spool-folder.ts'
import { ERRORS } from '../../../../src/kernel/index.ts'
import { fetchSample, temporaryFolder, textOf, warnedOf } from './fetch-setup.ts'
import { MemorySource, pageOf, sampleRows, spoolText } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

function honest(total: number, more: object = {}): MemorySource {
  const rows = sampleRows(total)
  return new MemorySource((ask) => ({ total, data: pageOf(rows, ask), ...more }))
}

describe('the plan', () => {
  test('up to 400 pages go one after the other, beyond that several fetchers share them', () => {
    expect(planFetch(200_000, 500)).toEqual([{ first: 0, end: 400 }])
    expect(planFetch(200_001, 500)).toHaveLength(4)
    expect(planFetch(10_000_000, 500)).toHaveLength(5)
    expect(planFetch(0, 500)).toEqual([{ first: 0, end: 0 }])
  })

  test('the ranges cover each page once, in order', () => {
    for (const total of [200_001, 249_999, 250_000, 1_234_567]) {
      const ranges = planFetch(total, 500)
      expect(ranges[0]?.first).toBe(0)
      for (const [index, range] of ranges.slice(1).entries()) expect(range.first).toBe(ranges[index]?.end)
      expect(ranges.at(-1)?.end).toBe(Math.ceil(total / 500))
    }
  })
})

describe('a good source', () => {
  test('is fetched page by page after one probe', async () => {
    const source = honest(250)
    const spool = await fetchSample(source)
    expect(textOf(spool)).toBe(spoolText(sampleRows(250)))
    expect(source.asked).toEqual([
      { page: 0, pageSize: 1, again: 0 },
      { page: 0, pageSize: 100, again: 0 },
      { page: 1, pageSize: 100, again: 0 },
      { page: 2, pageSize: 100, again: 0 },
    ])
    expect(spool).toMatchObject({ rows: 250, warnings: [], resumed: { resumed: false } })
    expect(spool.segments).toMatchObject([
      { rows: 250, slices: [{ offset: 0, bytes: spool.bytes, rows: 250 }] },
    ])
    expect(spool.probe.keys).toEqual(['id', 'name', 'amount'])
    expect(readdirSync(spool.directory).sort()).toEqual(['.meta', 'pages-0.log', 'segment-0.source.csv'])
  })

  test('with many pages is fetched by several, and the order is kept', async () => {
    const source = honest(2_005)
    const spool = await fetchSample(source, { pageSize: 4 })
    expect(spool.segments).toHaveLength(5)
    expect(textOf(spool)).toBe(spoolText(sampleRows(2_005)))
    expect([...source.pages].sort((a, b) => a - b)).toEqual(Array.from({ length: 502 }, (_, page) => page))
  })

  test('without rows gives an empty spool', async () => {
    const spool = await fetchSample(honest(0, { header: { 油站: 'x' } }))
    expect(spool).toMatchObject({ rows: 0, bytes: 0, probe: { total: 0, header: { 油站: 'x' } } })
    expect(textOf(spool)).toBe('')
  })

  test('may wrap its answer, write total as text, and put members in any order', async () => {
    const rows = sampleRows(150)
    const source = new MemorySource((ask) => ({
      msg: 'ok',
      data: { footer: { sum: 1 }, data: pageOf(rows, ask), template: null, total: '150' },
      status: '200',
    }))
    const spool = await fetchSample(source)
    expect(textOf(spool)).toBe(spoolText(rows))
    expect(spool.probe).toMatchObject({ wrapped: true, total: 150, footer: { sum: 1 } })
    expect(spool.probe).not.toHaveProperty('template')
  })

  test('only its first answer says what the header is', async () => {
    let count = 0
    const rows = sampleRows(120)
    const source = new MemorySource((ask) => ({
      total: 120,
      data: pageOf(rows, ask),
      header: { n: ++count },
    }))
    expect((await fetchSample(source)).probe.header).toEqual({ n: 1 })
  })

  test('keeps the digits of a number in its header', async () => {
    const source = new MemorySource(
      () => '{"total":0,"data":[],"header":{"id":12345678901234567890,"n":1.5}}',
    )
    expect((await fetchSample(source)).probe.header).toEqual({ id: '12345678901234567890', n: 1.5 })
  })

  test('tells its progress, and the next page is asked for before the last one is read', async () => {
    const source = honest(350)
    const steps: { fetched: number; asked: number }[] = []
    await fetchSample(source, {
      onProgress: ({ fetched }) => steps.push({ fetched, asked: source.pages.length }),
    })
    expect(steps).toEqual([
      { fetched: 0, asked: 0 },
      { fetched: 100, asked: 2 },
      { fetched: 200, asked: 3 },
      { fetched: 300, asked: 4 },
      { fetched: 350, asked: 4 },
    ])
  })
})

describe('row headers', () => {
  const columnsOf = () => ({ fields: ['id', 'name', 'amount'], rowNames: ['north', 'south', 'empty'] })
  const regions = ['south', 'north'] as const
  const rows = sampleRows(250)
  const flat = rows.map((row) => ({ ...row, _row_head_: regions[row.id % 2] }))
  const wanted = (region: string) => spoolText(rows.filter((row) => regions[row.id % 2] === region))

  test('flat rows are spooled by the row header they name, in order', async () => {
    const source = new MemorySource((ask) => ({ total: 250, data: pageOf(flat, ask) }))
    const spool = await fetchSample(source, { columnsOf })
    expect(spool.segments.map(({ group, rows }) => [group, rows])).toEqual([
      ['north', 125],
      ['south', 125],
      ['empty', 0],
    ])
    expect(textOf(spool)).toBe(wanted('north') + wanted('south'))
  })

  test('rows under their row header come out the same, pages joined', async () => {
    const source = new MemorySource((ask) => ({
      total: 250,
      data: Object.groupBy(pageOf(flat, ask), (row) => row._row_head_ ?? ''),
    }))
    const spool = await fetchSample(source, { columnsOf })
    expect(textOf(spool, 'north')).toBe(wanted('north'))
    expect(textOf(spool, 'south')).toBe(wanted('south'))
  })

  test('several fetchers keep the order within a row header', async () => {
    const source = new MemorySource((ask) => ({ total: 2_400, data: pageOf(many, ask) }))
    const many = sampleRows(2_400).map((row) => ({ ...row, _row_head_: regions[row.id % 2] }))
    const spool = await fetchSample(source, { columnsOf, pageSize: 5 })
    expect(textOf(spool, 'north')).toBe(spoolText(sampleRows(2_400).filter((row) => row.id % 2 === 1)))
  })

  test('rows that no row header names are an error that names them', async () => {
    const stray = new MemorySource((ask) => ({ total: 250, data: pageOf(flat, ask) }))
    await expect(
      fetchSample(stray, { columnsOf: () => ({ fields: ['id'], rowNames: ['north'] }) }),
    ).rejects.toMatchObject({
      kind: ERRORS.SOURCE_ROW_HEAD_UNKNOWN,
      message: expect.stringContaining('"south"'),
    })
    const grouped = new MemorySource(() => ({ total: 1, data: { 'the "west"': [{ id: 1 }], gone: [] } }))
    await expect(fetchSample(grouped, { columnsOf })).rejects.toThrow(
      'page 0: no row header is named "the "west""',
    )
    const unnamed = new MemorySource(() => ({ total: 1, data: [{ id: 1 }] }))
    await expect(fetchSample(unnamed, { columnsOf })).rejects.toThrow('page 0: row 1 has no _row_head_')
  })
})

describe('a source that misbehaves', () => {
  test('with another total on some pages adds one warning', async () => {
    const rows = sampleRows(400)
    const source = new MemorySource((ask) => ({
      total: 350 + ask.page,
      data: pageOf(rows.slice(0, 350), ask),
    }))
    const spool = await fetchSample(source)
    expect(spool.rows).toBe(350)
    expect(warnedOf(spool)).toEqual([
      "the source's total changed from 350 to 351 while it was read (page 1), the first one counts",
    ])
  })

  test('that grew in the meantime is read up to the first total', async () => {
    const rows = sampleRows(290)
    const source = new MemorySource((ask) => ({
      total: ask.pageSize === 1 ? 250 : 290,
      data: pageOf(rows, ask),
    }))
    const spool = await fetchSample(source)
    expect(textOf(spool)).toBe(spoolText(sampleRows(250)))
    expect(spool.warnings).toHaveLength(1)
  })

  test('with a page too short is asked six times, then it is an error that names the page', async () => {
    const clock = new PatientClock()
    const rows = sampleRows(250)
    const source = new MemorySource((ask) => ({
      total: 250,
      data: pageOf(rows, ask).slice(0, ask.page === 1 ? 99 : 100),
    }))
    await expect(fetchSample(source, {}, clock)).rejects.toMatchObject({
      kind: ERRORS.SOURCE_SHORT_PAGE,
      message: 'page 1 has 99 rows, it must have 100 (asked 6 times in this attempt)',
    })
    expect(source.pages.filter((page) => page === 1)).toHaveLength(6)
    expect(clock.waits).toHaveLength(5)
    for (const [index, wait] of clock.waits.entries()) {
      expect(wait).toBeGreaterThanOrEqual(800 * 2 ** index)
      expect(wait).toBeLessThanOrEqual(1_200 * 2 ** index)
    }
  })

  test('that does not know page_size is an error', async () => {
    const source = new MemorySource(() => ({ total: 250, data: sampleRows(250) }))
    await expect(fetchSample(source)).rejects.toMatchObject({ kind: ERRORS.SOURCE_LONG_PAGE })
  })

  test('with a broken page once leaves no trace of it', async () => {
    const rows = sampleRows(250)
    const source = new MemorySource((ask) => {
      const text = JSON.stringify({ total: 250, data: pageOf(rows, ask) })
      return ask.page === 1 && ask.again === 0 ? text.slice(0, -30) : text
    })
    const spool = await fetchSample(source)
    expect(textOf(spool)).toBe(spoolText(rows))
  })

  test.each([
    [
      'SOURCE_NOT_JSON',
      '<!doctype html><title>Sign in</title>',
      'page 0 was answered with an HTML page, is a login needed?',
    ],
    ['SOURCE_NOT_JSON', '', 'page 0 is empty'],
    [
      'SOURCE_NOT_JSON',
      '{"total":1,"data":[{"id":1}]} x',
      'page 0 is not JSON: unexpected text after the page at byte 30',
    ],
    ['SOURCE_NOT_JSON', '{"total":1,"data":[{"id":1]}', 'page 0 is not JSON: expected "," or "}" at byte 26'],
    ['SOURCE_SHAPE', '[1]', 'page 0 has the wrong shape: it is a list, not an object {total, data}'],
    ['SOURCE_SHAPE', '{"data":[]}', 'page 0 has the wrong shape: it has no total'],
    [
      'SOURCE_SHAPE',
      '{"total":"many","data":[]}',
      'page 0 has the wrong shape: total is "many", not a count',
    ],
    ['SOURCE_SHAPE', '{"total":1}', 'page 0 has the wrong shape: it has no data'],
    ['SOURCE_SHAPE', '{"total":1,"data":[[1]]}', 'page 0 has the wrong shape: a row is not an object'],
    ['SOURCE_SHORT_PAGE', '{"total":1,"data":[]}', 'page 0 has no rows'],
    [
      'SOURCE_ERROR',
      '{"status":500,"msg":"库存服务不可用","data":null}',
      'page 0: the source says: 库存服务不可用',
    ],
  ] as const)('%s: %s', async (code, body, message) => {
    const failed = fetchSample(new MemorySource(() => body))
    await expect(failed).rejects.toMatchObject({
      kind: ERRORS[code],
      message: expect.stringContaining(message),
    })
  })

  test('that fails half-way is told with its own words', async () => {
    const rows = sampleRows(250)
    const source = new MemorySource((ask) =>
      ask.page === 2
        ? { status: 401, msg: 'token expired', data: {} }
        : { status: 0, data: { total: 250, data: pageOf(rows, ask) } },
    )
    await expect(fetchSample(source)).rejects.toThrow('page 2: the source says: token expired')
    expect(source.pages.filter((page) => page === 2)).toHaveLength(1)
  })

  test('whose page is too large is told so at once', async () => {
    const source = honest(250)
    await expect(fetchSample(source, { limits: { maxPageBytes: 1_000 } })).rejects.toMatchObject({
      kind: ERRORS.SOURCE_PAGE_TOO_LARGE,
      message: expect.stringContaining('page 0 is larger than 1000 bytes'),
    })
    expect(source.pages).toEqual([0])
  })
})

describe('limits', () => {
  test('too many rows end before the first page', async () => {
    const source = honest(250)
    await expect(fetchSample(source, { limits: { maxRows: 249 } })).rejects.toMatchObject({
      kind: ERRORS.SOURCE_TOO_LARGE,
      retryable: false,
    })
    expect(source.pages).toEqual([])
  })

  test('too many bytes end the fetch', async () => {
    await expect(fetchSample(honest(2_500), { limits: { maxBytes: 5_000 } })).rejects.toMatchObject({
      kind: ERRORS.SOURCE_TOO_LARGE,
    })
  })
})

test('a refusal that is not retryable ends the fetch at once', async () => {
  const refusal = Object.assign(new Error('10.0.0.1 is not allowed'), { retryable: false })
  const source = new MemorySource(() => {
    throw refusal
  })
  await expect(fetchSample(source)).rejects.toMatchObject({ retryable: false, cause: refusal })
  expect(source.asked).toHaveLength(1)
})

test('an aborted fetch ends with the reason, and asks for nothing more', async () => {
  const stop = new AbortController()
  const rows = sampleRows(1_000)
  const source = new MemorySource((ask) => {
    if (ask.page === 3) stop.abort(new Error('cancelled by the user'))
    return { total: 1_000, data: pageOf(rows, ask) }
  })
  await expect(fetchSample(source, { signal: stop.signal })).rejects.toThrow('cancelled by the user')
  expect(Math.max(...source.pages)).toBe(3)
})

test('removing a spool leaves foreign files alone', async () => {
  const directory = await temporaryFolder()
  await fetchSample(honest(10), { directory })
  writeFileSync(join(directory, 'notes.txt'), 'mine')
  await removeSpool(directory)
  expect(readdirSync(directory)).toEqual(['notes.txt'])
  rmSync(join(directory, 'notes.txt'))
  await removeSpool(directory)
  expect(() => readdirSync(directory)).toThrow('ENOENT')
})

test('a fetch that has ended writes nothing any more, also if its disk took nothing at last', async () => {
  const directory = await temporaryFolder()
  const segment = join(directory, 'segment-0.tmp.csv')
  const { checkpoint } = SpoolFolder.prototype
  let underWay = 0
  vi.spyOn(SpoolFolder.prototype, 'checkpoint').mockImplementation(async function (this: SpoolFolder, meta) {
    underWay++
    for (let turn = 0; turn < 50; turn++) await nextTurn()
    await checkpoint.call(this, meta).finally(() => underWay--)
  })
  let pages = 0
  const broken = () => {
    // Between two writes, while the first is being counted.
    if (++pages !== 3) return
    rmSync(segment)
    mkdirSync(segment)
  }
  const fetching = fetchSample(honest(1_000), { directory, checkpointEveryMs: 0, onProgress: broken })
  await expect(fetching).rejects.toThrow('EISDIR')
  expect(underWay).toBe(0)
})
