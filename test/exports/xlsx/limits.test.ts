import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SheetPlan } from '../../../src/exports/sheet/index.ts'
import { zipFiles } from '../../../src/exports/xlsx/index.ts'
import { readArchive, readWorkbooks, type SeenSheet } from './foreign-reader.ts'
import { column, plan, type Row, setup } from './spool-fixture.ts'

let bench: ReturnType<typeof setup>
beforeAll(() => {
  bench = setup()
})
afterAll(() => bench.close())

const words: Partial<SheetPlan> = {
  top: {
    rows: 1,
    heights: [],
    cells: [{ row: 0, column: 0, rowSpan: 1, columnSpan: 1, value: 'top', style: {} }],
  },
  bottom: {
    rows: 1,
    heights: [],
    cells: [{ row: 0, column: 0, rowSpan: 1, columnSpan: 1, value: 'end', style: {} }],
  },
}

/** Texts that hardly compress, always the same. */
function noise(count: number, length: number): Row[] {
  let seed = 1
  return Array.from({ length: count }, (_, n) => {
    let text = ''
    while (text.length < length) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      text += seed.toString(36)
    }
    return [n, text.slice(0, length)]
  })
}

/** Column A between `top` and `end`. */
function numbers(sheet: SeenSheet): unknown[] {
  return Object.entries(sheet.cells)
    .filter(([at, { value }]) => at.startsWith('A') && typeof value === 'number')
    .map(([, { value }]) => value)
}

const upTo = (count: number) => Array.from({ length: count }, (_, n) => n)

test('a file ends at its number of rows; each repeats the top, the last has the bottom', async () => {
  const rows = upTo(25).map((n): Row => [n])
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0)], words), segments: [bench.spool(rows, { slice: 7 })] }],
    maxRows: 10,
    baseName: 'parts',
  })
  expect(files.map(({ rows }) => rows)).toEqual([10, 10, 5])
  expect(files.map(({ path }) => path.slice(bench.directory.length + 1))).toEqual([
    'parts-1.xlsx',
    'parts-2.xlsx',
    'parts-3.xlsx',
  ])
  const sheets = (await readWorkbooks(files.map(({ path }) => path))).map(([sheet]) => sheet!)
  expect(sheets.flatMap(numbers)).toEqual(upTo(25))
  expect(sheets.map(({ cells }) => cells.A1!.value)).toEqual(['top', 'top', 'top'])
  expect(sheets.map(({ rows }) => rows)).toEqual([11, 11, 7])
  expect(sheets[2]!.cells.A7!.value).toBe('end')
})

test('a limit that the rows meet exactly makes no empty file', async () => {
  const rows = upTo(20).map((n): Row => [n])
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0)], words), segments: [bench.spool(rows)] }],
    maxRows: 10,
  })
  expect(files.map(({ rows }) => rows)).toEqual([10, 10])
})

for (const [title, slice] of [
  ['slices that are smaller than a file', 20],
  ['slices that are larger than a file', 100_000],
] as const) {
  test(`no file weighs more than it may, with ${title}`, async () => {
    const maxBytes = 100_000
    const { files } = await bench.write({
      sheets: [
        { plan: plan([column(0), column(1)], words), segments: [bench.spool(noise(2000, 500), { slice })] },
      ],
      maxBytes,
    })
    for (const { path, bytes } of files) {
      expect(bytes).toBe(statSync(path).size)
      expect(bytes).toBeLessThanOrEqual(maxBytes)
    }
    // Filled well: a file that ended early would make this more.
    expect(files.length).toBeLessThanOrEqual(
      Math.ceil((files.reduce((sum, file) => sum + file.bytes, 0) / maxBytes) * 1.4),
    )
    const sheets = (await readWorkbooks(files.map(({ path }) => path))).map(([sheet]) => sheet!)
    expect(sheets.flatMap(numbers)).toEqual(upTo(2000))
  })
}

test('a weight limit holds when the data suddenly compresses worse', async () => {
  const calm = upTo(5000).map((n): Row => [n, 'same'])
  const wild = noise(2000, 400).map(([n, text]): Row => [5000 + Number(n), text])
  const { files } = await bench.write({
    sheets: [
      {
        plan: plan([column(0), column(1)], words),
        segments: [bench.spool([...calm, ...wild], { slice: 500 })],
      },
    ],
    maxBytes: 150_000,
  })
  expect(Math.max(...files.map(({ bytes }) => bytes))).toBeLessThanOrEqual(150_000)
  const sheets = (await readWorkbooks(files.map(({ path }) => path))).map(([sheet]) => sheet!)
  expect(sheets.flatMap(numbers)).toEqual(upTo(7000))
})

test('a row that alone is too heavy still gets its file', async () => {
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0), column(1)], words), segments: [bench.spool(noise(3, 30_000))] }],
    maxBytes: 15_000,
  })
  expect(files.map(({ rows }) => rows)).toEqual([1, 1, 1])
})

test('sheets share files, and a split goes on with the sheet that it broke', async () => {
  const sheet = (name: string, from: number, count: number) => ({
    plan: plan([column(0)], { ...words, name }),
    segments: [
      bench.spool(
        upTo(count).map((n): Row => [from + n]),
        { slice: 3 },
      ),
    ],
  })
  const { files } = await bench.write({
    sheets: [sheet('one', 0, 8), sheet('two', 100, 8), sheet('empty', 0, 0), sheet('three', 200, 2)],
    maxRows: 10,
  })
  const books = await readWorkbooks(files.map(({ path }) => path))
  expect(books.map((book) => book.map(({ name }) => name))).toEqual([
    ['one', 'two'],
    ['two', 'empty', 'three'],
  ])
  expect(books.map((book) => book.map(numbers))).toEqual([
    [upTo(8), [100, 101]],
    [[102, 103, 104, 105, 106, 107], [], [200, 201]],
  ])
})

