import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ThreadPool } from '../../../../src/exports/index.ts'
import { findRepeats } from '../../../../src/exports/sources/duplicates/key-check-work.ts'
import { PrintLog } from '../../../../src/exports/sources/duplicates/print-log.ts'
import type { FetchOptions } from '../../../../src/exports/sources/fetch/fetch-to-spool.ts'
import { fetchToSpool, type Spool } from '../../../../src/exports/sources/index.ts'
import { Memory } from '../../../../src/exports/sources/json/index.ts'
import type { PageSource } from '../../../../src/exports/sources/pages/index.ts'
import { RowKey } from '../../../../src/exports/sources/rows/index.ts'
import { ERRORS } from '../../../../src/kernel/index.ts'
import { fetchSample, temporaryFolder, textOf, warnedOf } from './fetch-setup.ts'
import { type Ask, MemorySource, pageOf, sampleRows, spoolText } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

const rows = sampleRows(1_000)
const honest = (list: object[] = rows) =>
  new MemorySource((ask) => ({ total: list.length, data: pageOf(list, ask) }))
/** Gives the first page whatever it is asked for. */
const deaf = () => new MemorySource((ask: Ask) => ({ total: 500, data: pageOf(rows, { ...ask, page: 0 }) }))
/** A row that came while the source was read moves all others by one. */
const moving = () =>
  new MemorySource((ask) => {
    const moved = ask.page >= 4 && ask.pageSize > 1 ? [{ id: -1, name: 'new', amount: 0 }, ...rows] : rows
    return { total: moved.length, data: pageOf(moved, ask).slice(0, ask.pageSize) }
  })

describe('a page that comes again', () => {
  test('fails the export as soon as it is there', async () => {
    const source = deaf()
    await expect(fetchSample(source)).rejects.toMatchObject({
      kind: ERRORS.SOURCE_PAGE_REPEATED,
      retryable: false,
      details: { page: 1, same_as: 0 },
    })
    expect(source.pages.filter((page) => page > 2)).toEqual([])
  })

  test('is only told if that is wanted', async () => {
    const spool = await fetchSample(deaf(), { onDuplicates: 'warn' })
    const { checks, rows } = spool
    expect(warnedOf(spool)).toEqual(['4 pages have the same rows as an earlier page'])
    expect([checks.samePages, rows]).toEqual([4, 500])
  })

  test('of a single row is no sign of anything', async () => {
    const equal = Array.from({ length: 5 }, () => ({ id: 1, name: 'x', amount: 1 }))
    expect((await fetchSample(honest(equal), { pageSize: 1 })).warnings).toEqual([])
  })

  test('is known after a take-over, which does not take its own pages for others', async () => {
    const directory = await temporaryFolder()
    const broken = new MemorySource((ask) =>
      ask.page === 6 ? { status: 404 } : { total: 1_000, data: pageOf(rows, ask) },
    )
    await expect(fetchSample(broken, { directory })).rejects.toThrow('404')
    const again = new MemorySource((ask) => ({
      total: 1_000,
      data: pageOf(rows, ask.page === 8 ? { ...ask, page: 2 } : ask),
    }))
    await expect(fetchSample(again, { directory })).rejects.toMatchObject({
      details: { page: 8, same_as: 2 },
    })
    const spool = await fetchSample(honest(), { directory })
    expect(spool.resumed).toEqual({ resumed: true, fetched: 600 })
    expect(textOf(spool)).toBe(spoolText(rows))
  })
})

