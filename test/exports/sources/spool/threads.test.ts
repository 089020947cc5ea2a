import { describe, expect, onTestFinished, test } from 'vitest'
import { ThreadPool } from '../../../../src/exports/index.ts'
import { fetchToSpool, type Spool } from '../../../../src/exports/sources/index.ts'
import type { PageSource } from '../../../../src/exports/sources/pages/index.ts'
import { ERRORS, isAppError } from '../../../../src/kernel/index.ts'
import { fetchSample, temporaryFolder, textOf } from './fetch-setup.ts'
import { MemorySource, pageOf, sampleRows, spoolText } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

const PAGE = 10
/** Enough pages for five fetchers. */
const TOTAL = 6_000
const rows = sampleRows(TOTAL)

function openPool(): ThreadPool {
  const pool = new ThreadPool({ threads: 2 })
  onTestFinished(() => pool.close())
  return pool
}

async function fetchInThreads(
  source: PageSource,
  { threads = openPool(), directory }: { threads?: ThreadPool; directory?: string } = {},
): Promise<Spool> {
  return fetchToSpool(
    { source, clock: new PatientClock(), threads },
    {
      directory: directory ?? (await temporaryFolder()),
      columnsOf: () => ({ fields: ['id', 'name', 'amount'] }),
      pageSize: PAGE,
      sliceBytes: 2_000,
      signal: new AbortController().signal,
      retries: 1,
    },
  )
}

const honest = () => new MemorySource((ask) => ({ total: TOTAL, data: pageOf(rows, ask) }))

describe('pages that are read in threads', () => {
  test('become the spool that they become without', async () => {
    const here = await fetchSample(honest(), { pageSize: PAGE, sliceBytes: 2_000 })
    const there = await fetchInThreads(honest())
    expect(there.segments.length).toBe(5)
    expect(textOf(there)).toBe(spoolText(rows))
    const known = ({ segments, widths, rows, bytes }: Spool) => {
      return { segments: segments.map(({ path, ...rest }) => rest), widths, rows, bytes }
    }
    expect(known(there)).toEqual(known(here))
  })

  test('are asked for again when they are bad, and taken when they are good', async () => {
    const source = new MemorySource((ask) =>
      ask.page % 50 === 7 && ask.again === 0
        ? '<html>'
        : {
            total: TOTAL,
            data: pageOf(rows, ask).slice(0, ask.page % 50 === 9 && ask.again === 0 ? 3 : PAGE),
          },
    )
    expect(textOf(await fetchInThreads(source))).toBe(spoolText(rows))
  })

  test('are refused by their number and with a reason, and those before them are kept', async () => {
    const directory = await temporaryFolder()
    const threads = openPool()
    const bad = new MemorySource((ask) =>
      ask.page === 470 ? '{"total":6000,"data":[{"id":}]}' : { total: TOTAL, data: pageOf(rows, ask) },
    )
    const error = await fetchInThreads(bad, { threads, directory }).catch((reason: unknown) => reason)
    expect(isAppError(error, ERRORS.SOURCE_NOT_JSON)).toBe(true)
    expect(String(error)).toMatch(
      /page 470 is not JSON: expected a value at byte 28 \(asked 2 times in this attempt\)/,
    )
    const spool = await fetchInThreads(honest(), { threads, directory })
    expect(spool.resumed.resumed).toBe(true)
    expect(textOf(spool)).toBe(spoolText(rows))
  })

  test('stop with the threads', async () => {
    const threads = openPool()
    const source = new MemorySource(async (ask) => {
      if (ask.page === 100 && ask.pageSize !== 1) await threads.close()
      return { total: TOTAL, data: pageOf(rows, ask) }
    })
    await expect(fetchInThreads(source, { threads })).rejects.toThrow('the threads have been stopped')
  })
})
