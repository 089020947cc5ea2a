import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ThreadPool } from '../../../../src/exports/index.ts'
import { alignSegments, fetchToSpool, type Spool } from '../../../../src/exports/sources/index.ts'
import { fetchSample, temporaryFolder, textOf } from './fetch-setup.ts'
import { MemorySource, pageOf } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

type Row = Record<string, number | string>

/** Enough pages of ten for five fetchers. */
const TOTAL = 6_000
const PAGE = 10
/** The fetchers begin at rows 0, 1200, 2400 …, and meet the keys in different orders. */
const ragged = Array.from({ length: TOTAL }, (_, id): Row => {
  const row: Row = { id }
  if (id === 700) row.b = 'b'
  if (id === 650 || id === 1300) row.a = `a,"${id}"`
  if (id === 1250) row.c = 1
  if (id === 1251) row.b = 2
  if (id === 5_999) row['neu "x"'] = 9
  return row
})
const FIELDS = ['id', 'a', 'b', 'c', 'neu "x"']

const honest = (rows: Row[]) => new MemorySource((ask) => ({ total: rows.length, data: pageOf(rows, ask) }))

function openPool(): ThreadPool {
  const pool = new ThreadPool({ threads: 2 })
  onTestFinished(() => pool.close())
  return pool
}

function fetchGrowing(directory: string, source = honest(ragged), threads?: ThreadPool): Promise<Spool> {
  return fetchToSpool(
    { source, clock: new PatientClock(), ...(threads && { threads }) },
    {
      directory,
      columnsOf: ({ keys }) => ({ fields: keys, growExcept: [] }),
      pageSize: PAGE,
      sliceBytes: 2_000,
      retries: 1,
      signal: new AbortController().signal,
    },
  )
}

async function alignedText(spool: Spool, pool: ThreadPool): Promise<string> {
  const path = join(spool.directory, 'aligned')
  const { signal } = new AbortController()
  const layout = { path, head: 'head\n', skip: 0, fields: spool.fields.length, labels: 0, signal }
  const { slices, rows, bytes } = await alignSegments({ pool }, spool.segments, layout)
  const text = readFileSync(path, 'utf8')
  expect([rows, bytes]).toEqual([TOTAL, Buffer.byteLength(text)])
  expect(slices.reduce((at, slice) => (slice.offset === at ? at + slice.bytes : Number.NaN), 5)).toBe(bytes)
  return text
}

const field = (value: number | string | undefined) =>
  typeof value === 'string' ? `"${value.replaceAll('"', '""')}"` : (value ?? '')
const expected = `head\n${ragged.map((row) => `${FIELDS.map((name) => field(row[name])).join(',')}\n`).join('')}`

test('without a template, every key is a column, in the order of first sight over all fetchers', async () => {
  const pool = openPool()
  const here = await fetchGrowing(await temporaryFolder())
  expect(here.fields).toEqual(FIELDS)
  expect(here.segments).toHaveLength(5)
  expect(here.widths).toEqual([4, 8, 1, 1, 1])
  expect(await alignedText(here, pool)).toBe(expected)
  const there = await fetchGrowing(await temporaryFolder(), honest(ragged), pool)
  expect(there.fields).toEqual(FIELDS)
  expect(await alignedText(there, pool)).toBe(expected)
})

test('keys that were seen before a crash are columns after it', async () => {
  const pool = openPool()
  const directory = await temporaryFolder()
  const broken = new MemorySource((ask) =>
    ask.page === 500 ? { status: 404 } : { total: TOTAL, data: pageOf(ragged, ask) },
  )
  await expect(fetchGrowing(directory, broken)).rejects.toThrow('status 404')
  const spool = await fetchGrowing(directory)
  expect(spool.resumed.resumed).toBe(true)
  expect(spool.fields).toEqual(FIELDS)
  expect(await alignedText(spool, pool)).toBe(expected)
})

test('a page that is refused adds no column', async () => {
  const rows: Row[] = Array.from({ length: 30 }, (_, id) => ({ id, name: `n${id}` }))
  const source = new MemorySource((ask) => {
    const data = pageOf(rows, ask)
    if (ask.page !== 1 || ask.pageSize === 1 || ask.again > 0) return { total: 30, data }
    return { total: 30, data: data.slice(0, 5).map((row) => ({ ...row, wrong: 1 })) }
  })
  const spool = await fetchGrowing(await temporaryFolder(), source)
  expect(spool.fields).toEqual(['id', 'name'])
  expect(textOf(spool)).toBe(rows.map(({ id, name }) => `${id},"${name}"\n`).join(''))
})

test('keys that a template leaves out are only reported', async () => {
  const rows: Row[] = Array.from({ length: 300 }, (_, id) => ({
    id,
    ...(id > 150 && { 'late\n': 1 }),
    name: 'n',
    amount: id,
    note: 'x',
  }))
  const spool = await fetchSample(honest(rows))
  expect(spool.unwanted).toEqual(['note', 'late\n'])
  expect(textOf(spool)).toBe(rows.map(({ id }) => `${id},"n",${id}\n`).join(''))
})

test('a source whose keys are its data ends with a clear message', async () => {
  const rows = Array.from(
    { length: 400 },
    (_, id): Row => Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`key ${id}-${n}`, 1])),
  )
  await expect(fetchGrowing(await temporaryFolder(), honest(rows))).rejects.toThrow(
    'its rows have more than 16384 different keys',
  )
})
