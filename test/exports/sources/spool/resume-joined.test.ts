import { appendFileSync, existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { joinSegments } from '../../../../src/exports/sources/index.ts'
import { warn } from '../../../../src/exports/warnings/index.ts'
import { fetchSample, temporaryFolder } from './fetch-setup.ts'
import { MemorySource, pageOf, sampleRows } from './memory-source.ts'
import { PatientClock } from './patient-clock.ts'

const SIZE = { total: 1_605, pageSize: 4 }
const CSV = {
  fields: ['id', 'name'],
  csv: { head: '"id","name"\r\n', leads: [''], formulas: 'escape' as const },
}
const ROWS = sampleRows(SIZE.total)
const signal = new AbortController().signal

async function fetched(directory: string, clock: PatientClock) {
  const source = new MemorySource((ask) => ({ total: SIZE.total, data: pageOf(ROWS, ask) }))
  const columnsOf = () => CSV
  const spool = await fetchSample(source, { directory, columnsOf, pageSize: SIZE.pageSize }, clock)
  return { spool, pages: source.pages.length }
}

/** What a kill leaves when so many segments have been appended, and a part of the next one. */
async function killedWhileJoining(joined: number, part: number) {
  const clock = new PatientClock()
  const directory = await temporaryFolder()
  const { spool } = await fetched(directory, clock)
  const [first, ...others] = spool.segments
  for (const [index, { path }] of others.entries()) {
    if (index > joined) break
    const bytes = readFileSync(path)
    appendFileSync(first!.path, index < joined ? bytes : bytes.subarray(0, Math.floor(part * bytes.length)))
    if (index < joined) rmSync(path)
  }
  return { clock, directory, first: first!, others }
}

test('a spool whose segments were being joined is taken up as it stands', async () => {
  const { spool } = await fetched(await temporaryFolder(), new PatientClock())
  const whole = readFileSync(await joinSegments(spool.segments, signal), 'utf8')
  expect(whole.startsWith('"id","name"\r\n0,')).toBe(true)
  expect(whole.split('\r\n')).toHaveLength(SIZE.total + 2)
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 3 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      async (joined, part) => {
        const { clock, directory } = await killedWhileJoining(joined, part)
        const { spool, pages } = await fetched(directory, clock)
        expect(spool.resumed).toEqual({ resumed: true, fetched: SIZE.total })
        expect(pages).toBe(0)
        expect(readFileSync(await joinSegments(spool.segments, signal), 'utf8') === whole).toBe(true)
      },
    ),
    { numRuns: 12 },
  )
})

test.each([
  ['a joined byte changed', (path: string) => writeFileSync(path, garbled(readFileSync(path)))],
  ['the joined end is missing', (path: string) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
  ['the joined file is gone', (path: string) => rmSync(path)],
])('but not if %s', async (_, harm) => {
  const { clock, directory, first, others } = await killedWhileJoining(2, 0)
  expect(others.filter(({ path }) => existsSync(path))).toHaveLength(1)
  expect(statSync(first.path).size).toBeGreaterThan(first.bytes)
  harm(first.path)
  const { spool } = await fetched(directory, clock)
  const reason = warn('STARTED_ANEW_SEGMENT_DAMAGED', {})
  expect(spool.resumed).toEqual({ resumed: false, reason })
  expect(readFileSync(await joinSegments(spool.segments, signal), 'utf8').split('\r\n')).toHaveLength(
    SIZE.total + 2,
  )
})

test('a file that was handed over and then changed is left alone', async () => {
  const { clock, directory, first } = await killedWhileJoining(3, 0)
  const file = join(await temporaryFolder(), 'file.csv')
  linkSync(first.path, file)
  appendFileSync(file, 'a note of its owner')
  const handedOver = readFileSync(file, 'utf8')
  expect((await fetched(directory, clock)).spool.resumed.resumed).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe(handedOver)
})

function garbled(bytes: Buffer): Buffer {
  bytes[bytes.length - 10]! ^= 1
  return bytes
}