test('a label that a split cuts stands in both files, merged over its rows in each', async () => {
  const label = { level: 0, levels: 1, groups: 2, title: 'both', style: {} }
  const inner = { level: 1, levels: 1, groups: 1, style: {} }
  const rowHeads = {
    columns: [0, 1],
    groups: [
      { name: 'a', labels: [label, { ...inner, title: 'A' }] },
      { name: 'b', labels: [{ ...inner, title: 'B' }] },
    ],
  }
  const segments = ['a', 'b'].map((group) =>
    bench.spool(
      upTo(4).map((n): Row => [n]),
      { group, slice: 3 },
    ),
  )
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(null), column(null), column(0)], { rowHeads }), segments }],
    maxRows: 6,
  })
  const [[first], [second]] = (await readWorkbooks(files.map(({ path }) => path))) as [
    SeenSheet[],
    SeenSheet[],
  ]
  expect(first!.merges).toEqual(['A1:A6', 'B1:B4', 'B5:B6'])
  expect(second!.merges).toEqual(['A1:A2', 'B1:B2'])
  expect([first!.cells.A1!.value, first!.cells.B1!.value, first!.cells.B5!.value]).toEqual(['both', 'A', 'B'])
  expect([second!.cells.A1!.value, second!.cells.B1!.value]).toEqual(['both', 'B'])
})

test('the same input gives the same bytes', async () => {
  const segments = [bench.spool(noise(3000, 300), { slice: 100 })]
  const sheets = [{ plan: plan([column(0), column(1, 'auto', { style: { bold: true } })], words), segments }]
  const [first, second] = await Promise.all([
    bench.write({ sheets, maxBytes: 200_000 }),
    bench.write({ sheets, maxBytes: 200_000 }),
  ])
  expect(first.files.length).toBeGreaterThan(1)
  expect(first.files.map(({ path }) => readFileSync(path).toString('base64'))).toEqual(
    second.files.map(({ path }) => readFileSync(path).toString('base64')),
  )
})

test('an export that is cancelled half way leaves no file', async () => {
  const abort = new AbortController()
  const segments = [bench.spool(noise(2000, 200), { slice: 50 })]
  let progress = 0
  const book = bench.write({
    sheets: [{ plan: plan([column(0), column(1)]), segments }],
    baseName: 'cancelled',
    maxRows: 400,
    signal: abort.signal,
    onProgress(rows) {
      progress = rows
      if (rows >= 1000) abort.abort(new Error('enough'))
    },
  })
  await expect(book).rejects.toThrow('enough')
  expect(progress).toBe(1000)
  expect(readdirSync(bench.directory).filter((name) => name.startsWith('cancelled'))).toEqual([])
})

test('a signal that was aborted before the start is heeded', async () => {
  const book = bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool([[1]])] }],
    baseName: 'never',
    signal: AbortSignal.abort(new Error('too late')),
  })
  await expect(book).rejects.toThrow('too late')
  expect(readdirSync(bench.directory).filter((name) => name.startsWith('never'))).toEqual([])
})

test('a time zone that does not exist is refused with its name', async () => {
  const sheets = [{ plan: plan([column(0)]), segments: [] }]
  await expect(bench.write({ sheets, timezone: 'Mars/Olympus' })).rejects.toThrow('Mars/Olympus')
})

test('progress counts rows of all sheets and files', async () => {
  const seen: number[] = []
  const segments = [
    bench.spool(
      upTo(10).map((n): Row => [n]),
      { slice: 4 },
    ),
  ]
  await bench.write({
    sheets: [
      { plan: plan([column(0)]), segments },
      { plan: plan([column(0)]), segments },
    ],
    maxRows: 15,
    onProgress: (rows) => seen.push(rows),
  })
  expect(seen.at(-1)).toBe(20)
  expect(seen).toEqual(seen.toSorted((a, b) => a - b))
})

test('parts are packed into an archive that holds them byte for byte', async () => {
  const rows = upTo(9).map((n): Row => [n])
  const { files } = await bench.write({
    sheets: [{ plan: plan([column(0)]), segments: [bench.spool(rows)] }],
    maxRows: 4,
    baseName: '订单',
  })
  const target = join(bench.directory, '订单.zip')
  const paths = files.map(({ path }) => path)
  const { bytes } = await zipFiles(paths, target, new AbortController().signal)
  expect(statSync(target).size).toBe(bytes)
  const digest = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
  expect(readArchive(target)).toEqual({
    '订单-1.xlsx': digest(paths[0]!),
    '订单-2.xlsx': digest(paths[1]!),
    '订单-3.xlsx': digest(paths[2]!),
  })
})

test('packing that is cancelled leaves no archive', async () => {
  const target = join(bench.directory, 'cancelled.zip')
  const { files } = await bench.write({ sheets: [{ plan: plan([column(0)]), segments: [] }] })
  const packing = zipFiles([files[0]!.path], target, AbortSignal.abort(new Error('stop')))
  await expect(packing).rejects.toThrow('stop')
  expect(existsSync(target) || existsSync(`${target}.tmp`)).toBe(false)
})
