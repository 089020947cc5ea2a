import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ThreadPool } from '../../../src/exports/index.ts'
import { writeParquet } from '../../../src/exports/parquet/index.ts'
import { readWithHyparquet } from './parquet-readers.ts'

/** The file of a spool in which each part is one slice of a segment of its own, with its row header. */
async function written(columns: string[], parts: { group?: string; records: string[] }[]) {
  const folder = await mkdtemp(join(tmpdir(), 'wharf-test-'))
  const pool = new ThreadPool({ threads: 1 })
  onTestFinished(async () => {
    await pool.close()
    await rm(folder, { recursive: true })
  })
  const segments = await Promise.all(
    parts.map(async ({ group, records }, n) => {
      const path = join(folder, `segment-${n}`)
      const bytes = Buffer.from(records.join(''))
      await writeFile(path, bytes)
      const slices = [{ offset: 0, bytes: bytes.length, rows: records.length }]
      return {
        path,
        slices,
        bytes: bytes.length,
        rows: records.length,
        ...(group !== undefined && { group }),
      }
    }),
  )
  const path = join(folder, 'file.parquet')
  await writeParquet(
    { pool },
    {
      segments,
      fields: columns.map((name) => ({ name, type: 'auto' })),
      grouped: parts.some(({ group }) => group !== undefined),
      path,
      timezone: 'UTC',
      signal: new AbortController().signal,
    },
  )
  return await readFile(path)
}

test('rows of several slices and row groups keep their order, their row headers and their texts', async () => {
  const text = (n: number) => (n % 2 === 0 ? `say "${n}"` : `t${n}`)
  const records = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, n) => `${from + n},"${text(from + n).replaceAll('"', '""')}",${n % 3 ? 'null' : '0.5'}\n`,
    )
  const file = await written(
    ['n', 'text', 'part'],
    [
      { group: 'a', records: records(0, 20_000) },
      { group: 'b', records: records(20_000, 40_000) },
    ],
  )
  const { rows, groups } = await readWithHyparquet(file)
  expect(groups).toBe(2)
  expect(rows).toHaveLength(40_000)
  const odd = rows.findIndex(
    (row, n) => row.n !== BigInt(n) || row.text !== text(n) || row._row_head_ !== (n < 20_000 ? 'a' : 'b'),
  )
  expect(odd).toBe(-1)
  expect(rows.slice(19_999, 20_002).map(({ part }) => part)).toEqual([null, 0.5, null])
})

test('a row group of a wide table has fewer rows, so that its memory does not grow with the columns', async () => {
  const columns = Array.from({ length: 2_100 }, (_, n) => `c${n}`)
  const file = await written(columns, [
    { records: Array.from({ length: 600 }, (_, n) => `${n}\n`) },
    { records: [`${columns.map((_, n) => n).join()}\n`] },
  ])
  const { rows, groups } = await readWithHyparquet(file, ['c0', 'c1', 'c2099'])
  expect(groups).toBe(2)
  expect(rows).toHaveLength(601)
  expect(rows[599]).toEqual({ c0: 599n, c1: null, c2099: null })
  expect(rows[600]).toEqual({ c0: 0n, c1: 1n, c2099: 2_099n })
})
