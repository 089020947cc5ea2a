import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SpoolFolder } from '../../../../src/exports/sources/spool/index.ts'
import { warn } from '../../../../src/exports/warnings/index.ts'
import { fetchSample, temporaryFolder, textOf } from './fetch-setup.ts'
import { type Ask, MemorySource, pageOf, sampleRows, spoolText } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

function honest(total: number, spy: (ask: Ask) => void | Promise<void> = () => undefined): MemorySource {
  const rows = sampleRows(total)
  return new MemorySource(async (ask) => {
    await spy(ask)
    return { total, data: pageOf(rows, ask) }
  })
}

interface Kill {
  total: number
  pageSize: number
  clock: PatientClock
  /** Only once the meta counts this many pages of the first fetcher. */
  counted?: number
}

/** A folder as a kill would leave it while `page` is being asked for. */
async function killedAt(page: number, { total, pageSize, clock, counted = 0 }: Kill): Promise<string> {
  const [alive, killed] = [await temporaryFolder(), await temporaryFolder()]
  const folder = new SpoolFolder(alive)
  const pagesCounted = async () => {
    const meta = await folder.readMeta()
    return typeof meta === 'string' ? 0 : (meta.ranges[0]?.next ?? 0)
  }
  const source = honest(total, async (ask) => {
    if (ask.page !== page || ask.pageSize === 1) return
    while ((await pagesCounted()) < counted) await new Promise(setImmediate)
    cpSync(alive, killed, { recursive: true })
  })
  await fetchSample(source, { directory: alive, pageSize, checkpointEveryMs: 0, sliceBytes: 2_000 }, clock)
  return killed
}

describe('a killed fetch', () => {
  test('goes on from its last whole page', async () => {
    const clock = new PatientClock()
    const directory = await killedAt(6, { total: 1_000, pageSize: 100, clock, counted: 1 })
    const source = honest(1_000)
    const spool = await fetchSample(source, { directory }, clock)
    expect(textOf(spool)).toBe(spoolText(sampleRows(1_000)))
    if (!spool.resumed.resumed) throw new Error(spool.resumed.reason.message)
    expect(spool.resumed.fetched).toBeGreaterThan(0)
    expect(source.pages[0]).toBe(spool.resumed.fetched / 100)
  })

  test('starts anew after five minutes', async () => {
    const clock = new PatientClock()
    const directory = await killedAt(6, { total: 1_000, pageSize: 100, clock })
    clock.advance(5 * 60_000 + 1)
    const spool = await fetchSample(honest(1_000), { directory }, clock)
    expect(spool.resumed).toEqual({ resumed: false, reason: warn('STARTED_ANEW_TOO_OLD', {}) })
    expect(textOf(spool)).toBe(spoolText(sampleRows(1_000)))
  })

  const CSV = {
    fields: ['id', 'name', 'amount'],
    csv: { head: '', leads: [''], formulas: 'escape' as const },
  }
  test.each([
    ['total', 1_001, {}, warn('STARTED_ANEW_TOTAL_CHANGED', { before: 1_000, total: 1_001 })],
    ['page size', 1_000, { pageSize: 200 }, warn('STARTED_ANEW_PAGE_SIZE_CHANGED', {})],
    ['columns', 1_000, { columnsOf: () => ({ fields: ['id'] }) }, warn('STARTED_ANEW_COLUMNS_CHANGED', {})],
    ['kind of records', 1_000, { columnsOf: () => CSV }, warn('STARTED_ANEW_COLUMNS_CHANGED', {})],
  ])('starts anew when the %s changed', async (_, total, options, reason) => {
    const clock = new PatientClock()
    const directory = await killedAt(6, { total: 1_000, pageSize: 100, clock })
    const spool = await fetchSample(honest(total), { directory, ...options }, clock)
    expect(spool.resumed).toEqual({ resumed: false, reason })
    expect(spool.rows).toBe(total)
  })

  test('that was already whole asks only for the probe', async () => {
    const clock = new PatientClock()
    const directory = await temporaryFolder()
    const first = await fetchSample(honest(1_000), { directory }, clock)
    const source = honest(1_000)
    const second = await fetchSample(source, { directory }, clock)
    expect(source.pages).toEqual([])
    expect({ ...second, resumed: null }).toEqual({ ...first, resumed: null })
  })
})

test('a failed fetch keeps its whole pages for the next attempt', async () => {
  const directory = await temporaryFolder()
  const clock = new PatientClock()
  const failing = honest(1_000, (ask) => {
    if (ask.page === 7) throw new Error('down')
  })
  await expect(fetchSample(failing, { directory }, clock)).rejects.toThrow('page 7')
  const source = honest(1_000)
  const spool = await fetchSample(source, { directory }, clock)
  expect(spool.resumed).toEqual({ resumed: true, fetched: 700 })
  expect(source.pages).toEqual([7, 8, 9])
  expect(textOf(spool)).toBe(spoolText(sampleRows(1_000)))
})

/** Harm to one file of the folder; `at` and `file` are taken modulo what there is. */
type Harm = { kind: 'cut' | 'garble' | 'append' | 'delete'; file: number; at: number; byte: number }

function harm(directory: string, { kind, file, at, byte }: Harm): void {
  const names = readdirSync(directory).sort()
  const path = join(directory, names[file % names.length] ?? '')
  if (names.length === 0 || !existsSync(path)) return
  const bytes = readFileSync(path)
  if (kind === 'delete') unlinkSync(path)
  else if (kind === 'cut') truncateSync(path, at % (bytes.length + 1))
  else if (kind === 'append') writeFileSync(path, Buffer.concat([bytes, Buffer.alloc(at % 5_000, byte)]))
  else if (bytes.length > 0) {
    bytes[at % bytes.length] = byte
    writeFileSync(path, bytes)
  }
}

test('whatever a kill does to the files, the next fetch ends in the same spool', async () => {
  const whole = new Map<string, Awaited<ReturnType<typeof fetchSample>>>()
  const harms = fc.array(
    fc.record({
      kind: fc.constantFrom('cut', 'garble', 'append', 'delete'),
      file: fc.nat(),
      at: fc.nat(),
      byte: fc.nat({ max: 255 }),
    }),
    { maxLength: 3 },
  )
  let resumes = 0
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom({ total: 1_000, pageSize: 100 }, { total: 1_605, pageSize: 4 }),
      fc.double({ min: 0, max: 0.99, noNaN: true }),
      harms,
      async (size, where, damage) => {
        const clock = new PatientClock()
        const key = JSON.stringify(size)
        const wanted =
          whole.get(key) ??
          (await fetchSample(honest(size.total), { pageSize: size.pageSize, sliceBytes: 2_000 }))
        whole.set(key, wanted)
        const page = Math.floor((where * size.total) / size.pageSize)
        const directory = await killedAt(page, { ...size, clock, counted: page >= 2 ? 1 : 0 })
        for (const one of damage) harm(directory, one)
        const spool = await fetchSample(
          honest(size.total),
          { directory, pageSize: size.pageSize, sliceBytes: 2_000 },
          clock,
        )
        if (spool.resumed.resumed) resumes++
        expect(textOf(spool)).toBe(spoolText(sampleRows(size.total)))
        expect(spool.widths).toEqual(wanted.widths)
        expect(spool.segments.map(({ rows, bytes, slices }) => ({ rows, bytes, slices }))).toEqual(
          wanted.segments.map(({ rows, bytes, slices }) => ({ rows, bytes, slices })),
        )
      },
    ),
    { numRuns: 30 },
  )
  expect(resumes).toBeGreaterThan(0)
})