describe('rows with the same key', () => {
  const key = ['id']

  test('are told by default, and fail the export if that is wanted', async () => {
    const { warnings, checks } = await fetchSample(moving(), { key })
    expect(warnedOf({ warnings })).toEqual([
      "the source's total changed from 1000 to 1001 while it was read (page 4), the first one counts",
      '1 row repeats the id of an earlier row (1 from another page, as when rows are added or removed while they are read), the first being row 401, like row 400',
    ])
    expect(checks).toEqual({
      samePages: 0,
      key,
      keys: { repeats: 1, acrossPages: 1, keyless: 0, examples: [{ row: 400, first: 399 }] },
      drift: { page: 4, total: 1_001 },
    })
    await expect(fetchSample(moving(), { key, onDuplicates: 'fail' })).rejects.toMatchObject({
      kind: ERRORS.SOURCE_ROWS_REPEATED,
      retryable: false,
    })
    expect((await fetchSample(honest(), { key, onDuplicates: 'fail' })).warnings).toEqual([])
  })

  test('are found though the file does not show the key, and by several columns', async () => {
    const twins = rows.map((row, n) => ({ n: n === 700 ? 5 : n, half: n % 2, ...row }))
    const found = async (more: Partial<FetchOptions>) => (await fetchSample(honest(twins), more)).checks.keys
    expect(await found({ key: ['n'] })).toMatchObject({ repeats: 1, examples: [{ row: 700, first: 5 }] })
    expect(await found({ key: ['half', 'n'] })).toMatchObject({ repeats: 0 })
    expect(await found({ key: ['half', 'n', 'name'] })).toMatchObject({ repeats: 0 })
    expect(await found({ key: ['half'] })).toMatchObject({ repeats: 998, acrossPages: 900 })
    const growing = { columnsOf: () => ({ fields: ['name'], growExcept: [] }) }
    expect(await found({ key: ['n'], ...growing })).toMatchObject({ repeats: 1 })
    const csv = { head: '', leads: [''], formulas: 'escape' as const }
    expect(await found({ key: ['n'], columnsOf: () => ({ fields: ['n'], csv }) })).toMatchObject({
      repeats: 1,
    })
  })

  test('a key that rows lack is told, and fails an export that relies on it', async () => {
    const some = rows.map(({ id, ...row }, n) => (n % 2 ? row : { id: n % 4 ? id : null, ...row }))
    expect(warnedOf(await fetchSample(honest(some), { key }))).toEqual(['750 rows have no id'])
    const wrong = { key: ['idd'] }
    const message = 'no row has a value for the key idd, so rows that repeat cannot be found'
    expect(warnedOf(await fetchSample(honest(), wrong))).toEqual([message])
    await expect(fetchSample(honest(), { ...wrong, onDuplicates: 'fail' })).rejects.toThrow(message)
  })

  test('are found over several fetchers, in threads, and after a take-over', async () => {
    const pool = new ThreadPool({ threads: 2 })
    onTestFinished(() => pool.close())
    const many = Array.from({ length: 41_000 }, (_, n) => ({ id: n === 35_000 ? 10 : n }))
    const fetch = (source: PageSource, directory: string): Promise<Spool> =>
      fetchToSpool(
        { source, clock: new PatientClock(), threads: pool },
        {
          directory,
          columnsOf: () => ({ fields: ['id'] }),
          pageSize: 100,
          key,
          signal: new AbortController().signal,
        },
      )
    const directory = await temporaryFolder()
    const broken = new MemorySource((ask) =>
      ask.page === 380 ? { status: 404 } : { total: 41_000, data: pageOf(many, ask) },
    )
    await expect(fetch(broken, directory)).rejects.toThrow('404')
    const { checks, resumed } = await fetch(honest(many), directory)
    expect(resumed.resumed).toBe(true)
    expect(checks.keys).toEqual({
      repeats: 1,
      acrossPages: 1,
      keyless: 0,
      examples: [{ row: 35_000, first: 10 }],
    })
  })
})

test('many passes find what one does, in every log', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wharf-keys-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const ids = Array.from({ length: 20_000 }, (_, n) => (n * 7_919) % 15_000)
  const logs = [ids.slice(0, 9_000), ids.slice(9_000)].map((part, n) => {
    const path = join(folder, `keys-${n}.log`)
    writeFileSync(path, logOf(part.map((id) => [id % 100 === 3 ? 'null' : String(id)])).pending().bytes)
    return { path, rows: part.length, firstRow: n * 9_000 }
  })
  const one = findRepeats({ logs, pageSize: 100 })
  expect(one.keyless).toBe(ids.filter((id) => id % 100 === 3).length)
  const keyed = ids.filter((id) => id % 100 !== 3)
  expect(one.repeats).toBe(keyed.length - new Set(keyed).size)
  expect(one.examples[0]).toEqual({ row: 15_000, first: 0 })
  expect(findRepeats({ logs, pageSize: 100, rowsPerPass: 1_000 })).toEqual(one)
})

test('different keys have different prints', () => {
  const keys = Array.from({ length: 50_000 }, (_, n) => [
    [String(n), '"x"'],
    [`"${n.toString(36)}"`, `"${n * n}"`],
    ['"a"', `"${'b'.repeat(n % 50)}${n}"`],
  ]).flat()
  const odd = [
    ['1', '23'],
    ['12', '3'],
    ['"1"', '23'],
    ['123', 'null'],
    ['null', '123'],
  ]
  const { bytes } = logOf([...keys, ...odd]).pending()
  const prints = new Set(
    Array.from({ length: bytes.length / 16 }, (_, n) => bytes.toString('latin1', n * 16, n * 16 + 16)),
  )
  expect(prints.size).toBe(new Set([...keys, ...odd].map((key) => JSON.stringify(key))).size)
})

/** Prints of keys, each a list of JSON texts. */
function logOf(keys: string[][]): PrintLog {
  const log = new PrintLog({ bytes: 0, crc: 0 })
  const key = new RowKey(
    keys[0]!.map((_, n) => `k${n}`),
    log,
  )
  for (const values of keys) {
    const page = new Memory(Buffer.from(`${values.join()}    `))
    key.startRow()
    let at = 0
    values.forEach((value, index) => {
      key.found(index, at, at + value.length)
      at += value.length + 1
    })
    key.endRow(page)
  }
  return log
}
